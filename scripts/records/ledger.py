"""The project's own ledger: what minutes of the recorder promised of real trainings, and what these then took."""

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from statistics import median

from scripts.storage.errors import InputError
from scripts.storage.files import read_csv, write_text

#: Kinds of measured minutes, judged apart: without any doubt, beside other programs, in doubt for other reasons.
KINDS = {
    "quiet": "where nothing was in doubt",
    "disturbed": "where other programs disturbed it",
    "in doubt": "where it was in doubt otherwise",
}

#: Promised and taken that lie no further apart than this factor agree.
NEAR = 1.15


@dataclass(frozen=True)
class Training:
    """A training that `epd run --whole` measured to its end, and what it promised when so many seconds were measured.

    `promised_seconds` is None where nothing said how long the whole is. `doubts` are the recorder's own.
    """

    date: str
    commit: str
    program: str
    label: str
    read_from: str
    machine: str
    measured_seconds: float
    promised_seconds: float | None
    taken_seconds: float
    doubts: str = ""

    @property
    def factor(self) -> float | None:
        """Return what was taken over what was promised."""
        return self.taken_seconds / self.promised_seconds if self.promised_seconds else None

    @property
    def off(self) -> float | None:
        """Return how far both lie apart, as a factor of 1 or more."""
        return max(self.factor, 1 / self.factor) if self.factor else None

    @property
    def kind(self) -> str:
        """Return of which of `KINDS` the measured minute was."""
        return "disturbed" if "disturbed:" in self.doubts else "in doubt" if self.doubts else "quiet"


COLUMNS = tuple(field.name for field in fields(Training))


def read(path: Path) -> list[Training]:
    """Return the trainings of a ledger. Raises InputError for what is none, with file and line."""
    return [_training(place, row) for place, row in read_csv(path, COLUMNS)]


def _training(place: str, row: dict[str, str]) -> Training:
    values: dict[str, str | float | None] = dict(row)
    for name in ("measured_seconds", "promised_seconds", "taken_seconds"):
        if name == "promised_seconds" and not row[name]:
            values[name] = None
            continue
        try:
            values[name] = float(row[name])
        except ValueError:
            values[name] = 0.0
        if not 0 < values[name] < 1e12:  # type: ignore[operator]
            raise InputError(f"{place}: {name} must be a number above 0, not {row[name]!r}")
    return Training(**values)  # type: ignore[arg-type]


def with_new(rows: Iterable[Training], new: Sequence[Training]) -> list[Training]:
    """Return rows with new ones: in the place of those of the same program, commit, machine and measured time."""
    keys = {_key(row) for row in new}
    return sorted([*(row for row in rows if _key(row) not in keys), *new], key=lambda row: row.date)


def _key(row: Training) -> tuple[str, str, str, float]:
    return row.program, row.commit, row.machine, row.measured_seconds


def write(path: Path, rows: Iterable[Training]) -> None:
    """Write a ledger."""
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: _text(value) for name, value in asdict(row).items()} for row in rows)
    write_text(path, text.getvalue())


def _text(value: str | float | None) -> str:
    return "" if value is None else f"{value:.6g}" if isinstance(value, float) else value


def newest(rows: Sequence[Training]) -> list[Training]:
    """Return the trainings of the newest date."""
    last = max(row.date for row in rows)
    return [row for row in rows if row.date == last]


def summary(rows: Iterable[Training]) -> str:
    """Return in words how well promises held, by kind of minute, of all that promised something."""
    offs: dict[str, list[float]] = {kind: [] for kind in KINDS}
    for row in rows:
        if row.off is not None:
            offs[row.kind].append(row.off)
    parts = [
        f"off by a factor of {median(those):.2f} in the median, {max(those):.2f} at most, {KINDS[kind]} "
        f"({sum(off <= NEAR for off in those)} of {len(those)} within {NEAR:g})"
        for kind, those in offs.items()
        if those
    ]
    if not parts:
        return "nothing was promised"
    return "; ".join(parts if offs["quiet"] else [*parts, "none was measured on a quiet machine"])
