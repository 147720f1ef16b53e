"""Logs that are tables: CSV with a row per epoch or step, of whatever program, and the time that its columns say."""

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise
from math import isfinite
from typing import Any

from scripts.importers._logs import Refused, number
from scripts.importers.naming import plain

#: Columns of seconds: of each row, or since the beginning; and of a clock. Small, with _ between the words.
_SECONDS = (
    *("elapsed", "epoch_time", "epoch_seconds", "epoch_duration", "time_per_epoch", "seconds", "duration", "time"),
    *("time_s", "time_sec", "time_seconds", "elapsed_time", "elapsed_seconds", "elapsed_s", "train_time", "runtime"),
)
_CLOCK = ("timestamp", "wall_time", "walltime", "datetime", "date", "time", "created_at")

#: UNIX times begin here for what trains: 2001.
_LEAST_CLOCK = 1e9

#: A column of seconds that rises from row to row, to so many times its first value, counts from the beginning.
_RISES = 1.8


@dataclass(frozen=True)
class Table:
    """A CSV: names of its columns, and for each row its line and its cells."""

    header: Sequence[str]
    rows: Sequence[tuple[int, Sequence[str]]]

    def column(self, *names: str) -> str | None:
        """Return the first of the columns of some names (as `plain` writes them), None if there is none."""
        known = {plain(name): name for name in reversed(self.header)}
        return next((known[name] for name in names if name in known), None)

    def cells(self, column: str | None) -> list[str]:
        """Return the cells of a column, "" for none."""
        place = self.header.index(column) if column is not None else None
        return ["" if place is None else cells[place].strip() for _, cells in self.rows]

    def numbers(self, column: str | None) -> list[float | None]:
        """Return the numbers of a column, None where a cell holds none."""
        return [number(cell) for cell in self.cells(column)]

    def values(self) -> dict[str, list[float]]:
        """Return the numbers of each column, without what is empty."""
        return {name: [one for one in self.numbers(name) if one is not None] for name in self.header}


def read(text: str) -> Table:
    """Return the table that a CSV holds. Raises Refused for what is none."""
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    rows: list[tuple[int, Sequence[str]]] = []
    try:
        header = [cell.strip() for cell in next(reader, [])]
        for cells in filter(None, reader):
            if len(cells) != len(header):
                raise Refused(f"{len(cells)} cells, but the header has {len(header)}", reader.line_num)
            rows.append((reader.line_num, cells))
    except csv.Error as error:
        raise Refused(f"not CSV: {error}", reader.line_num) from error
    if not rows:
        raise Refused("no row below the header", 1)
    return Table(header, rows)


def times(table: Table, steps: Sequence[float | None]) -> tuple[dict[str, Any], list[str]]:
    """Return what the columns of a table say of the time, as keys of `_seconds.Said`, and how they were read.

    `steps` is how many steps or epochs were done at each row.
    """
    if column := table.column(*_CLOCK):
        moments = [moment(cell) for cell in table.cells(column)]
        if any(one is not None for one in moments):
            clock = [(at, done) for at, done in zip(moments, steps, strict=True) if at is not None]
            return {"clock": clock}, []
    if column := table.column(*_SECONDS):
        seconds = [one for one in table.numbers(column) if one is not None]
        if seconds and all(isfinite(one) and one >= 0 for one in seconds) and max(seconds) < _LEAST_CLOCK:
            if since := from_the_beginning(seconds):
                note = f"{column} rises from row to row: read as seconds since the beginning"
                return {"epoch_seconds": since}, [note]
            return {"epoch_seconds": seconds}, []
    return {}, []


def from_the_beginning(seconds: Sequence[float]) -> list[float] | None:
    """Return the time of each row where a column counts from the beginning; None for one that says each row's own."""
    rises = all(later > earlier for earlier, later in pairwise(seconds))
    if len(seconds) < 2 or not rises or seconds[-1] < max(_RISES, len(seconds) / 2) * seconds[0]:
        return None
    return since(seconds)


def since(seconds: Sequence[float]) -> list[float]:
    """Return the time of each row of a column that counts from the beginning, anew after each resumption."""
    return [later - earlier if later >= earlier else later for earlier, later in pairwise([0.0, *seconds])]


def moment(cell: str) -> float | None:
    """Return the UNIX time that a cell writes, as a number (s, or ms) or a date with a time; None for none."""
    value = number(cell)
    if value is not None:
        value = value / 1000 if value >= 1000 * _LEAST_CLOCK else value
        return value if isfinite(value) and value >= _LEAST_CLOCK else None
    try:
        read_as = datetime.fromisoformat(cell)
    except ValueError:
        return None
    return (read_as if read_as.tzinfo else read_as.replace(tzinfo=UTC)).timestamp()
