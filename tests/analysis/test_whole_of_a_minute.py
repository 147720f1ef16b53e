"""What a program comes to that was watched for a minute, by hand: 5 s once, 10 steps/s, 2 s of pause each 100 steps."""

from typing import Any

import pandas as pd
import pytest

from scripts.analysis import beside, claims, clocks, contradictions, dollars, noise, states
from scripts.analysis import runs as of_runs
from scripts.analysis.verdicts import Judge
from scripts.costs import prices as pricing
from scripts.records.cell import Cell
from scripts.records.stored import Stored
from scripts.storage import schemas
from tests.made import costs, prices, record, run, runs

CELL = Cell("gpt", "cpu1", "own", 8, 1, 1.0, "own")
_SAMPLES = ("train_samples", "complete_train_samples")
WHOLE_SECONDS = 5 + 10_000 / 10 + 10_000 / 100 * 2


def observed(**values: Any) -> dict[str, Any]:
    """Return what the recorder says of 550 steps of 10,000, each of 8 images."""
    return {
        "clock": "observed",
        "command": ["python", "train.py"],
        "ended_by": "the minute",
        "exit_code": 0,
        "seconds": 60.0,
        "progress": {"unit": "step", "source": "log lines"},
        "rate": {
            "units_per_second": 10.0,
            "once_seconds": 5.0,
            "observed_units": 550.0,
            "pauses": [{"each_seconds": 2.0, "every_units": 100.0}],
        },
        "whole": {"units": 10_000.0, "known_from": "--of", "seconds": WHOLE_SECONDS},
        "per_step": {"each": 8.0, "unit": "images"},
        "doubts": [],
        "use": {"peak_memory_mib": 100.0, "cpu_seconds": 30.0, "other_cpu_seconds": 9.0},
    } | values


def stored(seen: dict[str, Any] | None, **values: Any) -> Stored:
    whole = record()
    cell = {name: getattr(CELL, name) for name in whole["cell"]}
    raw = whole | {
        "cell": cell,
        "batch_size": 8,
        "train_samples": 80_000,
        "data": {"dataset": "gpt", "kind": "own", "sha256": {}} | dict.fromkeys(_SAMPLES, 80_000),
        "observed": seen,
        "times": dict.fromkeys(whole["times"]) | {"total_seconds": seen["seconds"] if seen else 0.0},
        **dict.fromkeys(("clock_seconds", "chance", "learnable", "reference", "peak_memory_mib", "settings")),
        **dict.fromkeys(("validation_samples", "whole_train_samples", "whole_validation_samples", "parameters")),
    } | values  # fmt: skip
    raw.pop("attempts", None)
    schemas.validate(raw, "run", "a record")
    return Stored("run.json", raw, [], [], "KeyboardInterrupt")


def table(seen: dict[str, Any] | None = None, **values: Any) -> pd.DataFrame:
    each = [of_runs.rows(f"{CELL.path}/r{values.get('repeat', 1)}", stored(seen or observed(), **values))]
    return runs(*of_runs.collect(each, 1)[0].astype(object).to_dict("records"))


def test_the_whole_is_what_was_watched_scaled_up_by_its_parts() -> None:
    (row,) = table().to_dict("records")
    assert row["published_seconds"] == row["total_seconds"] == WHOLE_SECONDS == 1205
    assert (row["training_seconds"], row["validation_seconds"], row["train_seconds"]) == (1000, 200, 1200)
    assert (row["samples_per_second"], row["published_samples"]) == (80, 80_000)
    assert (row["observed_seconds"], row["observed_samples"]) == (60, 4400)
    assert (row["cpu_percent"], row["other_cpu_percent"]) == (50, 15)
    assert pd.isna(row["log_tail"]), "how it took Ctrl-C is no news"
    words = clocks.extrapolated(table())
    assert words.startswith("extrapolated from 5.5 % of its samples, watched from outside for 60 s")


def test_the_whole_is_priced_and_what_was_watched_is_paid() -> None:
    frame = table()
    priced = costs(frame)
    for _, cost in priced.iterrows():
        assert cost["cost_usd"] == pytest.approx(WHOLE_SECONDS * cost["usd_per_hour"] / 3600, rel=0.05)
        assert cost["billed_seconds"] == max(60.0, cost["minimum_seconds"])
    none = pd.DataFrame(columns=["run", "used_seconds", "boot_seconds", "wait_seconds"])
    (spent,) = pricing.spent(frame, none, prices().drop_duplicates("hardware")).to_dict("records")
    assert spent["used_seconds"] == 60
    parts = dollars.by_run(frame, priced)
    first = parts["cost_usd"].iloc[0]
    assert (first["training"], first["validation"], first["start and import"]) == pytest.approx((1000, 200, 5))
    assert parts["billed_usd"].empty, "of a minute nobody knows the parts"


def test_one_that_ended_in_silence_has_its_life() -> None:
    seen = observed(rate=None, whole=None, progress=None, ended_by="itself", seconds=90.0)
    data = record()["data"] | {"kind": "own", "train_samples": 1, "complete_train_samples": 1}
    (row,) = table(seen, train_samples=1, data=data).to_dict("records")
    assert (row["train_seconds"], row["total_seconds"]) == (90, 90)
    assert pd.isna(row["samples_per_second"])
    assert "nothing but its life is known" in row["warnings"]


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"train_samples": 70_000}, "train_samples: 70000, and observed: whole: is of 80000"),
        ({"times": dict.fromkeys(record()["times"]) | {"total_seconds": 7.0}}, "times: total_seconds: 7, and"),
    ],
)  # fmt: skip
def test_what_cannot_be_true_together_is_said(values: dict[str, Any], said: str) -> None:
    found = contradictions.of_record(stored(observed(), **values).run, [])
    assert said in str(found)


def test_rows_beside_a_record_of_a_program_are_another_run() -> None:
    assert "a command that is watched has none" in str(contradictions.of_record(stored(observed()).run, [{"epoch": 0}]))


def of_both_clocks() -> tuple[list[dict], list[dict]]:
    """Return runs of two cells, of our own clock and of a program that took half as long."""
    times = [(i, 1 + 0.01 * (i % 3)) for i in range(6)]
    ours = [run(workload="a", repeat=i + 1, train_seconds=100 * by, total_seconds=110 * by) for i, by in times]
    theirs = [one | {"train_seconds": one["train_seconds"] / 2, "observed_seconds": 60.0} for one in ours]
    return ours, theirs


def test_no_comparison_of_states_crosses_clocks() -> None:
    ours, theirs = of_both_clocks()
    old, new = (
        states.State(name, frame, (priced := costs(frame))[priced["price_option"] == "on-demand"])
        for name, frame in (("old", runs(*ours)), ("new", runs(*theirs)))
    )
    found = states.compare(old, new)
    assert found["cells"] == []
    assert [row["differs"] for row in found["unlike"]] == [["clock"]]
    assert len(states.compare(new, new)["cells"]) == 1


def test_no_claim_crosses_clocks() -> None:
    ours, theirs = of_both_clocks()
    theirs = [one | {"workload": "b", "run": one["run"].replace("a/", "b/", 1)} for one in theirs]
    frame = runs(*ours, *theirs)
    claim = {
        "says": "So.",
        "check": "less",
        "by": "train_seconds",
        "cell": {"workload": "b"},
        "than": {"workload": "a"},
    }
    study = {"price": "on-demand", "base": {"hardware": "cpu1", "framework": "tensorflow"}}
    judge = Judge(noise.project())

    def held(rows: pd.DataFrame) -> int:
        return claims.evaluate(claim, study, rows, costs(rows), {}, {"cpu1": "1 vCPU"}, judge).held

    assert held(frame) == 0
    assert held(frame.assign(observed_seconds=None)) == 1


def test_a_program_stands_beside_programs_alone() -> None:
    ours, theirs = of_both_clocks()
    rates = {
        clock: beside.rates(runs(*ours, *theirs), clock, {})
        for clock in (beside.STEADY, beside.TRAINING, beside.OBSERVED)
    }
    given = {clock: list(found.notna()) for clock, found in rates.items()}
    assert given[beside.TRAINING] == [True] * 6 + [False] * 6
    assert given[beside.OBSERVED] == [False] * 6 + [True] * 6
