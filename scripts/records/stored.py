"""A run's folder, read whole: its record, its epochs, its telemetry and the end of its log."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scripts.records import record
from scripts.records.samples import Sample
from scripts.records.seen import Rows, Seen
from scripts.storage.words import printable

#: What stands between the lines of a log's tail: a row of the table stays one line.
LOG_LINE = " | "

#: Lines that are kept of a run's log, and letters of each.
_LOG_LINES, _LOG_LETTERS = 5, 160


@dataclass(frozen=True)
class Stored:
    """What the files of a run hold; `file` names its `run.json` in messages."""

    file: str
    run: dict[str, Any]
    epochs: list[dict[str, Any]]
    samples: list[Sample]
    log_tail: str | None


def find(folder: Path) -> list[Path]:
    """Return the `run.json` of each run of a study's folder."""
    return sorted(folder.glob("*/*/*/*/r*/run.json"))


def read(path: Path) -> Stored:
    """Return what a `run.json` and the files beside it hold. Raises InputError that names the file that is damaged."""
    return Stored(
        str(path),
        record.read_run(path),
        record.read_epochs(path.with_name("epochs.csv"), record.EPOCH_COLUMNS),
        record.read_telemetry(path.with_name("telemetry.csv")),
        log_tail(path.with_name("train.log")),
    )


def each(
    folder: Path, files: Iterable[Path], rows_of: Callable[[str, Stored], Rows], seen: Seen | None = None
) -> Iterator[Rows]:
    """Yield what `rows_of` makes of each run; its name is the path of its folder below `folder`.

    Runs that were `seen` before are not read again.
    """
    for path in files:
        name = str(path.parent.relative_to(folder))
        yield seen.rows(name, path, lambda: rows_of(name, read(path))) if seen else rows_of(name, read(path))  # noqa: B023, called at once


def log_tail(path: Path) -> str | None:
    """Return the last lines of a run's log; None without one, as of a record that was handed over alone."""
    if not path.is_file():  # a pipe would never end
        return None
    try:
        with path.open("rb") as log:
            log.seek(max(0, path.stat().st_size - _LOG_LINES * 4 * _LOG_LETTERS))
            text = log.read().decode("utf-8", "replace")
    except OSError:
        return None
    lines = [printable(line)[:_LOG_LETTERS] for line in text.splitlines() if line.strip()]
    return LOG_LINE.join(lines[-_LOG_LINES:]) or None
