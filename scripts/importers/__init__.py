"""Importers: one module of `formats/` per published format. A folder of logs goes in, one row per run comes out.

An importer module has

- `HELP`: one line, which files it reads;
- `read(folder, layout) -> Imported`: every log below `folder`, in the order of their paths.

A log that cannot be used is a `Problem` with its file and line; it never takes the good ones with it.
"""

import importlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

import pandas as pd

from scripts.storage import modules
from scripts.storage.errors import InputError

#: Columns of the table of facts and their types. A value that the log does not give is missing.
COLUMNS = {
    "run": "string",  # path of the log below the folder without its suffix, #n if it holds several runs
    "file": "string",  # path of the log below the folder
    "sha256": "string",  # of the log
    "workload": "string",
    "hardware": "string",  # name of the machine in the study
    "framework": "string",
    "batch_size": "Int64",  # samples per step, as the log counts it; of one device where it has several
    "precision": "string",  # as in the runs table
    "devices": "Int64",  # that trained together
    "repeat": "Int64",  # number of the run of its cell, from 1, in the order of the files
    "status": "string",  # done, diverged (a loss is not finite), out_of_memory or failed
    "epochs_done": "Int64",
    "train_seconds": "Float64",  # s, time to train, as the log counts it
    "first_epoch_seconds": "Float64",  # s
    "median_epoch_seconds": "Float64",  # s, median of the epochs after the first
    "samples_per_second": "Float64",
    "train_samples": "Int64",  # per epoch
    "loss": "Float64",  # this and the next three: after the last epoch or step
    "acc": "Float64",
    "val_loss": "Float64",
    "val_acc": "Float64",
    "gpu_percent": "Float64",  # %, mean use of the GPU
    "missing_columns": "string",  # columns of a log by epoch that are absent or empty, parted by commas
    "started_at": "string",  # UTC, ISO 8601
    "seconds_from": "string",  # by which rule train_seconds was found (`_seconds`)
    "cards": "string",  # of the machine, as the log names them: 8 x NVIDIA H100 80GB HBM3
    "remarks": "string",  # pauses that were found, what was left out, what is missing
    "read_as": "string",  # format, where a folder of any was read
    "name": "string",  # what people call the run, where its log says so
    "steps_done": "Int64",
    "best": "Float64",  # of what `best_of` names
    "best_of": "string",  # a metric: validation loss
}

#: Columns of the table of epochs and their types.
EPOCHS = {
    "run": "string",
    "epoch": "Int64",  # from 0
    "elapsed": "Float64",  # s
    "loss": "Float64",
    "acc": "Float64",
    "val_loss": "Float64",
    "val_acc": "Float64",
}


#: Keys of a study's `import:` that are fields of `Layout`.
_IN_A_STUDY = ("framework", "workload", "columns", "seconds", "seconds_per_epoch", "times")


@dataclass(frozen=True)
class Problem:
    """What was not taken over: file or folder below the imported folder, line (from 1) if there is one."""

    file: str
    line: int | None
    message: str

    def __str__(self) -> str:
        return f"{self.file}:{'' if self.line is None else f'{self.line}:'} {self.message}"


@dataclass(frozen=True)
class Imported:
    """The runs found, a table of `COLUMNS`, what was refused, and the epochs of runs that have them.

    `epochs` has the columns of `EPOCHS`.
    """

    runs: pd.DataFrame
    problems: list[Problem]
    epochs: pd.DataFrame


@dataclass(frozen=True)
class Layout:
    """What the logs do not say themselves.

    Keys of `hardware` and `framework` are paths below the imported folder: of a folder, for all logs
    in it and below, or of one log without its suffix; the longest that fits counts, `.` is the folder
    itself. A `framework` given here counts more than that of the log, a `workload` only where the
    log names none. `columns` is for tables: name of a column -> workload. `seconds` and `seconds_per_epoch` are for
    logs without times, by the same paths; `times` is `files` where the times of the files may count.
    """

    hardware: Mapping[str, str]
    framework: Mapping[str, str] = field(default_factory=dict)
    workload: str | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    seconds: Mapping[str, float] = field(default_factory=dict)
    seconds_per_epoch: Mapping[str, float] = field(default_factory=dict)
    times: str = ""


def layout(about: Mapping[str, Any]) -> Layout:
    """Return what a study's `import:` says that the logs do not."""
    return Layout(about["hardware"], **{key: about[key] for key in _IN_A_STUDY if key in about})


def names() -> list[str]:
    """Return the names of all importers, sorted."""
    return modules.names([f"{folder}/formats" for folder in __path__])


def importer(name: str) -> ModuleType:
    """Return the module of the importer `name`. Raises InputError if there is none."""
    if name not in names():
        raise InputError(f"importer: {name!r} is not allowed; allowed are {', '.join(names())}")
    return importlib.import_module(f"scripts.importers.formats.{name}")
