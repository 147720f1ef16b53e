"""On made-up studies whose truth is known, no sentence, table, chart or claim of a page says what another denies."""

import itertools

import numpy as np
import pandas as pd
import pytest

from scripts import charts
from scripts.analysis import claims, comparisons, money, summary
from scripts.analysis.verdicts import LESS, MORE, Judge
from tests.charts.test_charts import view
from tests.made import CATALOGUE, OPTIONS, costs, run, runs

STUDY = {"price": "on-demand", "prices": OPTIONS}
LABELS = {name: about["label"] for name, about in CATALOGUE.items()}
BASE = {"hardware": "cpu1", "framework": "tensorflow"}

#: Seconds of each cell, were there no noise: cpu1 and cpu4 alike on tensorflow, tuned far faster, jax 30 % slower.
TRUTH = {
    ("cpu1", "tensorflow", "stock"): 100.0,
    ("cpu4", "tensorflow", "stock"): 100.0,
    ("cpu1", "tensorflow", "tuned"): 40.0,
    ("cpu4", "tensorflow", "tuned"): 40.0,
    ("cpu1", "jax", "stock"): 130.0,
    ("cpu4", "jax", "stock"): 130.0,
}


def made_up(seed: int, repeats: int, noise: float = 0.08) -> pd.DataFrame:
    """Return the runs of one workload, with noise of the logarithm that differs from cell to cell."""
    rng = np.random.default_rng(seed)
    rows = []
    for (hardware, framework, mode), true in TRUTH.items():
        scale = noise * np.exp(0.5 * rng.standard_normal())
        for repeat, error in enumerate(scale * rng.standard_normal(repeats), 1):
            seconds = float(true * np.exp(error))
            cell = {"hardware": hardware, "framework": framework, "mode": mode, "repeat": repeat}
            rows.append(run(**cell, train_seconds=seconds, total_seconds=seconds + 5, samples_per_second=1e5 / seconds))
    return runs(*rows)


def claim(frame: pd.DataFrame, check: str, cell: dict, than: dict) -> claims.Verdict:
    about = {"says": "", "check": check, "by": "train_seconds", "cell": cell, "than": than}
    return claims.evaluate(about, STUDY, frame, costs(frame), {}, LABELS, Judge.of(frame))


CASES = list(itertools.product(range(12), (1, 2, 4, 6, 12)))


@pytest.mark.parametrize(
    ("seed", "repeats"),
    [pytest.param(*case, marks=pytest.mark.nightly if case[0] >= 2 else pytest.mark.slow) for case in CASES],
)
def test_page_says_one_thing(seed: int, repeats: int) -> None:
    frame = made_up(seed, repeats)
    judge, priced = Judge.of(frame), costs(frame)
    on_demand = priced[priced["price_option"] == "on-demand"]
    table = summary.cells(frame, priced)

    wins = summary.count_wins(table, "cpu1", "train_seconds", judge)["cpu4"]
    said = claim(frame, "less", {"hardware": "cpu4"}, {"hardware": "cpu1"})
    assert (said.held, said.undecided, said.cases) == wins, "the sentence of In short, and the claim"

    modes = comparisons.compare_axis(frame, "mode", "stock", "samples_per_second", judge)
    drawn = charts.chart("by_mode").draw(view(judge=judge, runs=frame, costs=priced))
    assert drawn is not None
    marks = {row["label"]: bool(row["mark"]) for row in drawn.data.to_dict("records")}
    assert sorted(marks.values()) == sorted(bool(row["mark"]) for row in modes), "the marks of chart and table"
    tuned = claim(frame, "less", {"mode": "tuned"}, {"mode": "stock"})
    assert tuned.undecided == sum(bool(row["mark"]) for row in modes)

    best = summary.best(table, "train_seconds", judge)["mnist_mlp"]
    assert best is not None
    for other in best["near"]:
        compared = judge.compare(best["train_seconds of the runs"], other["train_seconds of the runs"])
        assert not compared.is_clear, "what is not clearly different from the fastest"

    rows = money.by_cell(on_demand, BASE, judge)
    front = {(row["hardware"], row["framework"], row["mode"]) for row in rows if row["front"]}
    pareto = charts.chart("pareto").draw(view(judge=judge, runs=frame, costs=priced))
    assert pareto is not None
    chosen = pareto.data[pareto.data["front"]]
    assert front == set(zip(chosen["hardware"], chosen["framework"], chosen["mode"], strict=True))
    for row in rows:
        if row["cheaper"] is not None and repeats >= 6:
            assert 0 <= row["cheaper"] <= 1


@pytest.mark.slow
def test_cells_that_are_the_same_are_called_so() -> None:
    """cpu4 takes the time of cpu1: of 180 comparisons at most two say otherwise."""
    false = 0
    for seed, repeats in CASES:
        frame = made_up(seed, repeats)
        said = claim(frame, "less", {"hardware": "cpu4"}, {"hardware": "cpu1"})
        false += said.cases - said.undecided
    assert false <= 2


@pytest.mark.slow
@pytest.mark.parametrize("repeats", [6, 12])
def test_gap_of_two_and_a_half_is_found_and_has_the_right_side(repeats: int) -> None:
    for seed in range(12):
        frame = made_up(seed, repeats)
        judge = Judge.of(frame)
        for name in ("cpu1", "cpu4"):
            of_mode = {
                mode: frame.loc[frame["mode"].eq(mode) & frame["hardware"].eq(name), "train_seconds"]
                for mode in ("tuned", "stock")
            }
            assert judge.compare(of_mode["tuned"], of_mode["stock"]).word == LESS
            assert judge.compare(of_mode["stock"], of_mode["tuned"]).word == MORE
