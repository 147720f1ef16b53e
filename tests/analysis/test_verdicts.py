"""The rule of verdicts: what it says of noise that is known, in every function that words one."""

from math import inf, log

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special, stats

from scripts.analysis import claims, comparisons, money, noise, summary, verdicts
from scripts.analysis.noise import Noise
from scripts.analysis.verdicts import Comparison, Judge
from tests.made import costs, run, runs
from tests.simulation import verdicts as simulation

PROJECT = Judge(noise.project())
MODES = ("stock", "tuned", "sparse")


@pytest.mark.slow
@pytest.mark.parametrize("kind", sorted(simulation.kinds()))
@pytest.mark.parametrize("count", [1, 2, 3, 4, 6, 12])
def test_cells_that_are_equally_fast_are_called_different_in_one_case_of_a_hundred(kind: str, count: int) -> None:
    draw, pairs = simulation.kinds()[kind], 800
    false = simulation.called_different(PROJECT, draw, count, pairs, 0.0, seed=7) * pairs
    # More than 1 % by chance with p = .01 only from 16 of 800 on.
    assert false < 16


@pytest.mark.slow
@pytest.mark.parametrize("kind", sorted(simulation.kinds()))
@pytest.mark.parametrize("counts", [(1, 12), (12, 1), (3, 12), (12, 4)])
def test_cells_of_unlike_noise_and_unequal_runs_seldom_differ(kind: str, counts: tuple[int, int]) -> None:
    draw, pairs = simulation.kinds()[kind], 600
    assert simulation.called_different(PROJECT, draw, counts[0], pairs, 0.0, seed=7, others=counts[1]) * pairs < 13


def test_twelve_runs_do_not_vouch_for_the_noise_of_one() -> None:
    """2 % against 30 %: one variance for both called 34 to 59 % of such pairs different."""
    draw = simulation.made(lambda rng, runs: rng.standard_normal(runs), (0.02, 0.3))
    assert simulation.called_different(PROJECT, draw, 12, 500, 0.0, seed=7, others=1) < 0.02


@pytest.mark.parametrize(("count", "least"), [(6, 0.4), (12, 0.7)])
@pytest.mark.parametrize("kind", ["real", "real, drifting"])
def test_gaps_of_a_fifth_are_found(kind: str, count: int, least: float) -> None:
    assert simulation.called_different(PROJECT, simulation.kinds()[kind], count, 800, simulation.GAP, seed=7) > least


@pytest.mark.slow
@pytest.mark.parametrize("count", [6, 12])
def test_probabilities_come_true(count: int) -> None:
    for row in simulation.calibration(PROJECT, simulation.kinds()["real"], count, 6000, seed=3):
        assert row["true"] == pytest.approx(row["said"], abs=max(0.015, 3 * (0.25 / row["pairs"]) ** 0.5))


def page(rng: np.random.Generator, count: int, gap: float = 0.0) -> pd.DataFrame:
    """Return the runs of 3 workloads x 2 machines x 2 frameworks x 3 modes, as in a study, all of a workload
    the same but that cpu4 is faster by `gap` (of the logarithm)."""
    cells = simulation.own_cells()
    rows = []
    for workload in ("mnist_mlp", "mnist_cnn", "cifar10_cnn"):
        draw = simulation.real([cells[rng.integers(len(cells))]])
        for framework in ("tensorflow", "jax"):
            for mode in MODES:
                for hardware, logs in zip(("cpu1", "cpu4"), draw(rng, count), strict=True):
                    faster = gap if hardware == "cpu4" else 0.0
                    rows += [
                        run(workload=workload, framework=framework, mode=mode, hardware=hardware, repeat=i + 1,
                            train_seconds=100 * float(np.exp(one - faster)),
                            samples_per_second=1000 / float(np.exp(one - faster)))
                        for i, one in enumerate(logs)
                    ]  # fmt: skip
    return runs(*rows)


def words(table: pd.DataFrame) -> dict[str, tuple[int, int]]:
    """Return for each function that words a verdict how many cells it called different, of how many."""
    judge, priced = Judge.of(table), costs(table)
    cells = summary.cells(table, priced)
    study = {"price": "on-demand", "prices": {"on-demand": {}}}
    found = {"best": (0, 0), "count_wins": (0, 0), "by_cell": (0, 0), "compare_axis": (0, 0), "claims": (0, 0)}

    def add(name: str, clear: int, of: int) -> None:
        found[name] = found[name][0] + clear, found[name][1] + of

    for best in summary.best(cells, "train_seconds", judge).values():
        assert best is not None
        add("best", best["compared"] - 1 - len(best["near"]), best["compared"] - 1)
    for less, undecided, of in summary.count_wins(cells, "cpu1", "train_seconds", judge).values():
        add("count_wins", less if less else of - undecided, of)
    for axis, plain in (("mode", "stock"), ("hardware", "cpu1"), ("framework", "tensorflow")):
        for row in comparisons.compare_axis(table, axis, plain, "samples_per_second", judge):
            add("compare_axis", not row["mark"], 1)
    base = {"hardware": "cpu1", "framework": "tensorflow", "mode": "stock"}
    one_price = priced[priced["price_option"] == "on-demand"]
    one_price = one_price.assign(cost_usd=one_price["run"].map(table.set_index("run")["train_seconds"]))
    for cell in money.by_cell(one_price, base, judge):
        if cell["compared"]:
            add("by_cell", cell["compared"].is_clear, 1)
    for check, by in (("less", "train_seconds"), ("more", "samples_per_second")):
        claim = {"says": "", "check": check, "by": by, "cell": {"hardware": "cpu4"}, "than": {"hardware": "cpu1"}}
        said = claims.evaluate(claim, study, table, priced, {}, {"cpu1": "1", "cpu4": "4"}, judge)
        add("claims", said.held + said.failed, said.cases)
    return found


@pytest.mark.represented_by("3")
@pytest.mark.slow
@pytest.mark.parametrize("count", [1, 3, 6, 12])
def test_no_function_that_words_a_verdict_gives_more_false_alarms(count: int) -> None:
    rng, pages = np.random.default_rng(count), 15
    sums: dict[str, list[int]] = {}
    for _ in range(pages):
        for name, (clear, of) in words(page(rng, count)).items():
            sums.setdefault(name, [0, 0])
            sums[name][0] += clear
            sums[name][1] += of
    assert {name: clear for name, (clear, of) in sums.items() if clear > max(2, 0.01 * of)} == {}


@pytest.mark.parametrize(
    ("p_values", "level"),
    [([0.9], 0.05), ([0.001, 0.02, 0.03], 0.05), ([0.04, 0.001, 0.03], 0.025), ([0.5, 0.2], 0.025)],
)
def test_family_wise_level_is_that_of_holm(p_values: list[float], level: float) -> None:
    """By hand: of m the i-th smallest p is held against .05 / (m - i + 1), up to the first that is above."""
    assert verdicts.family_wise(np.array(p_values), len(p_values)) == pytest.approx(level)


@pytest.mark.parametrize("degrees", [1, 4, 57])
def test_quantiles_are_those_of_scipy_stats(degrees: int) -> None:
    assert 2 * special.gammaincinv(degrees / 2, 0.1) == stats.chi2.ppf(0.1, degrees)
    assert special.stdtrit(degrees, 0.975) == stats.t.ppf(0.975, degrees)


@pytest.mark.slow
def test_sentences_tables_and_claims_of_a_page_agree() -> None:
    """With known truth: what one function calls different in a direction, no other calls so in the other."""
    rng = np.random.default_rng(0)
    for count in (3, 6):
        table = page(rng, count, gap=log(1.5))
        judge, cells = Judge.of(table), summary.cells(table, costs(table))
        less, undecided, of = summary.count_wins(cells, "cpu1", "train_seconds", judge)["cpu4"]
        claim = {"says": "", "check": "less", "by": "train_seconds"}
        claim |= {"cell": {"hardware": "cpu4"}, "than": {"hardware": "cpu1"}}
        study = {"price": "on-demand", "prices": {"on-demand": {}}}
        said = claims.evaluate(claim, study, table, costs(table), {}, {"cpu1": "1", "cpu4": "4"}, judge)
        assert (said.held, said.undecided, said.cases) == (less, undecided, of)
        rows = comparisons.compare_axis(table, "hardware", "cpu1", "samples_per_second", judge)
        assert sum(not row["mark"] and row["ratio"] > 1 for row in rows) == less
        assert said.failed == 0 < less


def test_of_one_run_only_gaps_beyond_the_noise_are_called_different() -> None:
    assert PROJECT.compare([100.0], [130.0]).mark == "too few runs: 1"
    assert PROJECT.compare([100.0], [1000.0]).word == verdicts.LESS
    assert PROJECT.compare([400.0] * 2, [100.0, 101.0]).word == verdicts.MORE


def test_words() -> None:
    same = [100.0, 100.1, 99.9] * 20
    assert PROJECT.compare(same, same).word == verdicts.TIED, "its interval is within 5 %"
    wide = [80.0, 120.0, 95.0, 105.0, 90.0]
    assert PROJECT.compare(wide, [one * 1.02 for one in wide]).mark == "too close to call"
    assert PROJECT.compare([0.0], [1.0]).word == verdicts.LESS, "what is free costs less than what is not"
    assert PROJECT.compare([0.0], [0.0]).word == verdicts.TIED


@given(
    st.lists(st.floats(1, 1000), min_size=1, max_size=8),
    st.lists(st.floats(1, 1000), min_size=1, max_size=8),
)
def test_what_is_less_one_way_is_more_the_other(a: list[float], b: list[float]) -> None:
    one, other = PROJECT.compare(a, b), PROJECT.compare(b, a)
    opposite = {verdicts.LESS: verdicts.MORE, verdicts.MORE: verdicts.LESS}
    if one.is_clear and other.is_clear:
        assert other.word == opposite[one.word]
    assert one.low <= one.ratio <= one.high
    assert one.p == pytest.approx(other.p)


def test_probability_counts_prices_and_is_none_of_few_runs() -> None:
    six = [100.0, 101.0, 99.0, 100.5, 99.5, 100.0]
    assert PROJECT.probability_less(six[:5], six) is None
    assert PROJECT.probability_less(six, six) == pytest.approx(0.5)
    assert PROJECT.probability_less(six, six, price=(2.0, 2.0)) < 0.01
    assert 0.1 < PROJECT.probability_less(six, six, price=(0.9, 1.3)) < 0.5


def test_front_holds_all_that_nothing_is_surely_better_than() -> None:
    def cell(seconds: float) -> list[float]:
        return [seconds * one for one in (0.98, 0.99, 1.0, 1.0, 1.01, 1.02)]

    seconds = [cell(100), cell(101), cell(300), cell(90)]
    usd = [cell(1.0), cell(1.01), cell(3.0), cell(2.0)]
    assert verdicts.front(PROJECT, seconds, usd) == [True, True, False, True]


def test_the_smallest_of_several_is_partly_so_by_chance() -> None:
    rng = np.random.default_rng(2)
    cells = [100 * np.exp(0.1 * rng.standard_normal(6)) for _ in range(12)]
    assert 0.02 < PROJECT.flattered(cells) < 0.12
    assert PROJECT.flattered(cells[:1]) == 0.0
    assert PROJECT.flattered([[1.0] * 6, [100.0] * 6]) < 0.01


def test_listed_with_the_winner_is_what_is_too_noisy_to_decide() -> None:
    winner, surely, noisy = [100.0] * 6, [130.0] * 6, [90.0, 200.0, 150.0, 160.0, 80.0, 140.0]
    assert not PROJECT.compare(noisy, winner).is_clear
    assert list(verdicts.undecided(PROJECT, winner, [[101.0] * 6, surely, noisy])) == [0, 2]


def test_noise_is_fitted_to_variances_that_scatter_as_known() -> None:
    rng = np.random.default_rng(0)
    prior, variance, degrees = 5.0, 0.01, 5
    true = prior * variance / rng.chisquare(prior, 20_000)
    sampled = true * rng.chisquare(degrees, 20_000) / degrees
    assert noise.fit(sampled, [degrees] * 20_000) == pytest.approx((variance, prior), rel=0.08)
    equal = 0.01 * rng.chisquare(degrees, 200) / degrees
    assert noise.fit(equal * 0 + 0.01, [degrees] * 200)[1] == inf


def test_page_is_judged_by_its_own_noise_where_it_has_enough_runs() -> None:
    rng = np.random.default_rng(0)

    def cells(count: int, repeats: int, scale: float) -> pd.DataFrame:
        return runs(*(run(batch_size=i + 1, repeat=r + 1, train_seconds=100 * float(np.exp(scale * rng.normal())))
                      for i in range(count) for r in range(repeats)))  # fmt: skip

    def of(*page) -> Noise:
        return noise.of_runs(cells(*page))["cpu1"]

    assert of(36, 6, 0.01).of == "this page's own runs"
    assert of(36, 6, 0.01).percent == pytest.approx(1, abs=0.2)
    assert of(6, 3, 0.01) == noise.project()
    assert of(6, 3, 0.5).variance > 4 * noise.project().variance
    assert of(6, 1, 0.5) == noise.project()


def test_page_of_rates_alone_is_judged_by_its_own_noise_too() -> None:
    """As the tables of Lambda, which hold the same card in several machines, and no time."""
    rng = np.random.default_rng(1)
    times = runs(*(run(batch_size=i + 1, repeat=r + 1, train_seconds=100 * float(np.exp(0.01 * rng.normal())))
                   for i in range(36) for r in range(6)))  # fmt: skip
    rates = times.assign(samples_per_second=1e6 / times["train_seconds"], train_seconds=float("nan"))
    assert noise.of_runs(rates)["cpu1"].variance == pytest.approx(noise.of_runs(times)["cpu1"].variance)


EIGHT = ", ".join(["NVIDIA H100 80GB HBM3"] * 8)


@pytest.mark.parametrize(
    ("models", "kind"),
    [
        (("AMD EPYC", None), "shared cores"),
        (("AMD EPYC", EIGHT), "8 x H100"),
        (("AMD EPYC", "NVIDIA H100 80GB HBM3"), "1 x H100"),
        ((None, None), ""),
    ],
)
def test_kind_of_a_machine(models: tuple[str | None, str | None], kind: str) -> None:
    assert noise.kind(*models) == kind


def of_machines(**gpus: str | None) -> pd.DataFrame:
    return runs(*(run(hardware=name, gpu_model=gpu, cpu_model=f"in {name}") for name, gpu in gpus.items()))


def test_one_percent_is_a_difference_on_one_quiet_machine_and_none_between_two() -> None:
    judge = Judge.of(of_machines(here=EIGHT, there=EIGHT))
    sides = [100.0, 100.1, 99.9, 100.0], [101.0, 101.1, 100.9, 101.0]
    assert judge.compare(*sides, ("here", "here")).word == verdicts.LESS
    assert judge.compare(*sides, ("here", "there")).mark == "too close to call"
    assert PROJECT.compare(*sides).word in (verdicts.TIED, verdicts.TOO_CLOSE), "two cores differ by more than that"


def test_where_nobody_knows_the_noise_of_a_machine_one_run_decides_nothing() -> None:
    judge = Judge.of(of_machines(card="NVIDIA K80"))
    assert judge.compare([1.0], [100.0], ("card", "card")).mark == "too few runs: 1"
    assert not judge.compare([1.0], [100.0] * 12, ("card", "card")).is_clear
    four = [1.0, 1.01, 0.99, 1.0]
    assert judge.compare(four, [2 * one for one in four], ("card", "card")).word == verdicts.LESS
    assert judge.flattered([[1.0], [2.0]], ["card", "card"]) == 0.0


def test_parts_of_one_machine_are_no_two_machines() -> None:
    table = runs(*(run(hardware=name, cpu_model=model) for name, model in (("a", "x"), ("b", "x"), ("c", "y"))))
    hosts = Judge.of(table).hosts
    assert hosts["a"] == hosts["b"] != hosts["c"]


@pytest.mark.slow
def test_many_cells_that_differ_do_not_vouch_for_those_that_do_not() -> None:
    """A false discovery rate called one of forty alike slower than the fastest on 12 to 42 % of such pages."""
    assert simulation.false_pages(simulation.kinds()["normal"], 6, 12, seed=1) == 0


def test_where_every_run_was_disturbed_no_winner_is_named() -> None:
    def judge(*others: float | None) -> Judge:
        rows = [run(repeat=i + 1, other_cpu_percent=other) for i, other in enumerate(others)]
        return Judge.of(runs(*rows, *(one | {"mode": "tuned", "train_seconds": 1.0} for one in rows)))

    slow, fast = [100.0] * 6, [1.0, 1.01, 0.99] * 2
    assert judge(11, 150, 20).compare(fast, slow).mark == verdicts.DISTURBED, "a hundred times apart is not close"
    assert "disturbed every run" in judge(11, 150, 20).words
    assert judge(11, 150, 2).compare(fast, slow).word == verdicts.LESS
    assert judge(None, None).compare(fast, slow).word == verdicts.LESS, "nobody knows"


def test_many_comparisons_raise_the_bar() -> None:
    rng = np.random.default_rng(1)
    alone = runs(run(train_seconds=100.0), run(train_seconds=101.0, mode="tuned"))
    assert Judge.of(alone).level == verdicts.SIGNIFICANT
    assert Judge.of(page(rng, 6)).level == pytest.approx(0.05 / (3 * 66)), "of three times 12 cells, all the same"


def test_comparison_of_an_unknown_noise_decides_nothing() -> None:
    found = Judge(Noise(inf, inf, 0, 0, "no run")).compare([0.5], [0.9])
    assert (found.is_clear, found.mark) == (False, "too few runs: 1")
    assert isinstance(found, Comparison)


@pytest.mark.parametrize("free", [[0.0, 0.5, 0.5, 0.5, 0.5, 0.5], [0.9, 0.1, 0.5, float("inf")], [-1.0, 0.2, 0.5, 0.5]])
def test_one_value_without_a_logarithm_decides_nothing(free: list[float]) -> None:
    assert PROJECT.compare(free, [0.51] * 6).mark == "too close to call"


def test_order_decides_nothing() -> None:
    one, other = [1.0505] * 50, [1.0] * 50
    assert PROJECT.compare(one, other).is_clear is PROJECT.compare(other, one).is_clear is True


@pytest.mark.parametrize("seconds", [0.0, inf])
def test_odd_times_of_one_run_end_no_page(seconds: float) -> None:
    rng = np.random.default_rng(0)
    rows = [run(batch_size=i + 1, repeat=r + 1, train_seconds=100 * float(np.exp(0.1 * rng.normal())))
            for i in range(30) for r in range(6)]  # fmt: skip
    rows[3]["train_seconds"] = seconds
    assert Judge.of(runs(*rows)).noise.of == "this page's own runs"


@pytest.mark.parametrize(("runs_a", "runs_b"), [(1, 1), (2, 6), (6, 6), (12, 4)])
def test_share_at_which_a_cell_wins_is_where_the_rule_says_so(runs_a: int, runs_b: int) -> None:
    rng = np.random.default_rng(runs_a)
    tried = 0
    for times in (0.5, 1.0, 1.3, 4.0):
        one, other = (center * np.exp(0.02 * rng.standard_normal(n)) for center, n in ((times, runs_a), (1.0, runs_b)))
        share = PROJECT.wins_below(one, other)
        assert PROJECT.compare(one * share * 0.999, other).word == verdicts.LESS
        assert PROJECT.compare(one * share * 1.001, other).word != verdicts.LESS
        tried += share < 1
    assert tried > 1


def test_nothing_wins_at_any_price_whose_noise_nobody_knows() -> None:
    assert Judge(noise.UNKNOWN).wins_below([1.0], [100.0]) == 0.0
    assert PROJECT.wins_below([0.0], [1.0]) == 0.0, "what is free has no price"


def test_what_is_far_apart_with_one_run_each_is_not_called_close() -> None:
    """A quarter of the cost by single runs of unknown noise decides nothing, for want of runs and not of a gap."""
    judge = Judge(noise.UNKNOWN)
    found = verdicts.undecided(judge, [1.0], [[4.0], [1.01] * 5])
    assert found == {0: verdicts.TOO_FEW, 1: verdicts.TOO_FEW}
    assert verdicts.why(found.values()) == "too few runs"
    close = verdicts.undecided(PROJECT, [100.0] * 6, [[101.0] * 6, [300.0] * 6])
    assert verdicts.why(close.values()) == "too close to call"
    assert verdicts.why([verdicts.TOO_FEW, verdicts.TOO_CLOSE]) == "too close to call or too few runs"
    assert verdicts.why([]) == ""
