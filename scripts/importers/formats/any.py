"""Logs of all kinds in one folder: each file is read as what it looks like, by its name, its beginning and its end.

What no log names is called as its folders are: a run in `bert/lightning_logs/version_0` is one of the workload
`bert`, and training is of the framework `own` where no log says which.
"""

import os
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path, PurePosixPath
from types import ModuleType
from typing import Any

from scripts import importers
from scripts.importers import Imported, Layout, _devices, _logs, kept, naming
from scripts.importers._logs import Log, ParseLog, Refused, Runs
from scripts.importers.formats import hf_trainer, mlflow
from scripts.records.about import OWN

HELP = "logs of all kinds in one folder, each read as what it looks like"

#: In this order: the first that a file looks like reads it.
ORDER = (
    *("mlflow", "tensorboard", "wandb", "hf_trainer", "ultralytics", "lightning_csv", "mllog", "nanogpt", "tf_cnn"),
    *("epochs_csv", "json_lines", "boosting", "console"),
)

#: So much of a file is looked at, at its beginning and at its end (bytes).
_BEGINNING, _END = 1 << 16, 1 << 14

#: Endings of files that are none: pictures, weights, data, programs.
_NEVER = {
    *(".png", ".jpg", ".jpeg", ".gif", ".svg", ".pdf", ".mp4", ".wav", ".html", ".py", ".pyc", ".ipynb", ".md", ".so"),
    *(".pt", ".pth", ".ckpt", ".safetensors", ".bin", ".h5", ".hdf5", ".keras", ".onnx", ".pkl", ".joblib", ".npy"),
    *(".npz", ".parquet", ".arrow", ".tfrecord", ".zip", ".gz", ".tar", ".xz", ".model", ".pb"),
}

#: Folders of a run of MLflow.
_OF_A_RUN = ("metrics", "params", "tags", "inputs", "outputs", "artifacts")

#: Folders and files of W&B beside a run's file: its own words, and the console of the same training.
_OF_WANDB, _WORDS_OF_WANDB = ("files", "logs", "tmp"), ("debug.log", "debug-internal.log", "output.log")

#: Files that are read with a log: an experiment of MLflow, the last record of a training.
_BESIDE = (mlflow.FILE, *hf_trainer.RESULTS)

#: Endings of files that may be logs: each that is none of the kinds above is named by itself.
LIKELY = (".csv", ".log", ".jsonl", ".out", ".wandb", ".db")


def read(folder: Path, layout: Layout) -> Imported:
    """Return the runs of all logs below `folder` that look like one. Raises InputError if there is no such folder."""
    _logs.check(folder)
    return look(folder, layout)[1]


def look(folder: Path, layout: Layout) -> tuple[dict[PurePosixPath, str | None], Imported]:
    """Return the files below a folder with their kinds (`kinds`), and the runs of those that have one.

    What was read before, and has not changed since, is not read again (`kept`).
    """
    before = kept.Kept(folder, candidates(folder, all_of_runs=True))
    known = kinds(folder, before)
    logs = [(name, _reader(layout, kind)) for name, kind in known.items() if kind]

    def runs(name: PurePosixPath, given: str, read_log: Callable[[], list[kept.Item]]) -> list[kept.Item]:
        return before.runs(name, known[name] or "", f"{given} {layout.workload}", read_log)

    imported = _logs.read_each(folder, layout, logs, keep=runs)
    before.save()
    return known, imported


def candidates(folder: Path, all_of_runs: bool = False) -> list[Path]:
    """Return the files below a folder that are looked at, sorted: none that is hidden, or can be no log by its name.

    `all_of_runs`: those too that are read with the `meta.yaml` of a run of MLflow.
    """
    found: list[Path] = []
    for place, folders, files in os.walk(folder):
        # A run of MLflow is read by its meta.yaml: it has a file for each number and word.
        passed: tuple[str, ...] = _OF_A_RUN if "meta.yaml" in files and not all_of_runs else ()
        passed += _OF_WANDB if any(name.endswith(".wandb") for name in files) else ()
        folders[:] = [name for name in folders if not name.startswith(".") and name not in passed]
        there = (Path(place, name) for name in files if not name.startswith(".") and name not in _WORDS_OF_WANDB)
        found += [path for path in there if path.suffix.lower() not in _NEVER and path.is_file()]
    return sorted(found)


def kinds(folder: Path, before: kept.Kept) -> dict[PurePosixPath, str | None]:
    """Return the files below a folder that are looked at, sorted, and as which format; None for those of none.

    Files that are read with a log beside them are none of these.
    """
    formats = {name: importers.importer(name) for name in ORDER}
    names = {PurePosixPath(path.relative_to(folder).as_posix()): path for path in candidates(folder)}
    found = {name: before.kind(name, partial(_kind, name, path, formats)) for name, path in names.items()}
    return {name: kind for name, kind in found.items() if kind or not _is_beside(name)}


def _is_beside(name: PurePosixPath) -> bool:
    return name.name in _BESIDE or _devices.is_arguments(name.name)


def _kind(name: PurePosixPath, path: Path, formats: dict[str, ModuleType]) -> str | None:
    text = _glimpse(path)
    return next((kind for kind, module in formats.items() if module.looks(name, text)), None)


def _glimpse(path: Path) -> str:
    """Return the beginning and the end of a file, bytes that are no text passed over."""
    try:
        with path.open("rb") as file:
            data = file.read(_BEGINNING)
            size = path.stat().st_size
            if size > _BEGINNING:
                file.seek(max(_BEGINNING, size - _END))
                data += b"\n" + file.read(_END)
    except OSError:
        return ""
    return data.decode("utf-8-sig", "replace")


def _reader(layout: Layout, kind: str) -> ParseLog:
    module = importers.importer(kind)

    def parse(log: Log) -> Runs:
        return _named(module.runs_of(log), log.name, layout, kind)

    return parse


def _named(runs: Runs, name: PurePosixPath, layout: Layout, kind: str) -> Iterator[dict[str, Any] | Refused]:
    """Yield runs with a workload and a framework: those of the log, of the import, or of the folders."""
    for run in runs:
        if not isinstance(run, Refused):
            workload = run.get("workload") or layout.workload or naming.workload_of(name)
            run = {**run, "workload": workload, "framework": run.get("framework") or OWN, "read_as": kind}
        yield run
