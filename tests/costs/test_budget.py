from dataclasses import replace
from math import isnan

import pandas as pd
import pytest

from scripts.costs import budget
from scripts.costs.billing import Rule
from scripts.costs.budget import Expected, Known, Rate, Wanted
from tests.made import FAILED, rows_of, run, runs

RUN = Wanted(
    "r1",
    "mnist_mlp",
    "cpu1",
    "tensorflow",
    128,
    "stock",
    "float32",
    devices=1,
    cores=4,
    samples=1_000_000,
    most_seconds=7200,
)
NOTHING = runs(run(**FAILED))


def known(
    earlier: pd.DataFrame = NOTHING,
    published: dict | None = None,
    runs_: pd.DataFrame = NOTHING,
    by_cores: dict | None = None,
    **peaks: float,
) -> Known:
    """`peaks` are of float32, by machine."""
    of_float32 = {(name, "float32"): peak for name, peak in peaks.items()}
    rows = [rows_of(table, budget.COLUMNS) for table in (earlier, runs_)]
    return Known(rows[0], published or {}, rows[1], of_float32, by_cores or {})


def test_earlier_runs_of_the_cell_come_first() -> None:
    earlier = runs(
        *(
            run(repeat=i, samples_per_second=rate, total_seconds=130.0)
            for i, rate in enumerate((9_000.0, 10_000.0, 20_000.0), 1)
        )
    )
    found = budget.expect(RUN, known(earlier, {("mnist_mlp", "cpu1"): 1.0}))
    start = float((earlier["total_seconds"] - earlier["train_seconds"]).median())
    assert (found.seconds, found.basis) == (pytest.approx(start + 100), "earlier runs")
    other = budget.expect(replace(RUN, hardware="cpu4"), known(earlier))
    assert other.basis == "nothing: the most it may take", "those of another machine are not its own"


def test_without_them_what_is_published_of_the_machine() -> None:
    found = budget.expect(RUN, known(published={("mnist_mlp", "cpu1"): 1_000.0, ("mnist_mlp", "p100"): 9e9}))
    assert (found.seconds, found.basis) == (1_060, "published throughput")


@pytest.mark.parametrize(("peak", "samples_per_second"), [(4e12, 500.0), (80e12, 1_000.0)])
def test_then_what_is_published_of_another_card_and_no_more(peak: float, samples_per_second: float) -> None:
    published = {("mnist_mlp", "p100"): 1_000.0, ("mnist_cnn", "p100"): 1.0, ("mnist_mlp", "unknown"): 1.0}
    found = budget.expect(RUN, known(published=published, cpu1=peak, p100=8e12))
    assert (found.seconds, found.basis) == (60 + 1e6 / samples_per_second, "published throughput of another card")


def test_then_the_speed_of_the_machine() -> None:
    counted = runs(run(hardware="any", flops_per_sample=4e6, status="diverged"))
    expected = Expected(60 + 1e6 * 4e6 / (0.2 * 8e12), "the machine's speed")
    assert budget.expect(RUN, known(runs_=counted, cpu1=8e12)) == expected
    assert budget.expect(RUN, known(counted, cpu1=8e12)) == expected


def test_then_published_runs_on_no_more_cores() -> None:
    rates = {1: 100.0, 2: 200.0, 8: 800.0}
    rows = [run(hardware=f"cpu{cores}", cores=cores, samples_per_second=rate) for cores, rate in rates.items()]
    found = budget.expect(RUN, known(runs_=runs(*rows)))
    assert (found.seconds, found.basis) == (60 + 1e6 / 200, "published runs on as many cores or fewer")


def test_then_what_articles_measured_on_no_more_cores() -> None:
    """Four are wanted. Runs of ours, whose framework and mode are those that are wanted, say more."""
    articles = {("mnist_mlp", 1): 100.0, ("mnist_mlp", 2): 250.0, ("mnist_mlp", 8): 800.0, ("mnist_cnn", 4): 1.0}
    found = budget.expect(RUN, known(by_cores=articles))
    assert (found.seconds, found.basis) == (60 + 1e6 / 250, "published throughput of as many cores or fewer")
    ours = runs(run(hardware="cpu1", cores=1, samples_per_second=150.0))
    assert budget.expect(RUN, known(runs_=ours, by_cores=articles)).basis == "published runs on as many cores or fewer"
    assert budget.expect(replace(RUN, workload="cifar10_cnn"), known(by_cores=articles)).seconds == 7200


def test_what_nothing_shows_may_take_all_its_time() -> None:
    assert budget.expect(RUN, known()) == Expected(7200, "nothing: the most it may take")
    assert budget.expect(RUN, known(published={("mnist_mlp", "cpu1"): 1.0})).seconds == 7200, "never more"


RATES = {"cpu1": Rate(0.36, Rule(1, 60)), "cpu4": Rate(3.6, Rule(3600, 0), attempts=3)}


def priced(*seconds: tuple[str, float]) -> list[budget.Priced]:
    wanted = [replace(RUN, hardware=hardware) for hardware, _ in seconds]
    return budget.price(wanted, [Expected(took, "earlier runs") for _, took in seconds], RATES)


def test_cheapest_come_first_and_are_billed_as_the_provider_does() -> None:
    dear, cheap, short = priced(("cpu4", 10), ("cpu1", 600), ("cpu1", 10))[::-1]
    assert (short.expected_usd, cheap.expected_usd, dear.expected_usd) == pytest.approx((0.006, 0.06, 3.6))
    assert (cheap.worst_usd, dear.worst_usd) == pytest.approx((0.81, 18.0)), (
        "two hours, and a quarter of one an attempt"
    )


def test_nothing_that_could_pass_the_budget_is_allowed() -> None:
    runs_ = priced(("cpu1", 600), ("cpu1", 600), ("cpu4", 10), ("none", 5))
    allowed, refused = budget.within(runs_, budget_usd=2.2, spent_usd=0.5)
    assert [one.wanted.hardware for one in allowed] == ["cpu1", "cpu1"]
    assert [one.wanted.hardware for one in refused] == ["cpu4", "none"], "without a price no cost is known"
    assert budget.within(runs_, 1.0, 0.5)[0] == []
    assert len(budget.within(runs_, 1.5, 0.5)[0]) == 1, "0.06 USD is expected of each, 0.81 may be due"


def test_starts_of_published_runs_count_where_there_are_none_of_its_own() -> None:
    """9 s beside each of three published trainings; 2 s beside the one of this study."""
    published = [run(repeat=i, hardware="other", train_seconds=100.0, total_seconds=109.0) for i in (1, 2, 3)]
    rates = {("mnist_mlp", "cpu1"): 1_000.0}
    assert budget.expect(RUN, known(published=rates, runs_=runs(*published))).seconds == 1_009
    own = runs(run(hardware="another", train_seconds=50.0, total_seconds=52.0))
    assert budget.expect(RUN, known(own, rates, runs(*published))).seconds == 1_002


def test_published_runs_of_the_batch_size_come_before_those_of_any() -> None:
    rows = [run(run=f"b{size}", cores=2, batch_size=size, samples_per_second=rate)
            for size, rate in ((32, 100.0), (128, 400.0), (512, 1600.0))]  # fmt: skip
    wanted, shown = replace(RUN, most_seconds=100_000), known(runs_=runs(*rows))
    assert budget.expect(replace(wanted, batch_size=32), shown).seconds == pytest.approx(10_000, abs=60)
    any_size = budget.expect(replace(wanted, batch_size=64), shown).seconds
    assert any_size == pytest.approx(2_500, abs=60), "of any size the median"


def test_what_nothing_is_known_of_is_apart_from_the_sums() -> None:
    """Ten minutes at 0.36 USD an hour are expected; two runs may take two hours each, and cost .81 USD at worst."""
    wanted = [replace(RUN, workload=name) for name in ("mnist_mlp", "mine", "yours")]
    expected = [Expected(600, "earlier runs"), *[Expected(7200, budget.UNKNOWN)] * 2]
    machine, every = budget.quote(budget.price(wanted, expected, RATES))
    for one in (machine, every):
        assert (one.runs, one.unknown, one.unknown_hours) == (3, 2, 4)
        assert one.hours == pytest.approx(1 / 6)
        assert one.expected_usd == pytest.approx(0.06)
        assert one.worst_usd == pytest.approx(3 * 0.81)
        assert one.basis == "1 by earlier runs"
    only, _ = budget.quote(budget.price(wanted[1:], expected[1:], RATES))
    assert (only.hours, isnan(only.expected_usd), only.basis) == (0, True, "")


def test_start_of_a_cloud_s_machine_is_expected_too() -> None:
    """Two minutes of training behind three of starting, at 0.36 USD an hour."""
    rate = replace(RATES["cpu1"], start_seconds=180.0)
    one, _ = budget.quote(budget.price([RUN], [Expected(120, "earlier runs")], {"cpu1": rate}))
    assert (one.hours, one.expected_usd) == (pytest.approx(300 / 3600), pytest.approx(0.03))
    assert one.worst_usd == budget.quote(priced(("cpu1", 120)))[0].worst_usd, "where it is in already"


def test_quote_is_by_machine_and_in_all() -> None:
    quoted = budget.quote(priced(("cpu1", 600), ("cpu1", 1200), ("cpu4", 10)))
    assert [(one.hardware, one.runs) for one in quoted] == [("cpu1", 2), ("cpu4", 1), ("all", 3)]
    assert [one.hours for one in quoted] == pytest.approx([0.5, 10 / 3600, 0.5 + 10 / 3600])
    assert [one.expected_usd for one in quoted] == pytest.approx([0.18, 3.6, 3.78])
    assert quoted[0].basis == "2 by earlier runs"
    assert isnan(budget.quote(priced(("none", 5)))[0].expected_usd), "unknown, not nothing"
    *_, every = budget.quote(priced(("cpu1", 600), ("none", 5)))
    assert every.expected_usd == pytest.approx(0.06)
    assert every.basis == "2 by earlier runs; 1 without a price, not in the sum"
