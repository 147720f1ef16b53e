"""`results.csv`, which Ultralytics' trainers write: a row per epoch, and `args.yaml` beside it.

Since 8.3 the column `time` counts the seconds since the training began, its validations with it; of a training that was
resumed it begins anew. Older files, those of YOLOv5 too, have no times. The batch of `args.yaml` is that of all devices
together, -1 what its program chose.
"""

import re
from collections.abc import Iterator
from itertools import pairwise, zip_longest
from pathlib import Path, PurePosixPath
from typing import Any

from scripts.importers import Imported, Layout, _logs, _metrics, _table, naming
from scripts.importers._logs import Log, Refused, count, finite
from scripts.importers._seconds import Said

HELP = "results.csv of Ultralytics (YOLO), with args.yaml beside it"

_FILE, _ARGUMENTS = "results.csv", ("args.yaml", "opt.yaml")

_LACKS = "Ultralytics before 8.3 and YOLOv5 write no column time"


def read(folder: Path, layout: Layout) -> Imported:
    """Return the runs of each `results.csv` below `folder`. Raises InputError if there is no such folder."""
    return _logs.read_logs(folder, layout, (".csv",), runs_of)


def looks(name: PurePosixPath, text: str) -> bool:
    """Return whether a file is one of these, by its name and its beginning."""
    header = text.partition("\n")[0]
    return name.suffix == ".csv" and "epoch" in header and "train/" in header and "metrics/" in header


def runs_of(log: Log) -> Iterator[dict[str, Any]]:
    """Yield the run of a table. Raises Refused for a table of another kind."""
    table = _table.read(log.text)
    losses = [name for name in table.header if name.startswith("train/") and "loss" in name]
    if "epoch" not in table.header or not losses:
        raise Refused("columns epoch and train/...loss are missing: no results.csv of Ultralytics", 1)
    about = _arguments(log.path)
    devices = _devices(about.get("device"))
    batch = count(about.get("batch", about.get("batch_size")))
    time = table.column("time")
    read = [finite(one) for one in table.numbers(time)]
    seconds = [one for one in read if one is not None and one >= 0]
    if time and len(seconds) < len(read):
        raise Refused("time: must be the seconds since the training began, in each row")
    each = _table.since(seconds) if time else []
    resumed = sum(later < earlier for earlier, later in pairwise(seconds)) if time else 0
    train, held_out = _sums(table, "train/"), _sums(table, "val/")
    wanted = count(about.get("epochs"))
    notes = [f"the time begins anew {resumed} times: resumed, and its parts are added up"] if resumed else []
    if wanted and len(table.rows) < wanted:
        notes.append(f"{len(table.rows)} of {wanted} epochs: ended early, or it still went on")
    # Validation in half precision gives nan in some versions, and teaches nothing of the training.
    ends = _metrics.last({"loss": train, "val_acc": table.values().get(_TOP1, [])})
    ends["val_loss"] = finite(held_out[-1]) if held_out else None
    ends |= _best(table)
    yield {
        "workload": _workload(about),
        "settings": {key: value for key, value in about.items() if isinstance(value, str | int | float)},
        "framework": "torch",
        "batch_size": batch // devices if batch and devices and batch % devices == 0 else batch,
        "devices": devices,
        **ends,
        "epochs_done": len(table.rows),
        "notes": notes,
        "epochs": [
            {"epoch": index, "elapsed": each[index] if each else None, "loss": finite(one), "val_loss": finite(other)}
            for index, (one, other) in enumerate(zip_longest(train, held_out))
        ],
        "said": Said(epoch_seconds=each, epochs=float(len(table.rows)), lacks=_LACKS),
    }


_TOP1 = "metrics/accuracy_top1"

#: What a model is chosen by, of each task the first that is there.
_CHOSEN_BY = re.compile(r"metrics/(mAP(?:50-95|_0.5:0.95)(?:\([A-Z]\))?|accuracy_top1)")


def _best(table: _table.Table) -> dict[str, Any]:
    """Return the best of the metric that a model is chosen by, and its name; nothing where there is none."""
    for name in table.header:
        if found := _CHOSEN_BY.fullmatch(name):
            known = [value for one in table.numbers(name) if (value := finite(one)) is not None]
            return {"best": max(known, default=None), "best_of": found[1]}
    return {}


def _sums(table: _table.Table, beginning: str) -> list[float]:
    """Return the sum of the losses of each row, as they are trained on; none where a column is missing."""
    columns = [
        table.numbers(name) for name in table.header if name.startswith(beginning) and "loss" in name.rpartition("/")[2]
    ]
    return [sum(one for one in row if one is not None) for row in zip(*columns, strict=True)]


def _arguments(path: Path) -> dict[str, Any]:
    """Return what the arguments beside a table say; none where there are none that can be read."""
    for name in _ARGUMENTS:
        if found := _logs.beside(path.parent / name):
            return found
    return {}


def _workload(about: dict[str, Any]) -> str | None:
    """Return model and data of a training, as `yolo11n_coco128_640`; None where the arguments name none."""
    parts = [Path(str(about[key])).stem for key in ("model", "weights", "data") if about.get(key)]
    parts += [str(about["imgsz"])] if parts and isinstance(about.get("imgsz"), int) else []
    return naming.slug("_".join(parts)) or None


def _devices(device: Any) -> int | None:
    """Return how many devices arguments name: 0, cpu, '0,1' or [0, 1]; None where they leave it to the program."""
    listed = device if isinstance(device, list) else str("" if device is None else device).strip("[]() ").split(",")
    return len([one for one in listed if str(one).strip()]) or None
