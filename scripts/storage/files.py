"""Files that are whole or not there: written under a temporary name, synced, renamed; and CSV read strictly."""

import csv
import errno
import fcntl
import glob
import io
import os
import secrets
import stat
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from scripts.storage.errors import InputError

#: Of a file that is read whole, at most.
MOST_BYTES = 2**30

#: Younger files are left alone.
_NEW_SECONDS = 2.0

#: Of a temporary name, by chance.
_LETTERS = 8


@contextmanager
def replacing(path: Path, within: Path | None = None) -> Iterator[Path]:
    """Yield a temporary path beside `path`; renamed to `path` when the block ends without an error.

    `within` is the folder that `path` must lie in, without a link on the way: for a name that a file of others gives. A
    link at `path` is replaced, never followed. A file that is written over keeps its permissions, a new one gets those
    of the user's umask. Raises InputError when the disk is full, the folder cannot be written, or `path` lies outside
    `within` or is a device, a pipe or a folder.
    """
    with ExitStack() as stack:
        try:
            place = path
            if within is not None:
                place = Path(f"/proc/self/fd/{stack.enter_context(_folder_within(path, within))}") / path.name
            if place.exists() and not place.is_file():
                raise InputError(f"{path}: cannot be written: it is not a file")
            place.parent.mkdir(parents=True, exist_ok=True)
            _remove_strays(place)
            temporary = place.with_name(f".{path.name}.{secrets.token_hex(_LETTERS // 2)}{path.suffix}")
            kept = place.stat().st_mode & 0o777 if place.is_file() and not place.is_symlink() else None
            mode = 0o666 if kept is None else 0o600
            handle = os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
            try:
                # Held until this process ends, however it ends: what nobody holds is a stray.
                with suppress(OSError):  # a file system without locks
                    fcntl.flock(handle, fcntl.LOCK_EX)
                yield temporary
                if kept is not None:
                    temporary.chmod(kept)
                # A power cut would else leave the new name with no content, or files in another order than written.
                os.fsync(handle)
                temporary.replace(place)
                _sync_folder(place.parent)
            finally:
                temporary.unlink(missing_ok=True)
                os.close(handle)
        except OSError as error:
            raise InputError(f"{path}: cannot be written: {error.strerror or error}") from error


def check_place(path: Path, within: Path) -> None:
    """Raise InputError where `replacing(path, within)` would, as far as that shows before; nothing is made.

    For what is written all or none: every place is looked at before the first is written to.
    """
    folder = within
    for part in path.relative_to(within).parts[:-1]:
        folder = folder / part
        if folder.is_symlink():
            raise InputError(f"{path}: lies outside {within}: nothing is written there")
        if folder.exists() and not folder.is_dir():
            raise InputError(f"{path}: cannot be written: {folder} is not a folder")
    if path.exists() and not path.is_file():
        raise InputError(f"{path}: cannot be written: it is not a file")
    there = next((parent for parent in path.parents if parent.exists()), path.parent)
    if not os.access(there, os.W_OK | os.X_OK):
        raise InputError(f"{path}: cannot be written: {there} is read-only")


@contextmanager
def undone(places: Iterable[Path]) -> Iterator[None]:
    """Take away those of some files, and of their folders, that were not there before, where the block fails."""
    folders = {folder for place in places for folder in place.parents}
    new = [path for path in {*places, *folders} if not path.exists()]
    try:
        yield
    except BaseException:
        for path in sorted(new, reverse=True):  # what lies in a folder before the folder
            with suppress(OSError):
                path.rmdir() if path.is_dir() else path.unlink(missing_ok=True)
        raise


def _sync_folder(folder: Path) -> None:
    """Let what was named or taken away in a folder last before anything else does."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        with suppress(OSError):  # a file system that cannot
            os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def _folder_within(path: Path, folder: Path) -> Iterator[int]:
    """Yield the handle of the folder that `path` lies in, made if need be, below `folder`, which may be a link itself.

    Opened step by step, and no link is followed on the way: one that is put there meanwhile leads nowhere either.
    Raises InputError where `path` lies elsewhere.
    """
    outside = InputError(f"{path}: lies outside {folder}: nothing is written there")
    if not path.is_relative_to(folder) or ".." in (parts := path.relative_to(folder).parts) or not parts:
        raise outside
    folder.mkdir(parents=True, exist_ok=True)
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for part in parts[:-1]:
            with suppress(FileExistsError):
                os.mkdir(part, dir_fd=handle)
            try:
                inner = os.open(part, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=handle)
            except OSError:
                if stat.S_ISLNK(os.stat(part, dir_fd=handle, follow_symlinks=False).st_mode):
                    raise outside from None
                raise
            os.close(handle)
            handle = inner
        yield handle
    finally:
        os.close(handle)


@contextmanager
def opened(path: Path, empty: bool = False) -> Iterator[BinaryIO]:
    """Yield a file that is added to in place, made if need be; `empty` takes out what it held.

    Raises InputError where it is a link, which could lead anywhere, or is no file.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666)
    except OSError as error:
        why = "it is a link" if error.errno == errno.ELOOP else error.strerror
        raise InputError(f"{path}: cannot be written: {why}") from error
    with os.fdopen(handle, "ab") as file:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise InputError(f"{path}: cannot be written: it is not a file")
        if empty:
            file.truncate(0)
        yield file


@contextmanager
def locked(path: Path, wait: bool = True) -> Iterator[int | None]:
    """Yield the number of a lock file that is this process's alone, None where another holds it and nobody is to wait.

    The lock is the kernel's: it ends with the process and with those that were given the number, however they end.
    What the file holds is left as it is. Raises InputError as `opened` does.
    """
    with opened(path) as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError:
            yield None
        else:
            yield file.fileno()


def _remove_strays(path: Path) -> None:
    """Remove what a process that was killed left half-written of `path`; a living one holds a lock on its own."""
    # An editor's file of a similar name has other letters and is not ours.
    for stray in path.parent.glob(f".{glob.escape(path.name)}.{'?' * _LETTERS}{glob.escape(path.suffix)}"):
        with suppress(OSError), stray.open("rb") as file:
            # A file that was made this very second may not be locked yet.
            if time.time() - stray.stat().st_mtime > _NEW_SECONDS:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                stray.unlink()


def sweep(path: Path, within: Path) -> None:
    """Remove what a process that was killed left half-written of a file that is whole, and is not written again."""
    with suppress(InputError, OSError), _folder_within(path, within) as folder:
        _remove_strays(Path(f"/proc/self/fd/{folder}") / path.name)


def write_bytes(path: Path, content: bytes, within: Path | None = None) -> None:
    """Write `content` to `path`, whole or not at all; see `replacing`."""
    with replacing(path, within) as temporary:
        temporary.write_bytes(content)


def write_text(path: Path, text: str, within: Path | None = None) -> None:
    """Write `text` to `path`, whole or not at all; see `replacing`."""
    write_bytes(path, text.encode(), within)


def check_readable(path: Path, most_bytes: int = MOST_BYTES) -> None:
    """Raise InputError for what is there and is no file (a pipe would never end), or is larger than memory may hold."""
    if path.exists() and not path.is_file():
        raise InputError(f"{path}: is not a file")
    if path.is_file() and (size := path.stat().st_size) > most_bytes:
        raise InputError(f"{path}: has {size:,} bytes: at most {most_bytes:,} are read")


def read_bytes(path: Path, most_bytes: int = MOST_BYTES) -> bytes:
    """Return the content of a file. Raises InputError for one that cannot be read; see `check_readable`."""
    try:
        check_readable(path, most_bytes)
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from error


def read_text(path: Path) -> str:
    """Return the text of a file. Raises InputError for one that cannot be read; see `check_readable`."""
    try:
        return io.TextIOWrapper(io.BytesIO(read_bytes(path)), encoding="utf-8").read()
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not UTF-8: {error}") from error


def read_csv(path: Path, columns: Sequence[str] | None = None, cut: bool = True) -> list[tuple[str, dict[str, str]]]:
    """Return (file:line, row) for each row of a CSV file with exactly these columns, or without any given.

    Without `cut` it must end with a line's end, as what a program wrote does unless it was cut.
    Raises InputError with file and line where it is no such file.
    """
    try:
        check_readable(path)
        with path.open(encoding="utf-8", newline="") as text:
            reader = csv.DictReader(text, strict=True)
            try:
                header = list(reader.fieldnames or ())
                if columns is not None and header != list(columns):
                    raise InputError(f"{path}:1: the columns must be {','.join(columns)}")
                if not header:
                    raise InputError(f"{path}: is empty")
                if twice := [name for name in header if header.count(name) > 1]:
                    raise InputError(f"{path}:1: column {twice[0]} is there twice")
                rows = [(f"{path}:{reader.line_num}", row) for row in reader]
                text.seek(0)
                if not cut and not text.read().endswith("\n"):
                    raise InputError(f"{path}: ends within its last row: it was cut")
            except csv.Error as error:
                raise InputError(f"{path}:{reader.reader.line_num}: not CSV: {error}") from error
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not CSV: {error}") from error
    for place, row in rows:
        if None in row or None in row.values():
            raise InputError(f"{place}: this row does not have {len(header)} values")
    return rows
