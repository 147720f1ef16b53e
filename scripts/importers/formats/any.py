"""Logs of all kinds in one folder: each file is read as what it looks like, by its name, its beginning and its end.

What no log names is called as its folders are: a run in `bert/lightning_logs/version_0` is one of the workload
`bert`, and training is of the framework `own` where no log says which.
"""

import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from types import ModuleType
from typing import Any

from scripts import importers
from scripts.importers import Imported, Layout, _logs, _metrics
from scripts.importers._logs import Log, ParseLog, Refused, Runs
from scripts.records.about import OWN

HELP = "logs of all kinds in one folder, each read as what it looks like"

#: In this order: the first that a file looks like reads it.
ORDER = (
    *("mlflow", "tensorboard", "wandb", "hf_trainer", "ultralytics", "lightning_csv", "mllog", "nanogpt", "tf_cnn"),
    "epochs_csv",
)

#: So much of a file is looked at, at its beginning and at its end (bytes).
_BEGINNING, _END = 1 << 16, 1 << 14

#: Folders and files that no workload is called by.
_NO_NAME = re.compile(
    r"(?i)lightning_logs|tb_logs|logs?|runs?|results?|outputs?|train\d*|version_\d+|checkpoint-\d+|metrics|trainer_state|"
    r"mlruns|meta|mlflow|wandb|offline-run-.*|run-.*|training|training_?log|history|console|events\.out\..*|detect|[0-9a-f]{32}"
)

#: Endings of files that may be logs: what is none of the kinds above is named.
LIKELY = (".csv", ".log", ".jsonl", ".out", ".wandb", ".db")


def read(folder: Path, layout: Layout) -> Imported:
    """Return the runs of all logs below `folder` that look like one. Raises InputError if there is no such folder."""
    _logs.check(folder)
    return _logs.read_each(
        folder, layout, [(name, _reader(layout, kind)) for name, kind in kinds(folder).items() if kind]
    )


def kinds(folder: Path) -> dict[PurePosixPath, str | None]:
    """Return the files below a folder that look like a log, sorted, and as which format; None for those of none."""
    formats = {name: importers.importer(name) for name in ORDER}
    found: dict[PurePosixPath, str | None] = {}
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        name = PurePosixPath(path.relative_to(folder).as_posix())
        if any(part.startswith(".") for part in name.parts):
            continue
        kind = _kind(name, path, formats)
        if kind or name.suffix.lower() in LIKELY:
            found[name] = kind
    return found


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
        return _named(module.runs_of(log), log.name, layout)

    return parse


def _named(runs: Runs, name: PurePosixPath, layout: Layout) -> Iterator[dict[str, Any] | Refused]:
    """Yield runs with a workload and a framework: those of the log, of the import, or of the folders."""
    for run in runs:
        if not isinstance(run, Refused):
            workload = run.get("workload") or layout.workload or workload_of(name)
            run = {**run, "workload": workload, "framework": run.get("framework") or OWN}
        yield run


def workload_of(name: PurePosixPath) -> str:
    """Return what a run is called after the folders of its log, those above first: bert-base, or bert-seed_1."""
    parts = [part for part in (*name.parts[:-1], name.stem) if not _NO_NAME.fullmatch(part)]
    said = "-".join(filter(None, (_metrics.slug(part) for part in parts)))
    return said[-100:].lstrip("_.+-") or "training"
