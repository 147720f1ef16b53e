"""The raw record of a run: `run.json`, `epochs.csv` and `telemetry.csv`, as they are written and read.

What follows from them (totals, verdicts, warnings) is worked out in `scripts.analysis.derive`: no edit there trains.
"""

import csv
import io
import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from scripts.records.samples import Sample, sample_of, table
from scripts.storage import schemas
from scripts.storage.errors import InputError
from scripts.storage.files import read_csv, read_text, write_text
from scripts.storage.numbers import written

SCHEMA_VERSION = 2

#: The times of a run (s) that are measured and not worked out.
TIMES = (
    "launch_seconds",
    "spawn_seconds",
    "import_seconds",
    "data_seconds",
    "build_seconds",
    "setup_seconds",
    "return_seconds",
    "cpu_seconds",
    "exit_seconds",
    "write_seconds",
    "slept_seconds",
    "total_seconds",
)

#: The first six are those of the field's published logs; the rest is ours. Times in seconds.
EPOCH_COLUMNS = (
    "epoch",
    "elapsed",
    "loss",
    "acc",
    "val_loss",
    "val_acc",
    "first_step_seconds",
    "warmup_seconds",
    "training_seconds",
    "validation_seconds",
    "samples",
    "warmup_samples",
    "cut",
)
_PUBLISHED_COLUMNS = EPOCH_COLUMNS[:6]

#: Steps before the throughput counts, and steps that must then follow: others take 10 (tf_cnn_benchmarks, milabench),
#: 16 + 128 (SuperBench) or 40 + 100 (optimum-benchmark).
WARMUP_STEPS = 20
TIMED_STEPS = 100


def epoch_row(
    epoch: int,
    elapsed: float,
    logs: dict[str, float],
    samples: int,
    validation_seconds: float = 0.0,
    first_step_seconds: float = 0.0,
    warmup_seconds: float = 0.0,
    warmup_samples: int = 0,
    cut: int = 0,
) -> dict[str, Any]:
    """Return one row of `epochs.csv`; times in seconds, `elapsed` of all of the epoch.

    `warmup_seconds` and `warmup_samples` are those of the warm-up after the first step; `cut` is 1 for an epoch that
    the end of an attempt interrupted.
    """
    return {
        "epoch": epoch,
        "elapsed": elapsed,
        **{name: logs.get(name) for name in ("loss", "acc", "val_loss", "val_acc")},
        "first_step_seconds": first_step_seconds,
        "warmup_seconds": warmup_seconds,
        "training_seconds": elapsed - first_step_seconds - validation_seconds,
        "validation_seconds": validation_seconds,
        "samples": samples,
        "warmup_samples": warmup_samples,
        "cut": cut,
    }


def _csv(columns: Iterable[str], rows: Iterable[dict[str, Any]]) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, list(columns), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def write(
    folder: Path,
    run: dict[str, Any],
    epochs: Sequence[dict[str, Any]],
    samples: Sequence[Sample],
    last_times: Callable[[], dict[str, float]] = dict,
) -> None:
    """Write the three files; `last_times` are those (s) that are known when all else is written.

    `run.json` comes last: where it exists, the others are whole. Raises InputError when the disk is full.
    """
    schemas.validate(run, "run", "run record")
    columns, rows = table(samples, run["clock_seconds"])
    # A record that is written over never stands beside files of the new one, whenever this ends.
    (folder / "run.json").unlink(missing_ok=True)
    write_text(folder / "epochs.csv", _csv(EPOCH_COLUMNS, epochs))
    write_text(folder / "telemetry.csv", _csv(columns, rows))
    run["times"] |= last_times()
    write_text(folder / "run.json", json.dumps(run, indent=2) + "\n")


def read_run(path: Path) -> dict[str, Any]:
    """Return a `run.json` as it was written.

    Raises InputError when it is truncated, not one of ours, or of another version.
    """
    run: dict[str, Any] = schemas.read_json(read_text(path), path)
    version = run.get("schema_version", SCHEMA_VERSION) if isinstance(run, dict) else SCHEMA_VERSION
    if type(version) is not int or version != SCHEMA_VERSION:
        newer = isinstance(version, int) and version > SCHEMA_VERSION
        raise InputError(
            f"{path}: schema_version: {version!r}, must be {SCHEMA_VERSION}"
            + (": a newer version of this project wrote it" if newer else "")
        )
    schemas.validate(run, "run", path)
    return run


#: Columns of whole numbers.
_COUNTS = ("epoch", "samples", "warmup_samples", "cut")

#: What an epoch of a training that diverges has in the place of a number.
_NO_LOSSES = ("nan", "inf", "-inf")


def _value(place: str, column: str, text: str) -> float | None:
    """Return the number of a column, None for nothing. Raises InputError for what it cannot hold."""
    if column in ("loss", "val_loss") and text in _NO_LOSSES:
        return float(text)
    value = written(text)
    if value is None and text:
        raise InputError(f"{place}: {column}: {text!r} is not a number")
    if value is not None and column in _COUNTS and not (value >= 0 and value.is_integer()):
        raise InputError(f"{place}: {column}: {text} must be a whole number, 0 or more")
    if value is not None and column == "cut" and value > 1:
        raise InputError(f"{place}: {column}: {text} must be 0 or 1")
    return value


def read_epochs(path: Path, needed: Sequence[str] = _PUBLISHED_COLUMNS) -> list[dict[str, float | None]]:
    """Return the rows of an `epochs.csv`: those columns that are known, of which the `needed` ones must be there.

    The published columns may be empty, others that are needed may not. Where all are needed, no others may be there.
    Raises InputError that names the file and the missing or unknown column, or the line and the value that is wrong.
    """
    rows = []
    for place, row in read_csv(path, cut=False):
        if missing := [column for column in needed if column not in row]:
            raise InputError(f"{path}: column {missing[0]} is missing; needed are {', '.join(needed)}")
        if set(needed) == set(EPOCH_COLUMNS) and (unknown := [column for column in row if column not in needed]):
            raise InputError(f"{path}: column {unknown[0]!r} is unknown; known are {', '.join(needed)}")
        rows.append({name: _value(place, name, text) for name, text in row.items() if name in EPOCH_COLUMNS})
        for column in needed:
            if column not in _PUBLISHED_COLUMNS and rows[-1][column] is None:
                raise InputError(f"{place}: {column} is empty")
    return rows


def read_telemetry(path: Path) -> list[Sample]:
    """Return the samples of a `telemetry.csv`.

    Raises InputError that names the file, the line, and the column that is missing, unknown or holds what it cannot.
    """
    samples = []
    for place, row in read_csv(path, cut=False):
        try:
            samples.append(sample_of(row))
        except ValueError as error:
            raise InputError(f"{place}: {error}") from error
    return samples
