"""What runs cost, as the metric `cost_usd` of MLflow's own store, where its users look: only if it is asked for."""

import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

import yaml

from scripts.importers.formats import mlflow
from scripts.storage.errors import InputError
from scripts.storage.files import write_text


def write(folder: Path, usd: Mapping[str, tuple[str, float]]) -> tuple[int, list[Path]]:
    """Write the dollars of the runs of MLflow below `folder`, and return how many there are, and the files written.

    `usd` is run -> file of its log and dollars. A value that stands there already is not written again. Raises
    InputError where a database cannot be written to.
    """
    count, written = 0, []
    databases: dict[Path, dict[str, float]] = {}
    for run, (file, cost) in usd.items():
        path = folder / file
        if path.name == mlflow.FILE:
            count += 1
            if _write_metric(path, cost):
                written.append(path.parent / "metrics" / mlflow.COST)
        elif path.suffix in mlflow.DATABASES:
            databases.setdefault(path, {})[run] = cost
    for path, costs in databases.items():
        count += len(costs)
        if _write_rows(path, costs):
            written.append(path)
    return count, written


def _write_metric(meta: Path, cost: float) -> bool:
    """Write the metric of a run's folder (milliseconds, value, step) at its end. Return whether it was another."""
    about = yaml.safe_load(meta.read_text(encoding="utf-8"))
    line = f"{int(about.get('end_time') or about.get('start_time') or 0)} {cost:.6g} 0\n"
    file = meta.parent / "metrics" / mlflow.COST
    if file.is_file() and file.read_text(encoding="utf-8") == line:
        return False
    file.parent.mkdir(exist_ok=True)
    write_text(file, line)
    return True


def _write_rows(path: Path, costs: Mapping[str, float]) -> bool:
    """Write the metric of a database's runs, all or none. Return whether one was another."""
    try:
        with closing(sqlite3.connect(path, timeout=5)) as known, known:
            ids = mlflow.run_ids(known)
            before = known.total_changes
            for run, cost in costs.items():
                number = int(run.partition("#")[2] or 1)
                _write_row(known, ids[number - 1], float(f"{cost:.6g}"))
            return known.total_changes > before
    except sqlite3.Error as error:
        raise InputError(f"{path}: {mlflow.COST} could not be written: {error}") from error


def _write_row(known: sqlite3.Connection, run: str, cost: float) -> None:
    there = known.execute("SELECT value FROM metrics WHERE run_uuid = ? AND key = ?", (run, mlflow.COST)).fetchall()
    if there == [(cost,)]:
        return
    (at,) = known.execute("SELECT COALESCE(end_time, start_time, 0) FROM runs WHERE run_uuid = ?", (run,)).fetchone()
    for table in ("metrics", "latest_metrics"):
        known.execute(f"DELETE FROM {table} WHERE run_uuid = ? AND key = ?", (run, mlflow.COST))  # noqa: S608, two words
        known.execute(
            f"INSERT INTO {table} (key, value, timestamp, step, is_nan, run_uuid) VALUES (?, ?, ?, 0, 0, ?)",  # noqa: S608
            (mlflow.COST, cost, at, run),
        )
