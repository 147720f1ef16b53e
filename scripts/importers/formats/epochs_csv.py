"""CSV with a row per epoch, of whatever program: Keras's CSVLogger under any name, a loop of one's own.

Columns are known by their names: `loss` or `train_loss`, `val_accuracy` or `val_acc`. Time is what a column says
(`elapsed`, `epoch_time`, `timestamp`); Keras's CSVLogger writes none.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from scripts.importers import Imported, Layout, _logs, _metrics, _table, naming
from scripts.importers._logs import Log, Refused, finite
from scripts.importers._seconds import Said

HELP = "CSV with a row per epoch, under any name: Keras's CSVLogger, a loop of one's own"

#: Ends of names that name a framework, and ours.
_FRAMEWORKS = {
    **{name: name for name in ("cntk", "jax", "mxnet", "tensorflow", "theano", "torch", "keras")},
    "pytorch": "torch",
    "tf": "tensorflow",
}

_EPOCH = ("epoch", "epochs", "ep")

#: Programs by the columns that they write, and by those that they do not.
_WRITERS = (
    ("Keras's CSVLogger", {"epoch", "loss"}, {"train_loss", "train_acc", "eval_loss", "lr"}),
    ("timm's summary.csv", {"epoch", "train_loss", "eval_loss"}, {"val_loss", "loss"}),
)
_ADDS = {"Keras's CSVLogger": ": the callback of docs/importing.md adds it"}


def read(folder: Path, layout: Layout) -> Imported:
    """Return the runs of the CSV files below `folder`. Raises InputError if there is no such folder."""
    return _logs.read_logs(folder, layout, (".csv", ".log"), runs_of)


def looks(name: PurePosixPath, text: str) -> bool:
    """Return whether a file is one of these, by its name and its beginning."""
    header = [naming.plain(cell) for cell in text.partition("\n")[0].split(",")]
    return name.suffix.lower() in (".csv", ".log") and _EPOCH[0] in header and any("loss" in cell for cell in header)


def runs_of(log: Log) -> Iterator[dict[str, Any]]:
    """Yield the run of a table. Raises Refused for one without epochs or without any loss."""
    workload, _, framework = log.name.stem.rpartition("_")
    named = {"workload": workload or None, "framework": _FRAMEWORKS[framework]} if framework in _FRAMEWORKS else {}
    yield named | facts(log.text)


def facts(text: str) -> dict[str, Any]:
    """Return the facts of one training from its epochs. Raises Refused for what has none."""
    table = _table.read(text)
    column = table.column(*_EPOCH)
    if column is None:
        raise Refused("column epoch is missing: a row of each epoch is what is read", 1)
    epochs = table.numbers(column)
    for (line, cells), epoch in zip(table.rows, epochs, strict=True):
        if epoch is None or not finite(epoch + 1):
            raise Refused(f"{column}: {_logs.shown(cells[table.header.index(column)])} is not a number", line)
    values = table.values()
    ends = _metrics.last(values)
    if ends["loss"] is None and ends["val_loss"] is None and ends["status"] == "done":
        raise Refused("no column of a loss: loss, train_loss or val_loss", 1)
    said, notes = _table.times(table, [float(index + 1) for index in range(len(epochs))])
    return {
        **ends,
        "epochs_done": len(epochs),
        "notes": notes,
        "epochs": _by_epoch(table, said.get("epoch_seconds", ())),
        "said": Said(**said, epochs=float(len(epochs)), lacks=_lacks(table.header)),
    }


def _lacks(header: Sequence[str]) -> str:
    """Return what a table without times lacks, by the program that writes its columns, where one is known."""
    named = {naming.plain(cell) for cell in header}
    writer = next((name for name, with_, without in _WRITERS if with_ <= named and not without & named), None)
    if writer is None:
        return "no column is a time: elapsed or epoch_time, the seconds of each epoch, or timestamp"
    return f"{writer} has no column elapsed, the seconds of each epoch{_ADDS.get(writer, '')}"


def _by_epoch(table: _table.Table, seconds: Sequence[float]) -> list[dict[str, Any]]:
    """Return the table of epochs, with times where each has one."""
    columns = {name: _metrics.scaled(name, table.numbers(name)) for name in table.header}
    rows = []
    for index in range(len(table.rows)):
        ends = _metrics.last({name: [one] for name, cells in columns.items() if (one := cells[index]) is not None})
        elapsed = seconds[index] if len(seconds) == len(table.rows) else None
        rows.append({"epoch": index, "elapsed": elapsed} | {key: ends[key] for key in ends if key != "status"})
    return rows
