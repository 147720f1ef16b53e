"""Files that are whole or not there: written under a temporary name, then renamed; and CSV read strictly."""

import csv
import fcntl
import glob
import os
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from scripts.storage.errors import InputError

#: Younger files are left alone.
_NEW_SECONDS = 2.0


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a temporary path beside `path`; renamed to `path` when the block ends without an error.

    Raises InputError when the disk is full, the folder cannot be written, or `path` is a device, a pipe or a folder.
    """
    if path.exists() and not path.is_file():
        raise InputError(f"{path}: cannot be written: it is not a file")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _remove_strays(path)
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=path.suffix, dir=path.parent)
        temporary = Path(name)
        try:
            # Held until this process ends, however it ends: what nobody holds is a stray.
            with suppress(OSError):  # a file system without locks
                fcntl.flock(handle, fcntl.LOCK_EX)
            yield temporary
            temporary.chmod(0o644)
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)
            os.close(handle)
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror or error}") from error


def _remove_strays(path: Path) -> None:
    """Remove what a process that was killed left half-written of `path`; a living one holds a lock on its own."""
    # Named by mkstemp, eight letters: an editor's file of a similar name is not ours.
    for stray in path.parent.glob(f".{glob.escape(path.name)}.????????{glob.escape(path.suffix)}"):
        with suppress(OSError), stray.open("rb") as file:
            # A file that was made this very second may not be locked yet.
            if time.time() - stray.stat().st_mtime > _NEW_SECONDS:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                stray.unlink()


def write_bytes(path: Path, content: bytes) -> None:
    """Write `content` to `path`, whole or not at all."""
    with replacing(path) as temporary:
        temporary.write_bytes(content)


def write_text(path: Path, text: str) -> None:
    """Write `text` to `path`, whole or not at all."""
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def read_text(path: Path) -> str:
    """Return the text of a file. Raises InputError for one that is none: a folder, or a pipe, which would never end."""
    try:
        if path.exists() and not path.is_file():
            raise InputError(f"{path}: is not a file")
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not UTF-8: {error}") from error


def read_csv(path: Path, columns: Sequence[str]) -> list[tuple[str, dict[str, str]]]:
    """Return (file:line, row) for each row of a CSV file with exactly these columns.

    Raises InputError with file and line where it is no such file.
    """
    if path.exists() and not path.is_file():  # a pipe would never end
        raise InputError(f"{path}: is not a file")
    try:
        with path.open(encoding="utf-8", newline="") as text:
            reader = csv.DictReader(text, strict=True)
            try:
                if list(reader.fieldnames or ()) != list(columns):
                    raise InputError(f"{path}:1: the columns must be {','.join(columns)}")
                rows = [(f"{path}:{reader.line_num}", row) for row in reader]
            except csv.Error as error:
                raise InputError(f"{path}:{reader.reader.line_num}: not CSV: {error}") from error
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not CSV: {error}") from error
    for place, row in rows:
        if None in row or None in row.values():
            raise InputError(f"{place}: this row does not have {len(columns)} values")
    return rows
