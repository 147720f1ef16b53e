"""Reads progress off files that a training writes: tables, JSON lines, checkpoints, events, runs of W&B and MLflow.

Only files that changed since the program began are read, only what was added to them, and never more than a little of
the folders: a data set of a million files is not gone through.
"""

from __future__ import annotations

import csv
import json
import os
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Callable

from epochs_per_dollar import lines, stores, words
from epochs_per_dollar.lines import Tick

#: Seconds between two looks at the folder; entries that one look goes through; folders below each other.
LOOK_SECONDS = 2.0
_MOST_ENTRIES = 2_000
_DEPTH = 4

#: So much of a file is read at one look.
_MOST_BYTES = 1 << 20

_NOT_IN = {"node_modules", "site-packages", "__pycache__", "venv"}

_STEP_COLUMNS = ("step", "global_step", "iteration", "iter", "steps")
_EPOCH_COLUMNS = ("epoch", "epochs")


class Files:
    """The files of a folder that grow. `began` is `time.time()` of the program's start."""

    def __init__(self, folder: Path, began: float) -> None:
        self._folder, self._began = folder, began
        self._read: dict[Path, _File] = {}
        self._looked = 0.0

    def look(self, now: float) -> Iterator[tuple[float, Tick]]:
        """Yield what was added since the last look: seconds after the start, and the tick."""
        if now - self._looked < LOOK_SECONDS:
            return
        self._looked = now
        for path, kind in self._growing():
            file = self._read.setdefault(path, _File(path, kind))
            try:
                yield from file.added(self._began)
            except Exception:  # noqa: S112
                continue  # Half written, or another kind of file by this name: no reason to end a training.

    def _growing(self) -> Iterator[tuple[Path, str]]:
        left, folders = _MOST_ENTRIES, [(self._folder, 0)]
        while folders and left > 0:
            folder, depth = folders.pop(0)
            try:
                with os.scandir(folder) as entries:
                    for entry in entries:
                        left -= 1
                        if left <= 0:
                            break
                        if entry.is_dir(follow_symlinks=False):
                            if depth < _DEPTH and not entry.name.startswith(".") and entry.name not in _NOT_IN:
                                folders.append((Path(entry.path), depth + 1))
                        elif (kind := _kind(entry.name, folder.name)) and self._is_new(entry):
                            yield Path(entry.path), kind
            except OSError:
                continue

    def _is_new(self, entry: os.DirEntry[str]) -> bool:
        return entry.is_file(follow_symlinks=False) and entry.stat().st_mtime >= self._began - 1


def _kind(name: str, folder: str) -> str | None:
    if "tfevents" in name:
        return "events"
    if name.endswith(".wandb"):
        return "wandb"
    if name == "mlflow.db":
        return "database"
    if folder == "metrics" and "." not in name:
        return "metric"
    if name == "trainer_state.json":
        return "state"
    if name.endswith((".json", ".txt")):
        return "rows"  # one JSON line after another, as Detectron2's metrics.json and DETR's log.txt
    if name.endswith(".csv"):
        return "table"
    return "lines" if name.endswith((".jsonl", ".ndjson", ".log", ".out")) else None


class _File:
    """One file, and how much of it has been read."""

    def __init__(self, path: Path, kind: str) -> None:
        self._path, self._kind = path, kind
        self._added: Callable[[float], Iterator[tuple[float, Tick]]] = {
            "events": self._events,
            "state": self._state,
            "table": self._table,
            "lines": self._lines,
            "rows": self._lines,
            "wandb": self._wandb,
            "database": self._database,
            "metric": self._metric,
        }[kind]
        self._offset = 0
        self._until = 0.0
        self._columns: list[str] = []

    def added(self, began: float) -> Iterator[tuple[float, Tick]]:
        return self._added(began)

    def _more(self) -> bytes:
        """Return what was added and is whole: up to the last line's end, of a text."""
        with self._path.open("rb") as file:
            if file.seek(0, os.SEEK_END) < self._offset:
                self._offset = 0  # It was written anew.
                self._columns = []
            file.seek(self._offset)
            return file.read(_MOST_BYTES)

    def _text(self) -> list[str]:
        more = self._more()
        whole = more[: more.rfind(b"\n") + 1]
        self._offset += len(whole)
        return whole.decode("utf-8", "replace").splitlines()

    def _table(self, began: float) -> Iterator[tuple[float, Tick]]:
        seconds = time.time() - began
        for row in csv.reader(self._text()):
            names = [name.strip().lower() for name in row]
            if not self._columns:
                self._columns = names
                continue
            values = dict(zip(self._columns, names))
            for unit, known in (("step", _STEP_COLUMNS), ("epoch", _EPOCH_COLUMNS)):
                column = next((name for name in known if name in values), None)
                if column is not None and _is_count(values[column]):
                    name = f"{self._path.name} {column}"
                    yield seconds, Tick(name, unit, float(values[column]), None, f"the table {self._path.name}")

    def _lines(self, began: float) -> Iterator[tuple[float, Tick]]:
        seconds = time.time() - began
        for line in self._text():
            for tick in lines.read(line) if self._kind == "lines" or line.startswith("{") else ():
                yield seconds, tick._replace(series=f"{self._path.name} {tick.series}", source=self._path.name)

    def _wandb(self, began: float) -> Iterator[tuple[float, Tick]]:
        self._offset = max(self._offset, stores.WANDB_HEAD_BYTES)
        found, self._offset = stores.wandb(self._more(), self._offset)
        return self._logged(found, began, "W&B's file")

    def _metric(self, began: float) -> Iterator[tuple[float, Tick]]:
        return self._logged(stores.metric(self._text(), self._path.name), began, "MLflow's folder")

    def _database(self, began: float) -> Iterator[tuple[float, Tick]]:
        found = list(stores.database(self._path, max(self._until, began)))
        self._until = max([self._until, *(one.at for one in found)])
        return self._logged(found, began, "MLflow's database")

    def _logged(self, found: Iterable[stores.Logged], began: float, source: str) -> Iterator[tuple[float, Tick]]:
        for one in found:
            if one.at >= began and one.step >= 0:
                yield one.at - began, Tick(one.name, "step", one.step, None, source)

    def _state(self, began: float) -> Iterator[tuple[float, Tick]]:
        if self._offset:
            return
        state: dict[str, Any] = json.loads(self._path.read_bytes()[: 8 * _MOST_BYTES])
        self._offset = 1
        step, most = state.get("global_step"), state.get("max_steps")
        if isinstance(step, int) and step < words.LARGEST:
            # Each checkpoint has a file of its own: together they are a series.
            total = float(most) if isinstance(most, int) and 0 < most < words.LARGEST else None
            tick = Tick("trainer_state.json", "step", float(step), total, "Transformers' checkpoints")
            yield self._path.stat().st_mtime - began, tick

    def _events(self, began: float) -> Iterator[tuple[float, Tick]]:
        more = self._more()
        found, whole = stores.events(more)
        if not whole and len(more) == _MOST_BYTES:
            raise ValueError("no events")
        self._offset += whole
        return self._logged([one for one in found if one.step > 0], began, "TensorBoard's events")


def _is_count(text: str) -> bool:
    try:
        return 0 <= float(text) < 1e15
    except ValueError:
        return False
