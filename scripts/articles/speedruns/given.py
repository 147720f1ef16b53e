"""The printed records of speedruns, and what their logs say."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scripts.articles.speedruns.logs import CURVES, LOGS
from scripts.storage.errors import InputError
from scripts.storage.files import read_csv
from scripts.storage.numbers import written
from scripts.studies.definition import ROOT

#: Columns of the table of records: a row per printed row.
COLUMNS = ("source", "track", "record", "date", "seconds", "system", "description", "log", "note")

#: How a note says that a row is an old record on another clock, or with other software.
RETIMED = "timed anew"


@dataclass(frozen=True)
class Given:
    """The rows of the tables of `records`, of their `logs` and of `curves`, all texts."""

    records: Sequence[Mapping[str, str]]
    logs: Sequence[Mapping[str, str]]
    curves: Sequence[Mapping[str, str]]


def read(study: Mapping[str, Any]) -> Given:
    """Return what a study's speedruns are. Raises InputError for a file that is not there, or is damaged."""
    about = study["speedruns"]
    found = Given(
        records(ROOT / about["records"]),
        _rows(ROOT / about["logs"], LOGS),
        _rows(ROOT / about["curves"], CURVES),
    )
    for row in found.records:
        for column, known in (("track", about["tracks"]), ("system", about["machines"])):
            if row[column] not in known:
                raise InputError(f"{about['records']}: {column}: {row[column]!r} is not one of {', '.join(known)}")
    return found


def records(path: Path) -> list[dict[str, str]]:
    """Return the printed records. Raises InputError for one whose time is no number above 0."""
    for place, row in read_csv(path, COLUMNS, cut=False):
        if not (written(row["seconds"]) or 0) > 0:
            raise InputError(f"{place}: seconds: {row['seconds']!r} must be a number above 0")
    return _rows(path, COLUMNS)


def is_retimed(row: Mapping[str, str]) -> bool:
    """Return whether a row is no new record, but an old one timed again."""
    return RETIMED in row["note"]


def is_drawn(row: Mapping[str, str], about: Mapping[str, Any]) -> bool:
    """Return whether the curve of a record is shown."""
    is_first_track = row["track"] == next(iter(about["tracks"]))
    return is_first_track and int(row["record"]) in about["curves_of"] and not is_retimed(row)


def _rows(path: Path, columns: Sequence[str]) -> list[dict[str, str]]:
    return [row for _, row in read_csv(path, columns, cut=False)]
