"""The run record: `run.json`, `epochs.csv` and `telemetry.csv` of one run."""

import csv
import io
import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from scripts import schemas
from scripts.errors import InputError
from scripts.files import write_text
from scripts.measurement import telemetry

SCHEMA_VERSION = 1

#: The first six are those of the field's published logs; the rest is ours. Times in seconds.
EPOCH_COLUMNS = (
    "epoch",
    "elapsed",
    "loss",
    "acc",
    "val_loss",
    "val_acc",
    "first_step_seconds",
    "training_seconds",
    "validation_seconds",
    "samples",
)
_PUBLISHED_COLUMNS = EPOCH_COLUMNS[:6]


def totals(epochs: Sequence[dict[str, Any]], batch_size: int) -> dict[str, float | None]:
    """Return the run's times (s) and throughput (samples/s) from its epochs.

    `train_seconds`, the time to train, is training and validation without the first step, which
    holds trace and compilation. Throughput counts the samples after the first step over the
    training time alone.
    """
    training = sum(row["training_seconds"] for row in epochs)
    validation = sum(row["validation_seconds"] for row in epochs)
    samples = sum(row["samples"] for row in epochs) - batch_size
    return {
        "first_step_seconds": sum(row["first_step_seconds"] for row in epochs) if epochs else None,
        "training_seconds": training if epochs else None,
        "validation_seconds": validation if epochs else None,
        "train_seconds": training + validation if epochs else None,
        "samples_per_second": samples / training if samples > 0 and training > 0 else None,
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
    samples: Sequence[telemetry.Sample],
    clock: float | None,
) -> None:
    """Write the three files; `clock` is the reading at which the timed region began.

    `run.json` comes last: where it exists, the others are whole. Raises InputError when the disk is full.
    """
    schemas.validate(run, "run", "run record")
    rows = [asdict(sample) for sample in samples]
    for row in rows:
        reading = row.pop("reading")
        row["elapsed"] = None if clock is None else round(reading - clock, 3)
    write_text(folder / "epochs.csv", _csv(EPOCH_COLUMNS, epochs))
    write_text(folder / "telemetry.csv", _csv(telemetry.COLUMNS, rows))
    write_text(folder / "run.json", json.dumps(run, indent=2) + "\n")


def read_run(path: Path) -> dict[str, Any]:
    """Return a `run.json`. Raises InputError when it is truncated or not one of ours."""
    try:
        run = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from error
    except ValueError as error:
        raise InputError(f"{path}: truncated or not JSON: {error}") from error
    schemas.validate(run, "run", path)
    return run


def read_epochs(path: Path) -> list[dict[str, float | None]]:
    """Return the rows of an `epochs.csv`; columns beyond the six published ones are optional.

    Raises InputError that names the file and the missing column, or the line whose value is no number.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: {error}") from error
    reader = csv.DictReader(io.StringIO(text))
    missing = [column for column in _PUBLISHED_COLUMNS if column not in (reader.fieldnames or [])]
    if missing:
        raise InputError(f"{path}: column {missing[0]} is missing; needed are {', '.join(_PUBLISHED_COLUMNS)}")
    rows = []
    for line, row in enumerate(reader, start=2):
        try:
            rows.append({key: float(value) if value else None for key, value in row.items() if key in EPOCH_COLUMNS})
        except (TypeError, ValueError) as error:
            raise InputError(f"{path}: line {line}: {error}") from error
    return rows
