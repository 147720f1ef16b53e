"""`metrics.csv`, which Lightning's CSVLogger writes: a row per logged step or epoch, most cells empty.

Lightning itself logs no times. Its callback ThroughputMonitor (since 2.2) adds `train|device/samples_per_sec`, the rate
of one device over the last 100 batches, on several devices `train|samples_per_sec`, of all of them; throughput is the
median of these. Its `train|time` is not read: a validation pass shifts it (Lightning 2.5, `on_validation_end`). A
column `elapsed`, the seconds of each epoch, is what the user may log. The workload is not in the file, training is
PyTorch's.
"""

import csv
import io
from collections.abc import Iterator
from math import fsum, isfinite
from pathlib import Path, PurePosixPath
from statistics import median
from typing import Any

from scripts.importers import Imported, Layout, _logs
from scripts.importers._logs import Refused, count, finite, number, shown

HELP = "metrics.csv of Lightning's CSVLogger, with ThroughputMonitor or a column elapsed"

_FILE = "metrics.csv"

#: Columns that are read, and what they are also called: the first that is there counts.
_NAMES = {
    "rate": ("train|samples_per_sec", "train|device/samples_per_sec"),
    "device_rate": ("train|device/samples_per_sec",),
    "samples": ("train|samples",),
    "batches": ("train|batches",),
    "epoch": ("epoch",),
    "elapsed": ("elapsed",),
    "loss": ("train_loss_epoch", "train_loss", "loss"),
    "acc": ("train_acc_epoch", "train_acc", "acc"),
    "val_loss": ("val_loss",),
    "val_acc": ("val_acc", "val_accuracy"),
}


def read(folder: Path, layout: Layout) -> Imported:
    """Return the runs of each `metrics.csv` below `folder`. Raises InputError if there is no such folder."""
    return _logs.read(folder, layout, (".csv",), _parse)


def _parse(name: PurePosixPath, text: str) -> Iterator[dict[str, Any]]:
    if name.name != _FILE:
        raise Refused(f"the name must be {_FILE}")
    told = _columns(text)
    if not told["rate"] and not told["elapsed"]:
        raise Refused(
            "no rate and no time: Lightning logs none; add the callback ThroughputMonitor(batch_size_fn=len), or log "
            "elapsed, the seconds of each epoch",
            1,
        )
    for column, least in (("rate", 0.0), ("device_rate", 0.0), ("elapsed", 0.0)):
        for line, value in told[column]:
            if not (isfinite(value) and value > least):
                raise Refused(f"{column}: {value:g} must be a number above 0", line)
    values = {column: [value for _, value in rows] for column, rows in told.items()}
    rate, each = (median(values[column]) if values[column] else None for column in ("rate", "device_rate"))
    seconds = values["elapsed"]
    losses = values["loss"] + values["val_loss"]
    yield {
        "framework": "torch",
        "batch_size": count(values["samples"][-1] / values["batches"][-1])
        if values["samples"] and values["batches"] and values["batches"][-1]
        else None,
        "devices": count(round(ratio)) if rate and each and isfinite(ratio := rate / each) else None,
        "status": "done" if all(isfinite(loss) for loss in losses) else "diverged",
        "epochs_done": len(seconds) or None,
        "train_seconds": fsum(seconds) if seconds else None,
        "first_epoch_seconds": seconds[0] if seconds else None,
        "median_epoch_seconds": median(seconds[1:]) if len(seconds) > 1 else None,
        "samples_per_second": rate,
        **{key: finite(values[key][-1]) if values[key] else None for key in ("loss", "acc", "val_loss", "val_acc")},
    }


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
