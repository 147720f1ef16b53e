"""The ledger: what minutes have promised, and what the wholes then took and cost. One row a run, no names."""

from __future__ import annotations

import contextlib
import csv
import fcntl
import os
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from statistics import median
from typing import Any, TextIO

from epochs_per_dollar import words

#: Promised and paid that lie no further apart than this factor agree.
NEAR = 1.15


class LedgerError(Exception):
    """A ledger that cannot be read; the text says where and why."""


@dataclass(frozen=True)
class Row:
    """A run that went on to its end: what was promised after so many measured minutes, and what was paid.

    `record` is the name of its record, its date and time. Dollars are None where no price of an hour is known, and
    seconds that were paid where an invoice alone was given. `factor` is paid over promised: of the seconds, or of the
    dollars where only these are known. `doubts` are those of the record, empty where it has none.
    """

    date: str
    record: str
    read_from: str
    machine: str
    measured_minutes: float | None
    promised_seconds: float
    paid_seconds: float | None
    promised_usd: float | None
    paid_usd: float | None
    factor: float
    doubts: str = ""

    def __post_init__(self) -> None:
        if not words.is_day(self.date):
            raise ValueError("date must be a day (YYYY-MM-DD) that is not to come")
        for name, value in asdict(self).items():
            if name in _TEXTS and value != words.harmless(value):
                raise ValueError(f"{name} holds what a terminal or a table would obey")
            if name not in _TEXTS and value is not None and not 0 < value < words.LARGEST:
                raise ValueError(f"{name} must be a number above 0")

    @property
    def off(self) -> float:
        """Return how far promised and paid lie apart, as a factor of 1 or more."""
        return max(self.factor, 1 / self.factor)

    @property
    def kind(self) -> str:
        """Return of which of `KINDS` the measured minute was."""
        return "disturbed" if "disturbed:" in self.doubts else "in doubt" if self.doubts else "quiet"


COLUMNS = [field.name for field in fields(Row)]
_TEXTS = ("date", "record", "read_from", "machine", "doubts")
#: Columns of ledgers that were begun before there were doubts in them.
_OLD_COLUMNS = COLUMNS[:-1]

#: Kinds of measured minutes, judged apart: without any doubt, beside other programs, in doubt for other reasons.
KINDS = {
    "quiet": "where nothing was in doubt",
    "disturbed": "where other programs disturbed it",
    "in doubt": "where it was in doubt otherwise",
}
_NEVER_EMPTY = ("promised_seconds", "factor")


def read(path: Path) -> list[Row]:
    """Return the rows of a ledger, none where there is no file. Raises LedgerError for what is no ledger."""
    try:
        if path.exists() and not path.is_file():  # a pipe would never end
            raise OSError("it is not a file")
        with path.open(encoding="utf-8", newline="") as file:
            lines = list(csv.reader(file))
    except FileNotFoundError:
        return []
    except (OSError, ValueError, csv.Error) as error:
        raise LedgerError(f"{path}: it cannot be read: {error}") from None
    if not lines or lines[0] not in (COLUMNS, _OLD_COLUMNS):
        raise LedgerError(f"{path}: line 1: a ledger begins with {','.join(COLUMNS)}")
    return [_row(path, number, lines[0], line) for number, line in enumerate(lines[1:], 2)]


def _row(path: Path, number: int, columns: Sequence[str], line: Sequence[str]) -> Row:
    if len(line) != len(columns):
        raise LedgerError(f"{path}: line {number}: it has {len(line)} values, and {len(columns)} columns")
    values: dict[str, Any] = dict(zip(columns, line))
    for name in columns:
        if name in _TEXTS:
            continue
        values[name] = words.number(values[name]) if values[name] or name in _NEVER_EMPTY else None
    try:
        return Row(**values)
    except ValueError as error:
        raise LedgerError(f"{path}: line {number}: {error}") from None


def _cell(value: Any) -> Any:
    return "" if value is None else f"{value:.6g}" if isinstance(value, float) else value


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the ledger: who writes to it meanwhile waits."""
    # A link there could name anything.
    lock = os.open(path.with_name(f".{path.name}.lock"), os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[TextIO]:
    """Yield a file that takes the place of `path` where the block ends well. Its lock is the caller's: see `locked`."""
    remove_parts(path)
    part = path.with_name(f".{path.name}-{os.getpid()}")
    try:
        with part.open("x", encoding="utf-8", newline="") as file:  # a link there could name anything
            yield file
            file.flush()
            os.fsync(file.fileno())
        if path.exists():
            part.chmod(path.stat().st_mode & 0o777)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def remove_parts(path: Path) -> None:
    """Remove what calls that were killed have left half-written of a file."""
    for part in path.parent.glob(f".{path.name}-*"):
        part.unlink(missing_ok=True)


def put(path: Path, row: Row) -> bool:
    """Add a row, in the place of that of the same record; return whether there was one.

    Raises OSError where the folder cannot be written, and LedgerError for what is no ledger.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with locked(path):
        rows = read(path)
        others = [one for one in rows if one.record != row.record]
        with replacing(path) as file:
            writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
            writer.writeheader()
            for one in sorted([*others, row], key=lambda one: one.record):
                writer.writerow({name: _cell(value) for name, value in asdict(one).items()})
    return len(others) < len(rows)


def summary(rows: Sequence[Row]) -> str:
    """Return how well promises held, by kind of minute: the median factor, and how many lie within `NEAR`."""
    parts = []
    for kind, where in KINDS.items():
        if offs := [row.off for row in rows if row.kind == kind]:
            near = f"{sum(off <= NEAR for off in offs)} of {len(offs)} within {NEAR:g}"
            parts.append(f"off by a factor of {median(offs):.2f} in the median {where} ({near})")
    return "; ".join(parts)


def table(rows: Sequence[Row]) -> str:
    """Return the rows as a table for a terminal."""
    lines = [
        f"{'date':<12}{'read from':<24}{'machine':<16}{'promised':>14}{'paid':>14}{'USD':>20}{'factor':>8}  minute"
    ]
    for row in rows:
        paid = "" if row.paid_seconds is None else words.seconds(row.paid_seconds)
        lines.append(
            f"{row.date:<12}{row.read_from[:22]:<24}{row.machine[:14]:<16}{words.seconds(row.promised_seconds):>14}"
            f"{paid:>14}{_dollars(row):>20}{row.factor:>8.2f}  {row.kind}"
        )
    return "\n".join(lines)


def _dollars(row: Row) -> str:
    known = [value for value in (row.promised_usd, row.paid_usd) if value is not None]
    return " -> ".join(words.usd(value).replace(" USD", "") for value in known)
