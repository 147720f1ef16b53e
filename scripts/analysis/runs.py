"""Run records with all that follows from them, and the tables of many."""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from scripts.analysis import clocks, contradictions, derive, validators
from scripts.analysis.seen import Rows, Seen
from scripts.records import record
from scripts.records.cell import LARGEST, Cell
from scripts.storage import tables
from scripts.storage.axes import CELL
from scripts.storage.errors import InputError
from scripts.storage.words import printable

#: The status of a run that another process disturbed, and that was measured once more.
DISTURBED = "disturbed"

#: What stands between the lines of a log's tail: a row of the table stays one line.
LOG_LINE = " | "

#: Lines that are kept of a run's log, and letters of each.
_LOG_LINES, _LOG_LETTERS = 5, 160

_CELL = [key for key in CELL if key != "batch_size"]
_TIMES = [
    f"{name}_seconds"
    for name in (
        "launch",
        "spawn",
        "import",
        "data",
        "build",
        "setup",
        "first_step",
        "warmup",
        "training",
        "validation",
        "train",
        "cpu",
        "return",
        "exit",
        "write",
        "total",
    )
]


def read(path: Path) -> dict[str, Any]:
    """Return the record of a `run.json` with all that is worked out of it and of the files beside it.

    Raises InputError that names the file which is missing, damaged, or contradicts another.
    """
    run = record.read_run(path)
    epochs = record.read_epochs(path.with_name("epochs.csv"), record.EPOCH_COLUMNS)
    samples = record.read_telemetry(path.with_name("telemetry.csv"))
    wrong = contradictions.of_record(run, epochs, samples, datetime.now(UTC))
    if wrong:
        raise InputError(f"{path}: {wrong}")
    return derive.complete(run, epochs, samples)


def log_tail(path: Path) -> str | None:
    """Return the last lines of a run's log; None without one, as of a record that was handed over alone."""
    if not path.is_file():  # a pipe would never end
        return None
    try:
        with path.open("rb") as log:
            log.seek(max(0, path.stat().st_size - _LOG_LINES * 4 * _LOG_LETTERS))
            text = log.read().decode("utf-8", "replace")
    except OSError:
        return None
    lines = [printable(line)[:_LOG_LETTERS] for line in text.splitlines() if line.strip()]
    return LOG_LINE.join(lines[-_LOG_LINES:]) or None


def row(name: str, run: dict[str, Any]) -> dict[str, Any]:
    """Return a run's row of the table of runs; `name` is the path of its record, `run`, below the study's folder."""
    cell, origin, data = Cell(**run["cell"]), run["provenance"], run["data"]
    found, use = origin["hardware"], run["telemetry"]
    final = {key: run["final"][key] for key in ("loss", "acc", "val_loss", "val_acc")}
    packages = origin["packages"] or {}
    batch_size = run.get("batch_size", run["cell"]["batch_size"])
    return {
        "run": name,
        **{key: getattr(cell, key) for key in (*_CELL, "epochs", "data")},
        "mode": validators.mode_trained(cell.mode, run.get("settings")),
        "batch_size": batch_size,
        "global_batch_size": batch_size and batch_size * cell.devices,
        "largest_batch": cell.batch_size == LARGEST,
        "is_training": run.get("learnable"),
        "samples_fraction": cell.samples,
        "data_fraction": data["train_samples"] / data["complete_train_samples"],
        **{key: run[key] for key in ("repeat", "seed", "status", "reason", "train_samples")},
        "validation_samples": run["validation_samples"],
        **{key: run.get(key) for key in ("whole_train_samples", "whole_validation_samples", "parameters")},
        "settings": ", ".join(f"{key}: {value}" for key, value in (run.get("settings") or {}).items()) or None,
        "warnings": "\n".join(run.get("warnings", [])) or None,
        "convergence": run.get("convergence"),
        "samples_per_second": run["samples_per_second"],
        "flops_per_sample": run.get("flops_per_sample"),
        "timed_samples": run.get("timed_samples"),
        "epochs_done": run["final"]["epochs"],
        **{key: run["times"].get(key) for key in _TIMES},
        **final,
        **{key: value for key, value in use.items() if key in tables.columns("runs")},
        "cpu_model": found["cpu_model"],
        "machine_cores": found["cores"],
        "machine_memory_mib": found["memory_mib"] or None,
        "cores": run["claims"]["cores"],
        "gpu_model": ", ".join(gpu["model"] for gpu in found["gpus"][: cell.devices])
        if "gpus" in run["claims"]
        else None,
        "packages": ", ".join(f"{package} {version}" for package, version in packages.items()) or None,
        "python": origin["python"],
        "system": found["system"],
        "git_commit": origin["git_commit"] and origin["git_commit"][:12] + ("+" if origin["git_dirty"] else ""),
        "started_at": origin["started_at"],
    }


def is_disturbed(run: Mapping[str, Any]) -> bool:
    """Return whether a run (a row of the table) ended well beside a process that used the machine, too."""
    other = run.get("other_cpu_percent")
    return run["status"] == "done" and other is not None and other > validators.OTHER_CPU_PERCENT


def once_more(run: str, repeats: int) -> str:
    """Return the name of the run that measures `run` once more, in a study with so many `repeats`."""
    cell, number = run.rsplit("/r", 1)
    return f"{cell}/r{int(number) + repeats}"


def _replace_disturbed(rows: list[dict[str, Any]], repeats: int) -> None:
    """Mark the disturbed runs that were measured once more without disturbance: they compare with nothing."""
    sound = {row["run"] for row in rows if row["status"] == "done" and not is_disturbed(row)}
    for row in rows:
        if row["repeat"] <= repeats and is_disturbed(row) and (again := once_more(row["run"], repeats)) in sound:
            other = f"another process used {row['other_cpu_percent']:.0f} % of a core"
            row |= {"status": DISTURBED, "reason": f"{other}: measured once more as {again}"}


def collect(
    folder: Path, files: Iterable[Path], repeats: int, seen: Seen | None = None
) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Return the runs, epochs and attempts tables of the `run.json` files, which lie below `folder`.

    Runs beyond the `repeats` of a cell are those of its second measurement; records that were `seen` before are not
    read again. Raises InputError for a record that is damaged, contradicts itself or is a copy of another.
    """
    rows, epochs, attempts = [], [], []
    for path in files:
        name = str(path.parent.relative_to(folder))
        found = seen.rows(name, path, partial(_rows, name, path)) if seen else _rows(name, path)
        rows.append(dict(found[0]))
        epochs.append(found[1])
        attempts += found[2]
    copied = contradictions.of_copies(zip(rows, epochs, strict=True))
    if copied:
        raise InputError(f"{folder}/{copied}")
    _replace_disturbed(rows, repeats)
    return (
        clocks.complete(pd.DataFrame(rows, columns=list(tables.columns("runs")))),
        pd.DataFrame([epoch for of_run in epochs for epoch in of_run], columns=list(tables.columns("epochs"))),
        pd.DataFrame(attempts, columns=list(tables.columns("attempts"))),
    )


def _rows(name: str, path: Path) -> Rows:
    """Return a record's row of the runs table, and its rows of the epochs and the attempts table."""
    run, measured = read(path), record.read_epochs(path.with_name("epochs.csv"))
    wrong = contradictions.of_folder(name, run)
    if wrong:
        raise InputError(f"{path}: {wrong}")
    of_run = row(name, run) | {"log_tail": log_tail(path.with_name("train.log"))}
    if derive.is_interrupted(measured):
        of_run |= {"train_seconds": None, "cpu_seconds": None}
    keys = {key: of_run[key] for key in ("run", *CELL, "repeat")}
    tries = enumerate(run.get("attempts", []), 1)
    return (
        of_run,
        [keys | epoch for epoch in measured],
        [{"run": name, "attempt": number} | attempt for number, attempt in tries],
    )
