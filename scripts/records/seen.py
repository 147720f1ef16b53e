"""What run records came to when they were last read: one whose files have not changed is not read again."""

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from scripts.storage import seal
from scripts.storage.files import read_text, write_text

_ROOT = Path(__file__).resolve().parents[2]

#: What decides what a record comes to, below the project's folder.
_CODE = (
    "scripts/analysis/*.py",
    "scripts/records/*.py",
    "scripts/storage/*.py",
    "config/schemas/*",
)

#: The files of a record, and its log, whose end is a column.
_FILES = ("run.json", "epochs.csv", "telemetry.csv", "train.log")

#: A row of the runs table, rows of the epochs and of the attempts table.
Rows = tuple[dict[str, Any], list[dict[str, Any]], list[dict[str, Any]]]


def code() -> str:
    """Return a checksum of all that decides what a record comes to."""
    found = hashlib.sha256()
    for pattern in _CODE:
        for path in sorted(_ROOT.glob(pattern)):
            found.update(path.read_bytes())
    return found.hexdigest()


class Seen:
    """The rows of each record by its name, kept in a file with checksums of the files that they were made from.

    A file that was edited or damaged, or was written by other code or another clone, counts as missing. What is not
    asked for again is forgotten.
    """

    def __init__(self, file: Path) -> None:
        self._file, self._code = file, code()
        self._now: dict[str, list[Any]] = {}
        try:
            kept = json.loads(read_text(file))
            is_whole = kept["code"] == self._code and kept["seal"] == seal.of(json.dumps(kept["rows"]))
            self._before: dict[str, list[Any]] = kept["rows"] if is_whole and _are_rows(kept["rows"]) else {}
        except (ValueError, KeyError, TypeError, RecursionError):
            self._before = {}
        self.read = 0

    def rows(self, name: str, record: Path, read: Callable[[], Rows]) -> Rows:
        """Return the rows of a record (the path of its `run.json`); `read` them if its files have changed."""
        files = [record.with_name(file) for file in _FILES]
        made_from = [hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else None for path in files]
        kept = self._before.get(name)
        if not kept or kept[0] != made_from:
            self.read += 1
            kept = [made_from, *read()]
        self._now[name] = kept
        return kept[1], kept[2], kept[3]

    def save(self) -> None:
        """Write what was seen."""
        kept = {"code": self._code, "seal": seal.of(json.dumps(self._now)), "rows": self._now}
        write_text(self._file, json.dumps(kept))


def _are_rows(kept: Any) -> bool:
    """Return whether a JSON value is what `Seen` keeps: checksums of files and `Rows`, by the name of their record."""
    return isinstance(kept, dict) and all(
        isinstance(one, list)
        and [*map(type, one)] == [list, dict, list, list]
        and all(isinstance(row, dict) for row in (*one[2], *one[3]))
        for one in kept.values()
    )
