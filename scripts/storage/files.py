"""Files that are whole or not there: written under a temporary name, then renamed; and CSV read strictly."""

import csv
import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from scripts.storage.errors import InputError


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a temporary path beside `path`; renamed to `path` when the block ends without an error.

    Raises InputError when the disk is full or the folder cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=path.suffix, dir=path.parent)
        os.close(handle)
        temporary = Path(name)
        try:
            yield temporary
            temporary.chmod(0o644)
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror or error}") from error


def write_text(path: Path, text: str) -> None:
    """Write `text` to `path`, whole or not at all."""
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def read_csv(path: Path, columns: Sequence[str]) -> list[tuple[str, dict[str, str]]]:
    """Return (file:line, row) for each row of a CSV file with exactly these columns.

    Raises InputError with file and line where it is no such file.
    """
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
