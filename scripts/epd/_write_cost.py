"""What runs cost, as `cost_usd` in MLflow's own store and in W&B's offline runs: only if it is asked for."""

import sqlite3
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from scripts.epd import _write_wandb
from scripts.importers._logs import beside, finite
from scripts.importers._recorder import stores
from scripts.importers.formats import mlflow
from scripts.storage.errors import InputError
from scripts.storage.files import write_text


@dataclass
class Done:
    """How many runs have their dollars now, the files that were written, and those that were left alone, and why."""

    runs: int = 0
    written: list[Path] = field(default_factory=list)
    left: list[str] = field(default_factory=list)


def write(folder: Path, usd: Mapping[str, tuple[str, float]]) -> Done:
    """Write the dollars of the runs of MLflow and of W&B below `folder`.

    `usd` is run -> file of its log and dollars. A value that stands there already is not written again. Raises
    InputError where a database cannot be written to.
    """
    done = Done()
    databases: dict[Path, dict[str, float]] = {}
    for run, (file, cost) in usd.items():
        path = folder / file
        if not path.resolve().is_relative_to(folder.resolve()):
            done.left.append(f"{file}: it is a link to a place outside the folder")
            continue
        if not path.is_file():  # its name is escaped in the facts
            done.left.append(f"{file}: there is no such file: rename the log without what a terminal obeys")
            continue
        if path.name == mlflow.FILE:
            try:
                is_new = _write_metric(path, cost)
            except InputError as error:
                done.left.append(str(error))
                continue
            done.runs += 1
            done.written += [path.parent / "metrics" / mlflow.COST] * is_new
        elif path.suffix in mlflow.DATABASES:
            databases.setdefault(path, {})[run] = cost
        elif path.suffix == ".wandb":
            try:
                done.written += [path] if _write_wandb.write(path, cost) else []
                done.runs += 1
            except _write_wandb.LeftAlone as why:
                done.left.append(f"{file}: {why}")
    for path, costs in databases.items():
        done.runs += len(costs)
        if _write_rows(path, costs):
            done.written.append(path)
    return done


def _write_metric(meta: Path, cost: float) -> bool:
    """Write the metric of a run's folder (milliseconds, value, step) at its end. Return whether it was another."""
    about = beside(meta)
    at = next((finite(about.get(key)) for key in ("end_time", "start_time") if about.get(key)), None)
    line = f"{int(at or 0)} {cost:.6g} 0\n"
    file = meta.parent / "metrics" / mlflow.COST
    if file.is_file() and file.read_text(encoding="utf-8") == line:
        return False
    write_text(file, line, within=meta.parent)
    return True


def _write_rows(path: Path, costs: Mapping[str, float]) -> bool:
    """Write the metric of a database's runs, all or none. Return whether one was another."""
    try:
        with closing(sqlite3.connect(path, timeout=5)) as known, known:
            known.execute("BEGIN IMMEDIATE")  # what is looked at stays so until all is written
            stores.check_tables(known, "view", "trigger")
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
    asked = "SELECT COALESCE(end_time, start_time, 0) FROM runs WHERE run_uuid = ?"
    if (found := known.execute(asked, (run,)).fetchone()) is None:
        raise sqlite3.DataError(f"{run!r}: the name of the run is no text")
    at = finite(found[0]) or 0
    for table in ("metrics", "latest_metrics"):
        known.execute(f"DELETE FROM {table} WHERE run_uuid = ? AND key = ?", (run, mlflow.COST))  # noqa: S608, two words
        known.execute(
            f"INSERT INTO {table} (key, value, timestamp, step, is_nan, run_uuid) VALUES (?, ?, ?, 0, 0, ?)",  # noqa: S608
            (mlflow.COST, cost, at, run),
        )
