"""Four clocks of a run, and how long a training of full length keeps a machine busy.

- *steady*: throughput after first step and warm-up (`samples_per_second`).
- *training*: all epochs with the first step and validation (`train_seconds`), what articles print.
- *process*: from the start of the interpreter to its exit (`total_seconds`), what a machine that is rented is busy.
- *observed*: what was read of a program from outside (`observed_seconds`), which no device was waited for; the other
  times of such a run are those expected of its whole. No verdict sets them against those of another clock.

A study at a reduced scale trains less than what is published. What that costs is extrapolated: all that happens once as
it was measured, the published samples at the steady rate, and the validation of the published epochs. Not from a run
whose model was smaller than that of all data.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

import pandas as pd

from scripts.analysis import scale_ups
from scripts.records import about
from scripts.storage.axes import CELL
from scripts.storage.numbers import number
from scripts.storage.tables import cells_of, records

if TYPE_CHECKING:  # SciPy, which it imports, takes half a second of what only reads clocks
    from scripts.analysis.verdicts import Judge


#: In the words of `extrapolated`: from all of full length.
AS_MEASURED = "as measured"


def published_length(run: Mapping[str, Any]) -> tuple[float, float] | None:
    """Return the samples and epochs of a published training of a run's workload, over all its data.

    `run` is a row of the runs table. A run that ended at its target is as long as it was, one of a workload that is not
    the project's as long as was asked for. None where the run does not record its samples, or which part they are, and
    of a speed test, which is none (`is_training`).
    """
    if is_training(run) is False:
        return None
    part = _part(run)
    if part is None or any(pd.isna(run[name]) for name in ("train_samples", "epochs", "epochs_done")):
        return None
    if run["epochs_done"] < run["epochs"]:
        return float(run["train_samples"] * run["epochs_done"]), float(run["epochs_done"])
    published = _published_epochs(run["workload"])
    epochs = float(run["epochs"] if published is None else published)
    # A scale cuts to whole batches: the number before is the right one, where it is known.
    whole = run.get("whole_train_samples")
    of_all = float(run["train_samples"]) / part if pd.isna(whole) else float(whole) / float(run["data_fraction"])
    return of_all * epochs, epochs


def is_training(run: Mapping[str, Any]) -> bool | None:
    """Return whether a run (a row of the runs table) is one of a training, False of a speed test: of random labels.

    Tables that were written before records had it go by the workload; None where neither has it.
    """
    recorded = run.get("is_training")
    return _is_learnable(run["workload"]) if pd.isna(recorded) else bool(recorded)


@cache
def _is_learnable(workload: str) -> bool | None:
    return about.workload(workload).is_learnable if workload in about.workloads() else None


@cache
def _published_epochs(workload: str) -> int | None:
    """Return the epochs of a workload of the project, None of any other."""
    return about.workload(workload).epochs if workload in about.workloads() else None


def _part(run: Mapping[str, Any]) -> float | None:
    """Return the part of the official samples that a run trained on, None where it is not known."""
    if pd.isna(run["samples_fraction"]) or pd.isna(run["data_fraction"]):
        return None
    part = float(run["samples_fraction"] * run["data_fraction"])
    return part if part > 0 else None


def _validation_factor(run: Mapping[str, Any]) -> float:
    """Return how many times as many samples a validation pass of a published training has as one of the run.

    Some sets hold out as many whatever part of them is at hand, of others a part of what is there.
    """
    own, whole = run.get("validation_samples"), run.get("whole_validation_samples")
    held_out = _held_out(run["workload"])
    if own is None or pd.isna(own):
        return 1 / float(run["samples_fraction"])
    if not own:
        return 1.0  # it has no validation, which takes no time
    if held_out is not None:
        return held_out / float(own)
    return 1 / (_part(run) or 1.0) if whole is None or pd.isna(whole) else whole / float(run["data_fraction"]) / own


@cache
def _held_out(workload: str) -> int | None:
    """Return the official number of samples that a workload of the project validates on; None where none is stated."""
    dataset = about.workload(workload).dataset if workload in about.workloads() else None
    return about.dataset(dataset).held_out if dataset else None


@cache
def _grows(workload: str) -> bool:
    return workload in about.workloads() and about.workload(workload).grows


def part_of_model(run: Mapping[str, Any]) -> float | None:
    """Return from which part of the official data a run's model was made; None where it is not known.

    Until 2026-12 a study's scale cut the data before the model was made, and now cuts the samples alone.
    """
    return _part(run) if pd.isna(run.get("whole_train_samples")) else float(run["data_fraction"])


def is_smaller(run: Mapping[str, Any], parameters: float | None = None) -> bool:
    """Return whether the model of a run (a row of the runs table) is smaller than that of a published training.

    It is where the workload says that its model grows with its data, and where a model of all data is known to have
    another number of `parameters`. Such a run says nothing of a whole training.
    """
    part = part_of_model(run)
    if part is None or part > 1 - 1e-9:
        return False
    own = run.get("parameters")
    return _grows(run["workload"]) or not (parameters is None or pd.isna(own) or own == parameters)


def is_watched(run: Mapping[str, Any]) -> bool:
    """Return whether a run (a row of the runs table) is on the observed clock."""
    return not pd.isna(run.get("observed_seconds"))


def lived_seconds(runs: pd.DataFrame) -> pd.Series:
    """Return how long (s) the process of each run lived: of a program that was ended before, what was watched."""
    lived = runs["total_seconds"].astype(float)
    return runs["observed_seconds"].astype(float).fillna(lived) if "observed_seconds" in runs else lived


def watched(runs: pd.DataFrame) -> str:
    """Return how many of the runs that are done are on the observed clock: `all`, `some`, or nothing for none."""
    if "observed_seconds" not in runs:
        return ""
    found = runs.loc[runs["status"] == "done", "observed_seconds"].notna()
    return "all" if len(found) and found.all() else "some" if found.any() else ""


def watched_workloads(runs: pd.DataFrame) -> set[str]:
    """Return the workloads whose runs are on the observed clock."""
    return set(runs.loc[runs["observed_seconds"].notna(), "workload"]) if "observed_seconds" in runs else set()


def published_seconds(run: Mapping[str, Any], parameters: float | None = None) -> float | None:
    """Return how long (s) the process of a training of full length takes; None where that is unknown.

    `run` is a row of the runs table. A run that was resumed has no clock of its own, and one whose model is smaller
    than that of all data, which has so many `parameters` if that is known, is none of that length.
    """
    seconds = parts(run, parameters)
    return sum(seconds) if seconds else None


def parts(run: Mapping[str, Any], parameters: float | None = None) -> tuple[float, float] | None:
    """Return what such a process does once, and what grows with the samples of a training of full length (s).

    None where that is unknown.
    """
    length = published_length(run)
    needed = ["total_seconds", "train_seconds", "samples_per_second"]
    needed += [] if is_watched(run) else ["first_step_seconds"]
    if length is None or any(pd.isna(run[name]) for name in needed):
        return None
    if not run["epochs_done"] or run["samples_per_second"] <= 0:
        return None
    samples, epochs = length
    is_as_long = run["epochs_done"] < run["epochs"]
    if not is_as_long and is_smaller(run, parameters):
        return None
    validation = 0.0 if pd.isna(run["validation_seconds"]) else run["validation_seconds"] / run["epochs_done"]
    if validation and not is_as_long:
        validation *= _validation_factor(run)
    once = run["total_seconds"] - run["train_seconds"] if is_watched(run) else once_seconds(run)
    return float(once), float(samples / run["samples_per_second"] + epochs * validation)


def once_seconds(run: Any) -> Any:
    """Return what a process does once (s): all that is not training, and the first step. `run`: a row, or a table."""
    return run["total_seconds"] - run["train_seconds"] + run["first_step_seconds"]


def repaid(runs: pd.DataFrame, judge: "Judge") -> list[dict[str, Any]]:
    """Return one row per tuned cell that has a stock one: from how many samples on its process ends sooner.

    Keys beside the cell's: `once` and `rate` (medians: s, samples/s) of the tuned cell, `stock_once` and `stock_rate`,
    `part` (of a published training that `samples` are), `words`, and `samples`: None where tuned ends sooner from the
    start, or never, or the rates, or the starts, do not clearly differ. Validation and warm-up are taken for the same.
    """
    from scripts.analysis.verdicts import LESS, MORE, TIED

    done = runs[runs["status"] == "done"].dropna(subset=["train_seconds", "samples_per_second", "total_seconds"])
    same = [axis for axis in CELL if axis != "mode"]
    cells = {tuple(about[axis] for axis in (*same, "mode")): places for about, places in cells_of(done)}
    rows = []
    for (*others, mode), places in cells.items():
        if mode != "tuned" or (*others, "stock") not in cells:
            continue
        tuned, stock = done.iloc[places], done.iloc[cells[*others, "stock"]]
        once, stock_once = (float(once_seconds(cell).median()) for cell in (tuned, stock))
        rate, stock_rate = (float(cell["samples_per_second"].median()) for cell in (tuned, stock))
        machine = dict(zip(same, others, strict=True))["hardware"]
        compared = judge.compare(tuned["samples_per_second"], stock["samples_per_second"], (machine, machine))
        start = judge.compare(once_seconds(tuned), once_seconds(stock), (machine, machine))
        samples = None
        if not compared.is_clear:
            words = compared.mark
        elif not start.is_clear and start.word != TIED:
            words = f"{'faster' if rate > stock_rate else 'slower'} a sample; its start: {start.mark}"
        elif rate > stock_rate and start.word == MORE:
            samples = (once - stock_once) / (1 / stock_rate - 1 / rate)
            words = f"from {number(samples, 2)} samples on"
        elif rate < stock_rate and start.word == LESS:
            samples = (stock_once - once) / (1 / rate - 1 / stock_rate)
            words = f"up to {number(samples, 2)} samples"
        else:
            words = "from the start" if rate > stock_rate else "never"
        length = tuned["published_samples"].median()
        rows.append(
            dict(zip(same, others, strict=True))
            | {"mode": mode, "once": once, "rate": rate, "stock_once": stock_once, "stock_rate": stock_rate}
            | {
                "samples": samples,
                "part": samples / float(length) if samples and pd.notna(length) else None,
                "words": words,
            }
        )
    return rows


def complete(runs: pd.DataFrame) -> pd.DataFrame:
    """Return a runs table with `is_training`, `published_samples` and `published_seconds` worked out for every run."""
    rows = records(runs)
    lengths = [published_length(row) for row in rows]
    whole = _whole_parameters(rows)
    return runs.assign(
        is_training=pd.array([is_training(row) for row in rows], dtype="boolean"),
        published_samples=_column([length and length[0] for length in lengths], runs),
        published_seconds=_column([published_seconds(row, whole.get(_model_of(row))) for row in rows], runs),
    )


def _model_of(run: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(run.get(axis) for axis in ("workload", "framework", "mode", "precision"))


def _whole_parameters(rows: Sequence[Mapping[str, Any]]) -> dict[tuple[Any, ...], float]:
    """Return the parameters of the models that were made from all of the official data, as far as runs record them."""
    return {
        _model_of(row): float(row["parameters"])
        for row in rows
        if not pd.isna(row.get("parameters")) and (part_of_model(row) or 0.0) > 1 - 1e-9
    }


def smaller(runs: pd.DataFrame) -> str:
    """Return in words which workloads have no cost of a whole training, as their model was smaller; empty if none."""
    unknown = runs[(runs["status"] == "done") & runs["published_seconds"].isna()]
    rows = records(unknown)
    whole = _whole_parameters(records(runs))
    found: dict[str, float] = {}
    for row in rows:
        if published_length(row) and row["epochs_done"] == row["epochs"] and is_smaller(row, whole.get(_model_of(row))):
            found[row["workload"]] = min(found.get(row["workload"], 1.0), part_of_model(row) or 1.0)
    return " ".join(
        f"The cost of a whole training of {workload} is unknown: its model grows with the data, and was made from "
        f"{number(100 * part, 2)} % of them."
        for workload, part in found.items()
    )


def _column(values: list[float | None], runs: pd.DataFrame) -> pd.Series:
    return pd.Series(values, index=runs.index, dtype="Float64")


def is_paid_by_process(runs: pd.DataFrame) -> bool:
    """Return whether runs record the life of their processes, as those of this project do; logs a time to train."""
    return bool(runs["published_seconds"].notna().any())


def shares(runs: pd.DataFrame) -> dict[str, float]:
    """Return by run which share of full length it trained; none of what is unknown."""
    trained = runs["train_samples"] * runs["epochs_done"]
    if "observed_samples" in runs:  # of a command that was ended before its end, what was watched
        trained = runs["observed_samples"].fillna(trained.astype("Float64"))
    done = trained / runs["published_samples"]
    return {str(run): float(share) for run, share in zip(runs["run"], done, strict=True) if pd.notna(share)}


def extrapolated(runs: pd.DataFrame) -> str:
    """Return in words from how much of full length the costs of runs are extrapolated, and how far off."""
    counted = runs[runs["published_seconds"].notna() | runs["total_seconds"].isna()]
    done = pd.Series(shares(counted), dtype=float).clip(upper=1)
    if done.empty or ((done - 1).abs() < 0.01).all():
        return AS_MEASURED
    low, high = (number(100 * float(end), 2) for end in (done.min(), done.max()))
    least = f"extrapolated from {low if low == high else f'{low} to {high}'} % of its samples"
    if watched(runs):
        longest = runs["observed_seconds"].max()
        least += f", watched from outside for {number(float(longest), 2)} s"
    return f"{least}; {scale_ups.words(float(done.min()))}"
