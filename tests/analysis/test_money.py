import pandas as pd
import pytest

from scripts.analysis import money
from tests.made import BOOK_OF_BOTH, CATALOGUE, JUDGE, STUDY, THEN_AND_TODAY, costs, offer, price_book, run, runs
from tests.made import prices as pricing

BASE = {"hardware": "cpu1", "framework": "tensorflow"}


def by_cell(*rows: dict) -> dict[tuple[str, str], dict]:
    priced = costs(runs(*rows))
    shown = priced[priced["price_option"] == "on-demand"]
    return {(row["hardware"], row["framework"]): row for row in money.by_cell(shown, BASE, JUDGE)}


def test_money_shows_each_cell_against_the_base() -> None:
    cells = by_cell(
        run(train_seconds=100.0),
        run(train_seconds=120.0, repeat=2),
        run(hardware="cpu4", train_seconds=20.0),
        run(hardware="cpu4", train_seconds=28.0, repeat=2),
        run(framework="jax", train_seconds=200.0),
    )
    base, four, jax = cells["cpu1", "tensorflow"], cells["cpu4", "tensorflow"], cells["cpu1", "jax"]
    assert [base[key] for key in ("cost_usd", "low", "high")] == pytest.approx([0.0011, 0.0010, 0.0012])
    assert (base["is_base"], base["compared"], base["cheaper"], base["runs"]) == (True, None, None, 2)
    # cpu4 is four times as dear: 20 s cost 0.0008, 28 s 0.00112, against 0.0010 and 0.0012.
    assert four["compared"].ratio == pytest.approx(0.00096 / 0.0011)
    assert four["cheaper"] is None, "two runs give no probability"
    assert jax["compared"].ratio == pytest.approx(0.002 / 0.0011)
    assert [cell["front"] for cell in (base, four, jax)] == [False, True, False]


def test_money_without_the_base_has_no_ratio() -> None:
    (cell,) = by_cell(run(hardware="cpu4")).values()
    assert (cell["compared"], cell["cheaper"], cell["is_base"]) == (None, None, False)


def test_owning_pays_from_the_days_that_the_rent_says() -> None:
    # 730 USD over 10 months is 73 a month; at 0.146 USD/h rented and 0.046 for energy, 730 hours.
    own = {
        "acquisition_usd": 730,
        "life_months": 10,
        "power_watts": 460,
        "usd_per_kwh": 0.1,
        "hours_per_month": 100,
        "source": "me",
    }
    prices = pd.DataFrame(
        [("box", "on-demand", "on-demand", 0.146), ("box", "spot", "spot", 0.04), ("box", "owned", "owned", 0.776)],
        columns=["hardware", "price_option", "purchase", "usd_per_hour"],
    )
    rented, spot = money.rent_or_own({"box": {"own": own}}, prices)
    assert (rented["hours"], rented["use"]) == (pytest.approx(730), 100)
    assert (rented["rented"], rented["owned"]) == (0.146, 0.776)
    assert spot["hours"] == float("inf"), "the energy alone is dearer"
    assert money.rent_or_own({"box": {}}, prices[prices["purchase"] != "owned"]) == []


def test_target_is_reached_after_whole_epochs_or_not_at_all() -> None:
    frame = runs(run(), run(repeat=2), run(hardware="cpu4"))
    path = frame["run"].to_list()
    epochs = pd.DataFrame(
        [(path[0], 0, 10.0, 0.5), (path[0], 1, 8.0, 0.9), (path[1], 0, 12.0, 0.9), (path[2], 0, 5.0, 0.2)],
        columns=["run", "epoch", "elapsed", "val_acc"],
    ).assign(workload="mnist_mlp", samples=100, first_step_seconds=0.0, cut=0)
    priced = costs(frame)
    shown = priced[priced["price_option"] == "on-demand"]
    one, four = money.to_targets(frame, epochs, shown, {"mnist_mlp": 0.9, "imdb_fasttext": 0.8})
    assert (one["reached"], one["runs"], one["seconds"]) == (2, 2, 15.0)
    assert one["cost_usd"] == pytest.approx(15 * 0.036 / 3600)
    assert (four["reached"], four["runs"], four["seconds"], four["cost_usd"]) == (0, 1, None, None)
    few, _ = money.to_targets(frame, epochs.iloc[[0, 2, 3]], shown, {"mnist_mlp": 0.9})
    assert (few["reached"], few["seconds"]) == (1, None), "one of two took for ever"
    interrupted = epochs.assign(cut=[0, 1, 0, 0])
    rest, _ = money.to_targets(frame, interrupted, shown, {"mnist_mlp": 0.9})
    assert (rest["runs"], rest["seconds"]) == (1, 12.0), "a run that was resumed has two starts in its time"
    for what in ({"data": "synthetic"}, {"status": "disturbed"}):
        left = frame.assign(**{name: [value, *frame[name][1:]] for name, value in what.items()})
        rest, _ = money.to_targets(left, epochs, shown, {"mnist_mlp": 0.9})
        assert (rest["runs"], rest["reached"]) == (1, 1), what


def test_interval_of_the_median_needs_six_runs() -> None:
    def interval(count: int) -> tuple | None:
        rows = [run(train_seconds=100.0 + 10 * n, repeat=n) for n in range(1, count + 1)]
        return by_cell(*rows)["cpu1", "tensorflow"]["interval"]

    assert interval(5) is None
    low, high, coverage = interval(6)
    assert (low, high) == pytest.approx((0.0011, 0.0016)), "from the fastest to the slowest"
    assert coverage == pytest.approx(1 - 2 / 2**6)


def test_ranges_of_prices_count_in_the_probability_on_another_machine_only() -> None:
    frame = runs(
        *[run(repeat=n, train_seconds=100.0) for n in range(6)],
        *[run(hardware="cpu4", repeat=n, train_seconds=25.0) for n in range(6)],
        *[run(framework="jax", repeat=n, train_seconds=99.0) for n in range(6)],
    )
    priced = costs(frame)
    shown = priced[priced["price_option"] == "on-demand"].copy()
    # cpu4 at 0.144 USD/h costs as much as the base at 0.036; somewhere between 0.108 and 0.144 it costs less.
    shown.loc[shown["hardware"] == "cpu4", "usd_per_hour_low"] = 0.108
    shown.loc[shown["hardware"] == "cpu1", "usd_per_hour_high"] = 0.072
    found = {(row["hardware"], row["framework"]): row for row in money.by_cell(shown, BASE, JUDGE)}
    assert 0.8 < found["cpu4", "tensorflow"]["cheaper"] < 1.0
    assert 0.7 < found["cpu1", "jax"]["cheaper"] < 0.8, "the same machine has the same price"
    assert found["cpu4", "tensorflow"]["low"] == pytest.approx(25 * 0.108 / 3600)
    assert found["cpu1", "tensorflow"]["high"] == pytest.approx(100 * 0.072 / 3600)


def test_run_without_a_time_has_no_row() -> None:
    """A rate alone, as tables of throughput have it, gives no cost of a run."""
    assert by_cell(run(train_seconds=None, train_samples=None)) == {}


def test_cells_of_logs_that_name_no_batch_size_have_their_rows() -> None:
    unknown = {"batch_size": None, "mode": None, "precision": None, "devices": None}
    found = by_cell(run(**unknown), run(**unknown, hardware="cpu4", train_seconds=50.0))
    assert found["cpu4", "tensorflow"]["compared"].ratio == pytest.approx(2.0)


def test_then_and_now_are_two_prices_of_the_same_machine() -> None:
    assert money.then_and_now(STUDY, CATALOGUE, pricing(CATALOGUE, THEN_AND_TODAY, BOOK_OF_BOTH)) == [
        {
            "hardware": "cpu1",
            "then": 0.036,
            "now": pytest.approx(0.012),
            "ratio": pytest.approx(1 / 3),
            "what": "cloud host + 2 card, spot",
            "as_of": "2025-12",
        },
        {
            "hardware": "cpu4",
            "then": 0.144,
            "now": None,
            "ratio": None,
            "what": "not offered in today's books",
            "as_of": "—",
        },
    ], "a machine that had no price then has no row"


def test_machine_is_named_as_it_is_rented_where_nothing_stands_in_for_it() -> None:
    options = THEN_AND_TODAY | {"today": {"purchase": "on-demand"}}
    found = money.then_and_now(STUDY | {"prices": options}, CATALOGUE, pricing(CATALOGUE, options, BOOK_OF_BOTH))
    assert [(row["what"], row["ratio"]) for row in found] == [
        ("cloud 1-core, on-demand", 1.0),
        ("cloud 4-core, on-demand", 1.0),
    ]


def test_owned_machine_has_a_price_of_now_too() -> None:
    own = {"acquisition_usd": 730, "life_months": 10, "power_watts": 0, "usd_per_kwh": 0.2, "hours_per_month": 146,
           "as_of": "2026", "source": "me"}  # fmt: skip
    machines = {"box": {"label": "box", "own": own}}
    options = {"then": {"purchase": "owned"}, "today": {"purchase": "owned"}}
    (row,) = money.then_and_now(STUDY | {"prices": options}, machines, pricing(machines, options, BOOK_OF_BOTH))
    assert (row["then"], row["now"], row["what"]) == (pytest.approx(0.5), pytest.approx(0.5), "own, owned")


@pytest.mark.parametrize("options", [{"then": THEN_AND_TODAY["then"]}, {"then": {"purchase": "month"}, "today": {}}])
def test_study_without_both_has_no_then_and_now(options: dict) -> None:
    assert money.then_and_now(STUDY | {"prices": options}, CATALOGUE, pricing(CATALOGUE, options, BOOK_OF_BOTH)) == []


def test_short_runs_are_those_below_what_is_billed_at_least() -> None:
    """Before 2020 the least was a minute: in a row, 10 s cost a sixth of their bill, 59 s nearly all of it."""
    book = price_book(offer("1-core", 0.36, as_of="2019"), offer("4-core", 0.36, as_of="2019"))
    rows = [run(train_seconds=10.0), run(hardware="cpu4", train_seconds=59.0), run(framework="jax", train_seconds=60.0)]
    text = money.short_runs("then", costs(runs(*rows), CATALOGUE, THEN_AND_TODAY, book))
    assert text == "2 of 3 runs are shorter than the 60.0 s that their provider bills at least."
    in_a_row = {"then": THEN_AND_TODAY["then"] | {"in_a_row": True}}
    text = money.short_runs("then", costs(runs(*rows), CATALOGUE, in_a_row, book))
    assert text.startswith("2 of 3 runs are shorter than the 60.0 s that their provider billed at least")
    assert "cost up to 6.00 times what is shown" in text


@pytest.mark.parametrize(
    ("as_of", "seconds"), [("2019", 60.0), ("2020-01-01", 1.0)], ids=["long enough", "no minimum any more"]
)
def test_nothing_is_said_where_no_run_is_short(as_of: str, seconds: float) -> None:
    book = price_book(offer("1-core", 0.36, as_of=as_of))
    assert money.short_runs("then", costs(runs(run(train_seconds=seconds)), CATALOGUE, THEN_AND_TODAY, book)) == ""


def test_short_runs_are_counted_at_the_price_that_is_shown() -> None:
    book = price_book(offer("1-core", 0.36), offer("host", 0.1, purchase="spot", as_of="2019"), offer(
        "card", 0.1, purchase="spot", as_of="2019"))  # fmt: skip
    bills = costs(runs(run(train_seconds=1.0)), CATALOGUE, THEN_AND_TODAY, book)
    assert money.short_runs("then", bills) == ""
    assert "1 of 1 runs are shorter" in money.short_runs("today", bills)


@pytest.mark.parametrize(
    ("started", "said"), [("2026-04-01", ""), ("2026-04-02", "are up to 90 days older"), (None, "")]
)
def test_prices_much_older_than_the_runs_are_said_to_be(started: str | None, said: str) -> None:
    frame = runs(run(started_at=started and f"{started}T03:04:05+00:00"))
    words = money.old_prices(pricing(), frame)
    assert (said in words) is bool(said or not words)
    assert bool(words) is bool(said)
