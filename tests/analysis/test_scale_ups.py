"""What is said of extrapolated costs, on workloads whose errors are known."""

from math import log

import numpy as np
import pandas as pd
import pytest

from scripts.analysis import clocks, money, noise, scale_ups
from scripts.analysis.scale_ups import COVERAGE, Error
from scripts.document import noise as known_noise
from tests.bench.scale_ups import PARTS, predicted
from tests.made import JUDGE, costs, run, runs
from tests.test_winning_words import ROOT

WORKLOADS = [f"net {number}" for number in range(6)]


def measured(rng: np.random.Generator, scatter: float, of: list[str], mean: float = 0.0) -> pd.DataFrame:
    """Return scale-ups whose error is that of the workload: two frameworks and three repeats share it."""
    rows = []
    for workload in of:
        errors = {part: mean + scatter * rng.standard_normal() if part < 1 else 0.0 for part in PARTS}
        rows += [
            {"workload": workload, "framework": framework, "mode": "stock", "part": part, "repeat": repeat,
             "total_seconds": took * part, "predicted_seconds": took / np.exp(error)}
            for part, error in errors.items() for framework in ("a", "b") for repeat in (1, 2, 3)
            for took in [100 * float(np.exp(0.02 * rng.standard_normal()))]
        ]  # fmt: skip
    return pd.DataFrame(rows)


def covered(table: pd.DataFrame) -> list[bool]:
    """Return for each workload and part whether its error lies within what the other workloads predict."""
    found = scale_ups.errors(table)
    held = []
    for workload in found["workload"].unique():
        others, own = found[found["workload"] != workload], found[found["workload"] == workload]
        for part, of in others.groupby("part"):
            low, high = Error(float(of["error"].mean()), float(of["error"].std()), len(of)).reach()
            error = float(own.loc[own["part"] == part, "error"].iloc[0])
            held.append(log(low) <= error <= log(high))
    return held


@pytest.mark.slow
@pytest.mark.parametrize(("scatter", "mean"), [(0.05, 0.0), (0.3, 0.0), (0.1, 0.1), (0.1, -0.05)])
def test_workload_left_out_lies_within_what_the_others_predict(scatter: float, mean: float) -> None:
    rng = np.random.default_rng(1)
    held = [one for _ in range(60) for one in covered(measured(rng, scatter, WORKLOADS, mean))]
    assert np.mean(held) >= COVERAGE - 0.02


def test_runs_are_no_witnesses_of_their_own() -> None:
    """As if each run stood for a workload, 80 % of its interval would hold far fewer workloads."""
    rng, held = np.random.default_rng(2), []
    for _ in range(60):
        table = measured(rng, 0.2, WORKLOADS)
        found = scale_ups.errors(table)
        for workload in WORKLOADS:
            rest = found[(found["workload"] != workload) & (found["part"] == 0.1)]["error"]
            runs_of = np.repeat(rest.to_numpy(), 6)
            low, high = Error(float(runs_of.mean()), float(runs_of.std(ddof=1) / len(runs_of) ** 0.5), 30).reach()
            own = float(found.loc[(found["workload"] == workload) & (found["part"] == 0.1), "error"].iloc[0])
            held.append(log(low) <= own <= log(high))
    assert np.mean(held) < 0.5


@pytest.mark.skipif(not known_noise.SCALED_UP.is_file(), reason="nobody has measured scale-ups yet")
def test_measured_workload_left_out_lies_within_what_the_others_predict() -> None:
    held = covered(pd.read_csv(known_noise.SCALED_UP))
    assert np.mean(held) >= COVERAGE - 0.1, "of 18 cases one is 6 %"


def test_too_few_workloads_predict_nothing() -> None:
    table = measured(np.random.default_rng(0), 0.1, WORKLOADS[:5])
    assert scale_ups.fit(scale_ups.errors(table)) == {}
    assert scale_ups.reach(0.1, {}) is None


def test_further_extrapolations_reach_further() -> None:
    known = {0.02: Error(0.0, 0.1, 6), 0.5: Error(0.0, 0.01, 6)}
    reaches = [scale_ups.reach(part, known) for part in (1.0, 0.6, 0.4, 0.02, 0.002)]
    assert reaches[0] == (1.0, 1.0)
    widths = [high / low for low, high in (one for one in reaches if one)]
    assert widths[1] < widths[2] == widths[3] < widths[4], "between two parts the smaller one counts"
    assert Error(0.2, 0.01, 6).reach()[0] == 1.0, "what always errs to one side encloses what is shown"


def test_error_is_that_of_the_whole_over_what_the_part_predicted() -> None:
    rows = [
        {
            "workload": "net",
            "framework": "a",
            "mode": "stock",
            "part": part,
            "total_seconds": total,
            "predicted_seconds": expected,
        }
        for part, total, expected in ((1.0, 110.0, 109.0), (1.0, 90.0, 91.0), (1.0, 100.0, 100.0), (0.1, 20.0, 80.0))
    ]
    (found,) = scale_ups.errors(pd.DataFrame(rows)).to_dict("records")
    assert found == {"workload": "net", "part": 0.1, "error": pytest.approx(log(100 / 80))}


def test_run_predicts_as_many_epochs_on_all_samples() -> None:
    """A tenth of the samples, two epochs: 12 s once, 6,000 samples an epoch at 1,000/s, 1 s of validation for each."""
    part = run(samples_fraction=0.1, train_samples=6_000, epochs=2, epochs_done=2, samples_per_second=1000.0,
               first_step_seconds=2.0, validation_seconds=0.2, train_seconds=14.2, total_seconds=24.2)  # fmt: skip
    row = clocks.complete(runs(part | {"data_fraction": 0.5})).to_dict("records")[0]
    assert predicted(row) == pytest.approx(12 + 2 * 60_000 / 1000 + 2 * 0.1 / 0.1)


@pytest.mark.parametrize("is_known", [False, True])
def test_extrapolated_cost_carries_its_error(is_known: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    error = {"mean": 0.0, "deviation": 0.1, "workloads": 6}
    monkeypatch.setattr(noise, "scale_ups", lambda: {"0.02": error} if is_known else {})
    frame = clocks.complete(
        runs(*(run(samples_fraction=0.1, train_samples=6_000, repeat=i, total_seconds=200.0 + i) for i in range(6)))
    )
    priced = costs(frame)
    shown = priced[priced["price_option"] == "on-demand"]
    (plain,) = money.by_cell(shown, {}, JUDGE)
    (row,) = money.by_cell(shown, {}, JUDGE, clocks.shares(frame))
    low, high = Error(**error).reach() if is_known else (1.0, 1.0)
    assert (row["low"], row["high"]) == pytest.approx((plain["low"] * low, plain["high"] * high), rel=0.006), (
        "a whole second is billed"
    )
    assert row["interval"][:2] == pytest.approx((plain["interval"][0] * low, plain["interval"][1] * high), rel=0.006)
    said = clocks.extrapolated(frame)
    assert ("in 80 % of workloads the whole takes 0.853 to 1.17 times what is extrapolated" in said) == is_known, said
    assert ("not measured" in said) != is_known


def test_file_that_is_known_holds_what_was_measured() -> None:
    """As long as nobody has measured scale-ups, nothing of them is known."""
    assert bool(noise.scale_ups()) == known_noise.SCALED_UP.is_file()
    assert known_noise.SCALED_UP.is_relative_to(ROOT)
