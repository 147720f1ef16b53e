"""What in the files of a run, or in a table of runs, cannot be true together: copied, edited or mixed up. Pure.

A check holds for all that this project ever wrote; what somebody could have measured, however odd, passes.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any

import pandas as pd

from scripts.records import observed
from scripts.records.cell import LARGEST, Cell
from scripts.records.samples import Sample
from scripts.storage.axes import CELL
from scripts.storage.tables import records

#: How far sums of times may be off (s): what is rounded, and what passes between two readings of a clock.
_SLACK_SECONDS = 0.5

#: What of a process's life may have no name: this many seconds, and this part of it.
_UNNAMED_SECONDS, _UNNAMED_PART = 15.0, 0.3

#: No run is older.
_FIRST_YEAR = 2015


def of_record(
    run: Mapping[str, Any],
    epochs: Sequence[Mapping[str, Any]],
    samples: Sequence[Sample] = (),
    now: datetime | None = None,
) -> str | None:
    """Return the first contradiction in a record, as `key: what is wrong`; None without one.

    Args:
        run: the content of `run.json`, of whatever version.
        epochs: rows of `epochs.csv`.
        samples: those of `telemetry.csv`.
        now: today, which no run starts after.
    """
    found = _of_samples(run) or _of_start(run["provenance"]["started_at"], now)
    if "observed" in run:
        return found or _of_command(run, epochs, samples)
    found = found or _of_epochs(run, epochs)
    # Times and telemetry of a run that was resumed are those of its last process.
    if found or len(run.get("attempts", [])) > 1:
        return found
    return _of_times(run, epochs) or _of_telemetry(run, samples)


def of_folder(name: str, run: Mapping[str, Any]) -> str | None:
    """Return what is wrong with the folder `name` that a record lies in; None for nothing."""
    own = f"{Cell(**run['cell']).path}/r{run['repeat']}"
    return None if f"/{name}".endswith(f"/{own}") else f"cell, repeat: of {own}, and in the folder {name}"


def _of_samples(run: Mapping[str, Any]) -> str | None:
    cell = Cell(**run["cell"])
    if cell.batch_size != LARGEST and run.get("batch_size", cell.batch_size) != cell.batch_size:
        return f"batch_size: {run['batch_size']}, and its cell has {cell.batch_size}"
    data = run["data"]
    if cell.data not in (data["kind"], "own"):  # what a command of a person reads is not known
        return f"data: kind: {data['kind']}, and its cell has {cell.data}"
    if data["train_samples"] > data["complete_train_samples"]:
        return f"data: train_samples: {data['train_samples']}, of {data['complete_train_samples']} at most"
    if run["train_samples"] is not None and run["train_samples"] > data["train_samples"] > 0:
        return f"train_samples: {run['train_samples']}, of {data['train_samples']} at hand"
    return None


def _of_start(started_at: str, now: datetime | None) -> str | None:
    try:
        started = datetime.fromisoformat(started_at)
    except ValueError:
        return f"started_at: {started_at!r} is no time (ISO 8601)"
    started = started if started.tzinfo else started.replace(tzinfo=UTC)
    if started.year < _FIRST_YEAR or (now and started > now + timedelta(days=1)):
        return f"started_at: {started_at}: runs are from {_FIRST_YEAR} to today"
    return None


def _of_epochs(run: Mapping[str, Any], epochs: Sequence[Mapping[str, Any]]) -> str | None:
    asked, done = run["cell"]["epochs"], len(epochs)
    if [row["epoch"] for row in epochs] != list(range(done)):
        return "epochs.csv: epoch: the epochs are not 0, 1, 2, ..."
    if done > asked:
        return f"epochs.csv: {done} epochs, and {asked} were asked for"
    if run["status"] == "done" and done < asked and run["cell"].get("target") is None:
        return f"status: done after {done} of {asked} epochs"
    for row in epochs:
        wrong = _of_epoch(row, run["train_samples"])
        if wrong:
            return f"epochs.csv: epoch {row['epoch']:g}: {wrong}"
    return None


def _of_command(run: Mapping[str, Any], epochs: Sequence[Mapping[str, Any]], samples: Sequence[Sample]) -> str | None:
    seen, total = run["observed"], run["times"]["total_seconds"]
    if epochs or samples:
        return "epochs.csv, telemetry.csv: have rows, and a command that is watched has none"
    if seen is None:
        return "status: done, and nothing was observed" if run["status"] == "done" else None
    if total != seen["seconds"]:
        return f"times: total_seconds: {total:g}, and observed: seconds: {seen['seconds']:g}"
    if run["train_samples"] != (whole := observed.samples(seen)):
        return f"train_samples: {run['train_samples']}, and observed: whole: is of {whole}"
    return None


def _of_epoch(row: Mapping[str, Any], train_samples: int | None) -> str | None:
    if row["elapsed"] is None or row["elapsed"] < 0:
        return f"elapsed: {row['elapsed']}, not below 0"
    for name in ("acc", "val_acc"):
        if row[name] is not None and not 0 <= row[name] <= 1:
            return f"{name}: {row[name]}, from 0 to 1"
    given = [row.get(f"{part}_seconds") for part in ("first_step", "training", "validation")]
    parts = [float(part) for part in given if part is not None]
    if len(parts) < len(given) or None in (row.get("warmup_seconds"), row.get("warmup_samples"), row.get("samples")):
        return None  # of what was written before there were these columns
    if min(parts) < -_SLACK_SECONDS:
        return f"a time below 0: {min(parts):g} s"
    if abs(sum(parts) - row["elapsed"]) > 0.01 + 1e-6 * row["elapsed"]:
        return f"elapsed: {row['elapsed']:g} s, and its parts take {sum(parts):g} s"
    if row["warmup_seconds"] > row["training_seconds"] + _SLACK_SECONDS:
        return f"warmup_seconds: {row['warmup_seconds']:g} of {row['training_seconds']:g} s of training"
    if train_samples is not None and not row.get("cut") and row["samples"] != train_samples:
        return f"samples: {row['samples']:g}, and the run trains on {train_samples}"
    if row["warmup_samples"] > row["samples"]:
        return f"warmup_samples: {row['warmup_samples']:g} of {row['samples']:g}"
    return None


def _of_times(run: Mapping[str, Any], epochs: Sequence[Mapping[str, Any]]) -> str | None:
    times = run["times"]
    total = times["total_seconds"]
    if total is None or run["status"] != "done":
        return None
    names = ("launch", "spawn", "import", "data", "build", "setup", "return", "exit", "write")
    parts = sum(times.get(f"{name}_seconds") or 0.0 for name in names) + sum(row["elapsed"] for row in epochs)
    if parts > total + _SLACK_SECONDS + 0.01 * total:
        return f"times: total_seconds: {total:g}, and its parts take {parts:g} s"
    if total - parts > _UNNAMED_SECONDS + _UNNAMED_PART * total:
        return f"times: total_seconds: {total:g}, and its parts take only {parts:g} s"
    return None


def _of_telemetry(run: Mapping[str, Any], samples: Sequence[Sample]) -> str | None:
    readings = [sample.reading for sample in samples]
    if any(after <= before for before, after in pairwise(readings)):
        return "telemetry.csv: reading_seconds: the clock goes backwards"
    total, clock = run["times"]["total_seconds"], run.get("clock_seconds")
    if not readings or total is None:
        return None
    if readings[-1] - readings[0] > total + _SLACK_SECONDS:
        return f"telemetry.csv: reading_seconds: over {readings[-1] - readings[0]:g} s, and the run took {total:g} s"
    if clock is not None and not readings[0] - total <= clock <= readings[-1] + total:
        return f"clock_seconds: {clock:g}, and telemetry.csv is from {readings[0]:g} to {readings[-1]:g}"
    return None


def of_copies(runs: Iterable[tuple[Mapping[str, Any], Sequence[Mapping[str, Any]]]]) -> str | None:
    """Return which run is the copy of another of its study, as `file: why`: alike to the last digit of each epoch.

    `runs` are rows of the runs table, each with its rows of the epochs table.
    """
    seen: dict[tuple[Any, ...], str] = {}
    for run, epochs in runs:
        key = (run["started_at"], *(row["elapsed"] for row in epochs))
        if epochs and key in seen:
            return f"{run['run']}/run.json: started and took as {seen[key]} did, to the last digit: one is a copy"
        seen[key] = run["run"]
    return None


def of_tables(runs: pd.DataFrame, epochs: pd.DataFrame, now: datetime | None = None) -> str | None:
    """Return the first contradiction in the tables of a study (`runs.csv`, `epochs.csv`), None without one."""
    twice = runs[runs.duplicated([*CELL, "repeat"])]
    if len(twice) or runs["run"].duplicated().any():
        name = twice["run"].iloc[0] if len(twice) else runs.loc[runs["run"].duplicated(), "run"].iloc[0]
        return f"runs.csv: run {name}: is there twice"
    strangers = set(epochs["run"]) - set(runs["run"])
    if strangers:
        return f"epochs.csv: run {min(strangers)}: is not in runs.csv"
    by_run = {str(name): rows for name, rows in epochs.groupby("run", sort=False)}
    for row in records(runs):
        wrong = _of_row(row, by_run.get(row["run"]), now)
        if wrong:
            return f"runs.csv: run {row['run']}: {wrong}"
    return None


def _of_row(row: Mapping[str, Any], epochs: pd.DataFrame | None, now: datetime | None) -> str | None:
    def value(name: str) -> float | None:
        return None if pd.isna(row[name]) else float(row[name])

    if not pd.isna(row["started_at"]) and (wrong := _of_start(row["started_at"], now)):
        return wrong
    for name in ("acc", "val_acc"):
        if (part := value(name)) is not None and not 0 <= part <= 1:
            return f"{name}: {part:g}, from 0 to 1"
    negative = [name for name in row if name.endswith(("_seconds", "_samples")) and (value(name) or 0.0) < -0.5]
    if negative:
        return f"{negative[0]}: {row[negative[0]]:g}, not below 0"
    done = 0 if epochs is None else len(epochs)
    if value("epochs_done") is not None and done != value("epochs_done"):
        return f"epochs_done: {row['epochs_done']:g}, and epochs.csv has {done}"
    if (asked := value("epochs")) is not None and done > asked:
        return f"epochs_done: {done} of {asked:g}"
    train, total = value("train_seconds"), value("total_seconds")
    if train is None:
        return None
    parts = [value(f"{name}_seconds") for name in ("first_step", "training", "validation")]
    if None not in parts and abs(sum(filter(None, parts)) - train) > 0.01 + 1e-4 * train:
        return f"train_seconds: {train:g}, and its parts take {sum(filter(None, parts)):g} s"
    if epochs is not None and abs(float(epochs["elapsed"].sum()) - train) > 0.01 + 1e-4 * train:
        return f"train_seconds: {train:g}, and its epochs take {epochs['elapsed'].sum():g} s"
    if total is not None and train > total + _SLACK_SECONDS:
        return f"total_seconds: {total:g}, and train_seconds {train:g}"
    samples, rate, steady = value("timed_samples"), value("samples_per_second"), value("training_seconds")
    if samples and rate and steady is not None:
        seconds = steady - (value("warmup_seconds") or 0.0)
        if abs(rate * seconds - samples) > 1 + 0.001 * samples:
            return f"samples_per_second: {rate:g}, and {samples:g} samples took {seconds:g} s"
    return None
