"""The run record: `run.json`, `epochs.csv` and `telemetry.csv` of one run."""

import csv
import io
import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from math import isfinite
from pathlib import Path
from typing import Any

from scripts.measurement import convergence, telemetry, validators, watch
from scripts.measurement.cell import Cell
from scripts.storage import schemas
from scripts.storage.errors import InputError
from scripts.storage.files import write_text
from scripts.workloads import Reference

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
    "warmup_seconds",
    "training_seconds",
    "validation_seconds",
    "samples",
    "warmup_samples",
    "cut",
)
_PUBLISHED_COLUMNS = EPOCH_COLUMNS[:6]


def totals(epochs: Sequence[dict[str, Any]], batch_size: int) -> dict[str, float | None]:
    """Return the run's times (s) and throughput (samples/s) from its epochs; `batch_size` is that of all devices.

    `train_seconds`, the time to train, is training and validation without the first step, which
    holds trace and compilation. Throughput counts the samples after the first step and the warm-up
    over the training time after them.
    """
    training = sum(row["training_seconds"] for row in epochs)
    validation = sum(row["validation_seconds"] for row in epochs)
    warmup = sum(row["warmup_seconds"] for row in epochs)
    samples = timed_samples(epochs, batch_size)
    # An epoch that was cut in two is no measurement of speed.
    seconds = sum(row["training_seconds"] - row["warmup_seconds"] for row in epochs if not row.get("cut"))
    return {
        "first_step_seconds": sum(row["first_step_seconds"] for row in epochs) if epochs else None,
        "warmup_seconds": warmup if epochs else None,
        "training_seconds": training if epochs else None,
        "validation_seconds": validation if epochs else None,
        "train_seconds": training + validation if epochs else None,
        "samples_per_second": samples / seconds if samples > 0 and seconds > 0 else None,
    }


def of(
    outcome: watch.Outcome,
    cell: Cell,
    batch_size: int,
    reference: Reference | None,
    machine: dict[str, Any],
    part: float,
) -> dict[str, Any]:
    """Return what the record says of how a run went.

    Args:
        outcome: from `watch.run`.
        cell: as asked for.
        batch_size: samples per step of one device, as found.
        reference: of the workload.
        machine: from `hardware.detect`.
        part: fraction of the official data that was at hand.
    """
    facts, epochs, steps = outcome.facts, outcome.epochs, batch_size * cell.devices
    times = totals(epochs, steps)
    throughput = times.pop("samples_per_second")
    last = epochs[-1] if epochs else {}
    # The telemetry is that of the last process, and so is the first step that is left out of it.
    first_steps = [row["first_step_seconds"] for row in epochs if row["first_step_seconds"]]
    trained_from = (outcome.clock or 0.0) + (first_steps[-1] if first_steps else 0.0)
    use = telemetry.summary(outcome.samples, since=trained_from)
    use |= {"peak_memory_mib": telemetry.peak_memory_mib(outcome.samples, facts.get("peak_memory_mib"))}
    seen = len(epochs) * cell.samples * part
    metric = reference.metric if reference else "acc" if last.get("val_acc") is None else "val_acc"
    value = last.get(metric)
    learned = convergence.verdict(reference, value, facts.get("chance"), seen, cell.data)
    status, reason = outcome.status, outcome.reason
    if status == "done" and learned == convergence.LEARNED_NOTHING:
        status, reason = "learned_nothing", f"{metric} {value:.4g}, guessing gives {facts['chance']:.4g}"
    timed = timed_samples(epochs, steps)
    warnings = validators.warnings(
        use,
        losses=[row["loss"] for row in epochs] if facts.get("learnable", True) else [],
        memory_mib=machine["memory_mib"],
        gpu_memory_mib=sum(gpu["memory_mib"] for gpu in machine["gpus"][: cell.devices]) or None,
        # The telemetry of an interrupted run is that of its last process.
        timed_seconds=None if is_interrupted(epochs) else times["train_seconds"],
        warmup_steps=None if not epochs else 1 + epochs[0]["warmup_samples"] // steps,
        timed_steps=None if not epochs else timed // steps,
    )
    return {
        "schema_version": SCHEMA_VERSION,
        "cell": asdict(cell),
        "batch_size": batch_size,
        "status": status,
        "reason": reason,
        **{
            name: facts.get(name)
            for name in ("train_samples", "validation_samples", "parameters", "flops_per_sample", "settings")
        },
        "times": {
            name: outcome.times.get(name)
            for name in ("import_seconds", "data_seconds", "build_seconds", "total_seconds")
        }
        | times,
        "timed_samples": max(0, timed) if epochs else None,
        "samples_per_second": throughput,
        "final": {"epochs": len(epochs)}
        | {name: _finite(last.get(name)) for name in ("loss", "acc", "val_loss", "val_acc")},
        "chance": facts.get("chance"),
        "convergence": learned,
        "telemetry": use,
        "warnings": warnings,
    }


def _finite(value: float | None) -> float | None:
    """Return the value, or None for one that JSON cannot hold (a diverged loss)."""
    return value if value is not None and isfinite(value) else None


def is_interrupted(epochs: Sequence[dict[str, Any]]) -> bool:
    """Say whether a run was taken up again: its time to train holds more than one start, and compares with none."""
    return any(row.get("cut") or (row["epoch"] and row.get("first_step_seconds")) for row in epochs)


def timed_samples(epochs: Sequence[dict[str, Any]], batch_size: int) -> int:
    """Return how many samples were trained on after first step and warm-up, of which each process has its own."""
    whole = [row for row in epochs if not row.get("cut")]
    starts = sum(bool(row["first_step_seconds"]) for row in whole) if is_interrupted(epochs) else 1
    return sum(row["samples"] - row["warmup_samples"] for row in whole) - starts * batch_size


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
    columns, rows = telemetry.table(samples, clock)
    write_text(folder / "epochs.csv", _csv(EPOCH_COLUMNS, epochs))
    write_text(folder / "telemetry.csv", _csv(columns, rows))
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
