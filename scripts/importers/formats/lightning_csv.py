"""`metrics.csv`, which Lightning's CSVLogger writes: a row per logged step or epoch, most cells empty.

Lightning itself logs no times. Its callback ThroughputMonitor (since 2.2) adds `train|device/samples_per_sec`, the rate
of one device over the last 100 batches, on several devices `train|samples_per_sec`, of all of them (in Lightning 2.6
`train/...`); throughput is the median of these, and the samples over it are its time, without validation. Its
`train|time` is not read: a validation pass shifts it (Lightning 2.5, `on_validation_end`). A column
`elapsed`, the seconds of each epoch, may be logged by the user, or a clock (`timestamp`). Events that lie beside the
file are its clock. The workload is not in the file, training is PyTorch's.
"""

import csv
import io
from collections.abc import Iterator
from math import isfinite
from pathlib import Path, PurePosixPath
from statistics import median
from typing import Any

from scripts.importers import Imported, Layout, _events, _logs, _metrics, _table
from scripts.importers._logs import Log, Refused, count, finite, number, shown
from scripts.importers._seconds import Said

HELP = "metrics.csv of Lightning's CSVLogger"

_FILE = "metrics.csv"

_LACKS = (
    "Lightning logs no time and no rate: add the callback ThroughputMonitor(batch_size_fn=len), log elapsed, seconds "
    "of each epoch, or keep TensorBoard's events beside the file"
)

#: Columns that are read, and what they are also called: the first that is there counts.
_NAMES = {
    "rate": tuple(f"train{mark}{name}" for name in ("samples_per_sec", "device/samples_per_sec") for mark in "|/"),
    "device_rate": ("train|device/samples_per_sec", "train/device/samples_per_sec"),
    "samples": ("train|samples", "train/samples"),
    "batches": ("train|batches", "train/batches"),
    "epoch": ("epoch",),
    "step": ("step",),
    "elapsed": ("elapsed",),
    "loss": ("train_loss_epoch", "train_loss", "loss"),
    "acc": ("train_acc_epoch", "train_acc", "acc"),
    "val_loss": ("val_loss",),
    "val_acc": ("val_acc", "val_accuracy"),
}


def read(folder: Path, layout: Layout) -> Imported:
    """Return the runs of each `metrics.csv` below `folder`. Raises InputError if there is no such folder."""
    return _logs.read_logs(folder, layout, (".csv",), runs_of)


def looks(name: PurePosixPath, text: str) -> bool:
    """Return whether a file is one of these, by its name and its beginning."""
    return name.name == _FILE and "step" in text.partition("\n")[0].strip().split(",")


def runs_of(log: Log) -> Iterator[dict[str, Any]]:
    """Yield the run of a table. Raises Refused for a table of another kind."""
    if log.name.name != _FILE:
        raise Refused(f"the name must be {_FILE}")
    rows_by_column = _columns(log.text)
    for column, least in (("rate", 0.0), ("device_rate", 0.0), ("elapsed", 0.0)):
        for line, value in rows_by_column[column]:
            if not (isfinite(value) and value > least):
                raise Refused(f"{column}: {value:g} must be a number above 0", line)
    values = {column: [value for _, value in rows] for column, rows in rows_by_column.items()}
    rate, each = (median(values[column]) if values[column] else None for column in ("rate", "device_rate"))
    seconds = values["elapsed"]
    devices = count(round(ratio)) if rate and each and isfinite(ratio := rate / each) else None
    losses = values["loss"] + values["val_loss"]
    epochs = max(values["epoch"]) + 1 if values["epoch"] else None
    yield {
        "framework": "torch",
        "batch_size": count(values["samples"][-1] / values["batches"][-1])
        if values["samples"] and values["batches"] and values["batches"][-1]
        else None,
        "devices": devices,
        "status": "done" if all(isfinite(loss) for loss in losses) else "diverged",
        "epochs_done": len(seconds) or (None if rate else count(epochs)),
        "samples_per_second": rate,
        **{key: finite(values[key][-1]) if values[key] else None for key in ("loss", "acc", "val_loss", "val_acc")},
        **_metrics.best(values),
        "settings": _settings(log.path),
        "steps_done": count(max(values["step"]) + 1) if values["step"] else None,
        "said": Said(
            epoch_seconds=seconds,
            samples_per_second=rate,
            samples=max(values["samples"]) * (devices or 1) if values["samples"] else None,
            epochs=epochs,
            lacks=_LACKS,
        )
        if seconds or rate
        else _clocked(log, epochs),
    }


def _settings(path: Path) -> dict[str, Any]:
    """Return the hyper-parameters that Lightning saved beside a file; none where there are none."""
    found = _logs.beside(path.parent / "hparams.yaml")
    return {str(key): value for key, value in found.items() if isinstance(value, str | int | float)}


def _clocked(log: Log, epochs: float | None) -> Said:
    """Return what a clock says: that of a column, or of TensorBoard's events in the same folder."""
    table = _table.read(log.text)
    steps = [None if step is None else step + 1 for step in table.numbers(table.column("step"))]
    said = {key: value for key, value in _table.times(table, steps)[0].items() if key == "clock"}
    if not said:
        clock = _events.clock(log.path.parent)
        said = {"clock": [row for row in clock if row[1] is not None], "began": clock[0][0] if clock else None}
    return Said(**said, epochs=epochs, lacks=_LACKS)


def _columns(text: str) -> dict[str, list[tuple[int, float]]]:
    """Return line and value of each cell that is not empty, by the keys of `_NAMES`."""
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    found: dict[str, list[tuple[int, float]]] = {key: [] for key in _NAMES}
    try:
        header = [cell.strip() for cell in next(reader, [])]
        if "step" not in header:
            raise Refused("column step is missing: CSVLogger always writes it", 1)
        places = {
            key: header.index(column)
            for key, names in _NAMES.items()
            for column in [next((name for name in names if name in header), None)]
            if column
        }
        for cells in filter(None, reader):
            if len(cells) != len(header):
                raise Refused(f"{len(cells)} cells, but the header has {len(header)}", reader.line_num)
            for key, place in places.items():
                value = number(cells[place])
                if value is None and cells[place].strip():
                    raise Refused(f"{header[place]}: {shown(cells[place])} is not a number", reader.line_num)
                if value is not None:
                    found[key].append((reader.line_num, value))
    except csv.Error as error:
        raise Refused(f"not CSV: {error}", reader.line_num) from error
    return found
