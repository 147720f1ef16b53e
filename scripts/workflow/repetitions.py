"""A scheduled study: its repetitions on disk, which of them is at work, and every trigger that was.

`results/STUDY` holds the repetition at work or the last one that ended, `history/STUDY/<when its last run ended>` each
one before. Every step leaves what the next trigger can go on from, wherever it is killed: see `History.begin`.
"""

import csv
import io
import json
import os
import re
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pandas as pd

from scripts.analysis import clocks
from scripts.storage import schemas, tables
from scripts.storage.errors import InputError
from scripts.storage.files import locked, read_csv, read_text, write_text
from scripts.workflow import intervals

#: What a trigger may come to.
STARTED, RESUMED, DONE, FAILED, OVERLAPPED = "started", "resumed", "done", "failed", "overlapped"

#: From then on none is missed.
UNSCHEDULED = "unscheduled"

_WHATS = (STARTED, RESUMED, DONE, FAILED, OVERLAPPED, UNSCHEDULED)

#: Columns of triggers.csv: when (UTC), what, how long it took (s) and its exit code where it ended, and the interval
#: that it was scheduled with, empty for one by hand.
COLUMNS = ("at", "what", "seconds", "exit_code", "every")

#: What a complete repetition has.
WHOLE = ("report.html", *(f"{table}.parquet" for table in ("runs", "epochs", "attempts", "costs", "prices")))

#: Where refreshed prices are recorded: no study's name begins so.
PRICES = "_prices"

_MOMENT, _FOLDER = "%Y-%m-%dT%H:%M:%SZ", "%Y-%m-%dT%H%M%SZ"


def moment(when: datetime) -> str:
    """Return a time as triggers.csv has it."""
    return when.astimezone(UTC).strftime(_MOMENT)


def folder_name(when: datetime) -> str:
    """Return a time as the folder of a repetition is called, such as 2026-11-23T021015Z."""
    return when.astimezone(UTC).strftime(_FOLDER)


def folder_time(name: str) -> datetime | None:
    """Return the time of a repetition's folder, None for another name."""
    try:
        return datetime.strptime(name, _FOLDER).replace(tzinfo=UTC)
    except ValueError:
        return None


@dataclass(frozen=True)
class History:
    """The repetitions of a study (or `PRICES`) in a clone at `root`."""

    name: str
    root: Path

    @property
    def folder(self) -> Path:
        """Where earlier repetitions and the record of triggers lie."""
        return self.root / "history" / self.name

    @property
    def results(self) -> Path:
        """Where the repetition at work, or the last one, lies."""
        return self.root / "results" / self.name

    @property
    def page(self) -> Path:
        """The page of the history: with what it shows, where no `make clean` removes it and no repetition moves it."""
        return self.folder / "history.html"

    def locked(self) -> AbstractContextManager[int | None]:
        """Yield the lock of this study as a file number, None where another trigger holds it.

        A child that is given the number holds the lock too, for as long as it lives.
        """
        return locked(self.folder / ".lock", wait=False)

    def record(self, what: str, when: datetime, every: str, seconds: float | None = None, code: int | None = None):
        """Add a row to triggers.csv, which is whole at any time; triggers that overlap write one after the other."""
        with locked(self.folder / ".triggers.lock"):
            rows = [row for _, row in self.triggers()]
            rows.append(
                {
                    "at": moment(when),
                    "what": what,
                    "seconds": "" if seconds is None else f"{seconds:.0f}",
                    "exit_code": "" if code is None else str(code),
                    "every": every,
                }
            )
            text = io.StringIO()
            writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
            write_text(self.folder / "triggers.csv", text.getvalue())

    def triggers(self) -> list[tuple[str, dict[str, str]]]:
        """Return (place, row) of each trigger so far, the oldest first. Raises InputError for what is no such table."""
        path = self.folder / "triggers.csv"
        rows = read_csv(path, COLUMNS, cut=False) if path.exists() else []
        for place, row in rows:
            _check_trigger(place, row)
        return rows

    # The repetition at work.

    def is_complete(self) -> bool:
        """Return whether the repetition in `results` came to its end."""
        return all((self.results / name).is_file() for name in WHOLE)

    def begin(self, now: datetime) -> tuple[str, str]:
        """Make room for a repetition: return `STARTED` or `RESUMED`, and its id (where its runs lie in a bucket).

        The id is written before what was is moved aside: killed between the two, the next trigger takes a new one. An
        id whose repetition has not ended is kept, so that runs in the bucket are found again; one that has is never
        used again, as its runs would be. A study whose first runs were asked for by hand has the empty id.
        """
        current = self._current()
        if self.is_complete():
            self._write_current(folder_name(now))
            self._move_aside()
            return STARTED, folder_name(now)
        if self.results.is_dir():
            self._write_current(self.current_id())
            return RESUMED, self.current_id()
        if current and not current["ended"]:
            return RESUMED, current["id"]
        self._write_current(folder_name(now))
        return STARTED, folder_name(now)

    def end(self) -> None:
        """Note that the repetition at work came to its end."""
        self._write_current(self.current_id(), ended=True)

    def current_id(self) -> str:
        """Return the id of the repetition at work, empty where there is none or it has none."""
        return self._current().get("id", "")

    def _current(self) -> dict[str, Any]:
        path = self.folder / "current.json"
        return schemas.parse_json(read_text(path), "current", path) if path.exists() else {}

    def _write_current(self, repetition: str, ended: bool = False) -> None:
        write_text(self.folder / "current.json", json.dumps({"id": repetition, "ended": ended}) + "\n")

    def _move_aside(self) -> None:
        target = self.folder / folder_name(last_end(self.results))
        if target.exists():
            raise InputError(
                f"{target}: is there already, and its last run ended when that of {self.results} did: move one of them "
                "away"
            )
        try:
            os.rename(self.results, target)
        except OSError as error:
            raise InputError(f"{self.results}: cannot be moved to {target}: {error.strerror}") from error

    def repetitions(self) -> list[Path]:
        """Return the folders of the repetitions that are complete, in their order; the last may be `results`."""
        earlier = sorted(path for path in self.folder.glob("*Z") if folder_time(path.name) and path.is_dir())
        return [*earlier, *([self.results] if self.is_complete() else [])]


def _check_trigger(place: str, row: Mapping[str, str]) -> None:
    """Raise InputError for a row of triggers.csv that no trigger wrote."""
    try:
        is_moment = datetime.strptime(row["at"], _MOMENT).strftime(_MOMENT) == row["at"]
    except ValueError:
        is_moment = False
    if not is_moment:
        raise InputError(f"{place}: at: {row['at']!r} is not a time (UTC, YYYY-MM-DDThh:mm:ssZ)")
    if row["what"] not in _WHATS:
        raise InputError(f"{place}: what: {row['what']!r} is not one of {', '.join(_WHATS)}")
    for key in ("seconds", "exit_code"):
        if row[key] and not re.fullmatch(r"\d+", row[key], re.ASCII):
            raise InputError(f"{place}: {key}: {row[key]!r} is not a whole number")
    if row["every"]:
        try:
            intervals.interval(row["every"])
        except InputError as error:
            raise InputError(f"{place}: {error}") from None


def last_end(folder: Path) -> datetime:
    """Return when the last run of a repetition ended; of one without any that began, when its tables were written."""
    path = folder / "runs.parquet"
    runs = tables.read(path)
    began = pd.to_datetime(runs["started_at"], utc=True, format="ISO8601", errors="coerce")
    ended = (began + pd.to_timedelta(clocks.lived_seconds(runs).fillna(0.0), unit="s")).dropna()
    return ended.max().floor("s").to_pydatetime() if len(ended) else datetime.fromtimestamp(path.stat().st_mtime, UTC)
