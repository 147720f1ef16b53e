"""TensorBoard's event files, by the reader that `epd run` has of files that grow."""

import struct
from collections.abc import Iterable
from pathlib import Path

from scripts.importers._recorder import stores

#: What is wrong with a file that holds no events: the reader's words for a number, a message, a record.
FAULTS = (ValueError, IndexError, TypeError, struct.error)


def files(folder: Path) -> list[Path]:
    """Return the event files in a folder and below it, sorted."""
    return sorted(path for path in folder.rglob("*tfevents*") if path.is_file()) if folder.is_dir() else []


def rows(paths: Iterable[Path]) -> list[stores.Logged]:
    """Return the events of some files in the order of their times. Raises one of `FAULTS` for what are none."""
    return sorted((event for path in paths for event in stores.events(path.read_bytes())[0]), key=lambda one: one.at)


def clock(folder: Path) -> list[tuple[float, float | None]]:
    """Return when each event below a folder was written, and its step; None of its beginning."""
    try:
        found = rows(files(folder))
    except FAULTS:
        return []
    return [(event.at, event.step if event.values else None) for event in found]
