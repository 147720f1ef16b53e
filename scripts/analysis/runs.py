"""Run records with all that follows from them, and the tables of many."""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

import pandas as pd

from scripts.analysis import clocks, contradictions, derive, observed, validators
from scripts.records.cell import LARGEST, Cell
from scripts.records.seen import Rows
from scripts.records.stored import Stored
from scripts.storage import tables
from scripts.storage.axes import CELL
from scripts.storage.errors import InputError

#: The status of a run that another process disturbed, and that was measured once more.
DISTURBED = "disturbed"

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


def complete(stored: Stored) -> dict[str, Any]:
    """Return a run's record with all that is worked out of its files. Raises InputError where these disagree."""
    wrong = contradictions.of_record(stored.run, stored.epochs, stored.samples, datetime.now(UTC))
    if wrong:
        raise InputError(f"{stored.file}: {wrong}")
    if observed.is_observed(stored.run):
        return observed.complete(stored.run)
    return derive.complete(stored.run, stored.epochs, stored.samples)


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
        **{key: run.get(key) for key in ("observed_seconds", "observed_samples")},
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


def rows(name: str, stored: Stored) -> Rows:
    """Return a run's row of the runs table, and its rows of the epochs and the attempts table."""
    run = complete(stored)
    wrong = contradictions.of_folder(name, run)
    if wrong:
        raise InputError(f"{stored.file}: {wrong}")
    # What a command says last when its minute is over is how it took Ctrl-C.
    is_cut = observed.is_observed(stored.run) and run["status"] == "done"
    of_run = row(name, run) | {"log_tail": None if is_cut else stored.log_tail}
    if derive.is_interrupted(stored.epochs):
        of_run |= {"train_seconds": None, "cpu_seconds": None}
    keys = {key: of_run[key] for key in ("run", *CELL, "repeat")}
    epochs = observed.epochs(stored.run) if observed.is_observed(stored.run) else stored.epochs
    tries = enumerate(run.get("attempts", []), 1)
    return (
        of_run,
        [keys | epoch for epoch in epochs],
        [{"run": name, "attempt": number} | attempt for number, attempt in tries],
    )


def collect(
    each: Iterable[Rows], repeats: int, folder: object = "."
) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Return the runs, epochs and attempts tables of a study from the `rows` of each run.

    Runs beyond the `repeats` of a cell are those of its second measurement. Raises InputError for a record that is a
    copy of another; `folder` is what it then says the runs lie below.
    """
    of_runs, epochs, attempts = [], [], []
    for of_run, of_epochs, of_attempts in each:
        of_runs.append(dict(of_run))
        epochs.append(of_epochs)
        attempts += of_attempts
    copied = contradictions.of_copies(zip(of_runs, epochs, strict=True))
    if copied:
        raise InputError(f"{folder}/{copied}")
    _replace_disturbed(of_runs, repeats)
    return (
        clocks.complete(pd.DataFrame(of_runs, columns=list(tables.columns("runs")))),
        pd.DataFrame([epoch for of_run in epochs for epoch in of_run], columns=list(tables.columns("epochs"))),
        pd.DataFrame(attempts, columns=list(tables.columns("attempts"))),
    )
