"""Gather run records, with what follows from them, into tables: a row per run, per epoch, and per recorded attempt."""

import argparse
from pathlib import Path
from typing import Any

import pandas as pd

from scripts.analysis import derive, runs
from scripts.measurement import record
from scripts.measurement.cell import LARGEST, Cell
from scripts.storage import errors, tables

_CELL = [key for key in tables.CELL if key != "batch_size"]
_TIMES = [
    f"{name}_seconds"
    for name in ("import", "data", "build", "first_step", "warmup", "training", "validation", "train", "total")
]
#: What of a record's telemetry has a column of its own.
_USE = (
    "cpu_percent",
    "machine_cpu_percent",
    "other_cpu_percent",
    "peak_memory_mib",
    "gpu_percent",
    "peak_gpu_memory_mib",
    "gpu_power_watts",
    "gpu_clock_mhz",
    "gpu_temperature_c",
    "gpu_throttle_percent",
    "gpu_throttle_reasons",
    "energy_joules",
    "energy_seconds",
    "energy_source",
)


def run_row(name: str, run: dict[str, Any]) -> dict[str, Any]:
    """Return the row of the runs table for a record of `runs.read`; `name` is its path below the study's folder."""
    cell, origin, data = Cell(**run["cell"]), run["provenance"], run["data"]
    found, use = origin["hardware"], run["telemetry"]
    final = {key: run["final"][key] for key in ("loss", "acc", "val_loss", "val_acc")}
    packages = origin["packages"] or {}
    batch_size = run.get("batch_size", run["cell"]["batch_size"])
    return {
        "run": name,
        **{key: getattr(cell, key) for key in (*_CELL, "epochs", "data")},
        "batch_size": batch_size,
        "global_batch_size": batch_size and batch_size * cell.devices,
        "largest_batch": cell.batch_size == LARGEST,
        "samples_fraction": cell.samples,
        "data_fraction": data["train_samples"] / data["complete_train_samples"],
        **{key: run[key] for key in ("repeat", "seed", "status", "reason", "train_samples")},
        "validation_samples": run["validation_samples"],
        "settings": ", ".join(f"{key}: {value}" for key, value in (run.get("settings") or {}).items()) or None,
        "warnings": "\n".join(run.get("warnings", [])) or None,
        "convergence": run.get("convergence"),
        "samples_per_second": run["samples_per_second"],
        "flops_per_sample": run.get("flops_per_sample"),
        "timed_samples": run.get("timed_samples"),
        "epochs_done": run["final"]["epochs"],
        **{key: run["times"].get(key) for key in _TIMES},
        **final,
        **{key: use.get(key) for key in _USE},
        "cpu_model": found["cpu_model"],
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


def collect(folder: Path, records: list[Path]) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Return the runs, epochs and attempts tables of the `run.json` files, which lie below `folder`."""
    rows, epochs, attempts = [], [], []
    for path in records:
        run = runs.read(path)
        row = run_row(str(path.parent.relative_to(folder)), run)
        of_run = record.read_epochs(path.with_name("epochs.csv"))
        if derive.is_interrupted(of_run):
            row["train_seconds"] = None
        rows.append(row)
        keys = {key: row[key] for key in ("run", *tables.CELL, "repeat")}
        attempts += [
            {"run": row["run"], "attempt": number} | attempt
            for number, attempt in enumerate(run.get("attempts", []), 1)
        ]
        epochs += [keys | epoch for epoch in of_run]
    return (
        pd.DataFrame(rows, columns=list(tables.columns("runs"))),
        pd.DataFrame(epochs, columns=list(tables.columns("epochs"))),
        pd.DataFrame(attempts, columns=list(tables.columns("attempts"))),
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("records", nargs="+", type=Path, help="run.json files")
    parser.add_argument("--folder", required=True, type=Path, help="folder of the study, above all records")
    parser.add_argument("--runs", required=True, type=Path, help="table to write (.parquet; .csv beside it)")
    parser.add_argument("--epochs", required=True, type=Path, help="likewise")
    parser.add_argument("--attempts", required=True, type=Path, help="likewise")
    options = parser.parse_args()
    of_runs, of_epochs, of_attempts = collect(options.folder, options.records)
    tables.write(of_runs, "runs", options.runs)
    tables.write(of_epochs, "epochs", options.epochs)
    tables.write(of_attempts, "attempts", options.attempts)
    return 0


if __name__ == "__main__":
    errors.run(main)
