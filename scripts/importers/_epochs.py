"""Logs by epoch: CSV text with a row per epoch, as this field's studies have published since 2017."""

import csv
import io
from math import fsum, isfinite
from statistics import median
from typing import Any

from scripts.importers._logs import Refused, finite, number, shown

COLUMNS = ("epoch", "elapsed", "loss", "acc", "val_loss", "val_acc")
_NEEDED = COLUMNS[:3]

#: What Keras's CSVLogger writes for a value that an epoch does not have.
_NO_VALUE = "NA"

#: What Keras has called accuracies since 2019.
_TODAY = {"accuracy": "acc", "val_accuracy": "val_acc"}

#: No epoch takes longer (s).
_LONGEST = 1e9


def parse(text: str) -> dict[str, Any]:
    """Return the facts of one training from its epochs: status, times (s), final values, missing columns,
    and `epochs`, a mapping of `COLUMNS` for each.

    `elapsed` is the wall time of an epoch (s) with its validation pass; columns beyond `COLUMNS` are
    passed over. Raises Refused with the line of what cannot be used.
    """
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        header = _header(next(reader, []))
        rows = [_row(header, cells, reader.line_num) for cells in reader if cells]
    except csv.Error as error:
        raise Refused(f"not CSV: {error}", reader.line_num) from error
    if not rows:
        raise Refused("no epoch", reader.line_num)
    seconds = [_seconds(index, row, line) for index, (line, row) in enumerate(rows)]
    if sum(seconds) == 0:
        raise Refused("elapsed: the epochs together take 0 seconds", reader.line_num)
    table = {column: [row.get(column) for _, row in rows] for column in COLUMNS}
    losses = [value for column in ("loss", "val_loss") for value in table[column] if value is not None]
    return {
        "status": "done" if all(isfinite(loss) for loss in losses) else "diverged",
        "epochs_done": len(rows),
        "train_seconds": fsum(seconds),
        "first_epoch_seconds": seconds[0],
        "median_epoch_seconds": median(seconds[1:]) if len(rows) > 1 else None,
        **{column: finite(table[column][-1]) for column in COLUMNS[2:]},
        "epochs": [{column: finite(row.get(column)) for column in COLUMNS} for _, row in rows],
        "missing_columns": ",".join(column for column in COLUMNS if table[column] == [None] * len(rows)),
    }


def _seconds(index: int, row: dict[str, float | None], line: int) -> float:
    """Return the time of epoch `index`. Raises Refused if the row is another epoch's or no time can be so."""
    epoch, elapsed = row["epoch"], row["elapsed"]
    if epoch != index:
        raise Refused(f"epoch: {epoch:g} must be {index}; epochs count from 0, each once, in order", line)
    if elapsed is None or not 0 <= elapsed <= _LONGEST:
        raise Refused(f"elapsed: {elapsed} must be from 0 to {_LONGEST:g} seconds", line)
    return elapsed


def _header(cells: list[str]) -> list[str]:
    header = [_TODAY.get(cell.strip(), cell.strip()) for cell in cells]
    for column in _NEEDED:
        if column not in header:
            raise Refused(f"column {column} is missing; needed are {', '.join(_NEEDED)}", 1)
    for column in COLUMNS:
        if header.count(column) > 1:
            raise Refused(f"column {column} is given twice", 1)
    return header


def _row(header: list[str], cells: list[str], line: int) -> tuple[int, dict[str, float | None]]:
    """Return the line and its values; an empty cell is None where the column may be missing."""
    if len(cells) != len(header):
        raise Refused(f"{len(cells)} cells, but the header has {len(header)}", line)
    row: dict[str, float | None] = {}
    for column, cell in zip(header, cells, strict=True):
        if column in COLUMNS:
            cell = "" if cell.strip() == _NO_VALUE else cell
            row[column] = number(cell)
            value = row[column]
            if value is None and (cell.strip() or column in _NEEDED):
                raise Refused(f"{column}: {shown(cell)} is not a number", line)
            if column.endswith("acc") and value is not None and isfinite(value) and not 0 <= value <= 1:
                raise Refused(f"{column}: {value:g} is no accuracy: from 0 to 1", line)
    return line, row
