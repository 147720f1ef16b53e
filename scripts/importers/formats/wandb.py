"""Runs of Weights & Biases: the file of an offline run (`run-*.wandb`), and the CSV that its pages export.

The clock is `_timestamp` of each row; an export without it may have `_runtime`, the seconds since the run began. Cards
are those of the run's file, or of `wandb-metadata.json` in the folder `files` beside it.
"""

import struct
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from scripts.importers import Imported, Layout, _logs, _metrics, _smi, _table
from scripts.importers._logs import Log, Refused, count
from scripts.importers._recorder import stores
from scripts.importers._seconds import Said

HELP = "runs of Weights & Biases: run-*.wandb, or an export (CSV) with _timestamp or _runtime"


def read(folder: Path, layout: Layout) -> Imported:
    """Return the runs of Weights & Biases below `folder`. Raises InputError if there is no such folder."""
    return _logs.read_logs(folder, layout, (".wandb", ".csv"), runs_of)


def looks(name: PurePosixPath, text: str) -> bool:
    """Return whether a file is one of these, by its name and its beginning."""
    header = text.partition("\n")[0].replace('"', "").split(",")
    return name.suffix == ".wandb" or (
        name.suffix == ".csv" and bool({"_timestamp", "_runtime"} & {cell.strip() for cell in header})
    )


def runs_of(log: Log) -> Iterator[dict[str, Any]]:
    """Yield the run of a file. Raises Refused for one without rows."""
    config: Mapping[str, Any] = {}
    machine: Mapping[str, Any] = {}
    if log.name.suffix == ".wandb":
        try:
            rows, _ = stores.wandb(log.data[stores.WANDB_HEAD_BYTES :], stores.WANDB_HEAD_BYTES)
            config = stores.wandb_config(log.data[stores.WANDB_HEAD_BYTES :])
            machine = stores.wandb_machine(log.data[stores.WANDB_HEAD_BYTES :])
        except (ValueError, IndexError, TypeError, struct.error) as fault:
            raise Refused(f"not a file of Weights & Biases: {fault}") from fault
        history = [row.values for row in rows]
    else:
        table = _table.read(log.text)
        columns = {name: table.numbers(name) for name in table.header}
        history = [
            {name: value for name, cells in columns.items() if (value := cells[index]) is not None}
            for index in range(len(table.rows))
        ]
    if not history:
        raise Refused("no row was logged")
    values: dict[str, list[float]] = {}
    for row in history:
        for name, value in row.items():
            if not name.startswith("_"):
                values.setdefault(name, []).append(value)
    epochs = _metrics.epochs(values)
    cards = _cards(machine) or _cards(_metadata(log.path))
    yield {
        **_metrics.last(values),
        "devices": len(cards) or None,
        "cards": _smi.words(cards),
        "epochs_done": _metrics.whole(epochs),
        "steps_done": _metrics.steps([row["_step"] for row in history if "_step" in row]),
        "settings": {key: one for key, one in config.items() if isinstance(one, str | int | float)},
        "name": log.name.stem.removeprefix("run-") if log.name.suffix == ".wandb" else None,
        "batch_size": _metrics.batch_size(config),
        "said": _said(history, epochs),
    }


def _said(history: list[dict[str, float]], epochs: float | None) -> Said:
    """Return what the rows say of the time: a clock, and where it began; or the seconds since then."""
    stamped = [row for row in history if "_timestamp" in row]
    clock = [(row["_timestamp"], row.get("_step")) for row in stamped]
    running = [row["_runtime"] for row in history if "_runtime" in row]
    # The run began _runtime seconds before its first row.
    began = next((row["_timestamp"] - row["_runtime"] for row in stamped if "_runtime" in row), None)
    return Said(
        clock=clock,
        began=began,
        stated=max(running) if running and not clock else None,
        stated_as="_runtime",
        epochs=epochs,
        lacks="its rows have neither _timestamp nor _runtime",
    )


def _metadata(path: Path) -> Mapping[str, Any]:
    return _logs.beside(path.parent / "files" / "wandb-metadata.json")


def _cards(about: Mapping[str, Any]) -> list[str]:
    """Return the names of a machine's cards."""
    name, several = about.get("gpu"), count(about.get("gpu_count"))
    if isinstance(name, str) and name:
        # Older files write the count into the name: [NVIDIA A100-SXM4-40GB, ...].
        return [name.strip("[]").split(",")[0].strip("' ")] * (several or 1)
    listed = about.get("gpu_nvidia") or about.get("gpu_amd")
    if isinstance(listed, list):
        return [str(one.get("name") or one.get("model")) for one in listed if isinstance(one, dict)]
    apple = about.get("gpuapple") or about.get("apple")
    return [str(apple.get("name") or apple.get("gpuType"))] if isinstance(apple, dict) else []
