"""One fault is met, and what came of it is said: a result, one line, or something that is not survived."""

import io
import os
import signal
import tempfile
import time
import traceback
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

from scripts.storage.errors import InputError

#: What takes longer hangs (s).
LIMIT_SECONDS = 20

#: A line that a person can read.
_LONGEST_LINE = 2000

#: What was done, and what meets it: it ends, raises InputError, or was not survived.
Fault = tuple[str, Callable[[], Any]]


@dataclass(frozen=True)
class Kind:
    """Faults of one kind: how many `make faults` tries (None: all), what one takes at most (s), where they come from.

    `faults` returns all of them, or yields them for ever, from a folder of its own and chance; each has been met when
    the next one is asked for.
    """

    name: str
    count: int | None
    faults: Callable[[Path, Random], Iterable[Fault]]
    limit_seconds: int = LIMIT_SECONDS


@dataclass(frozen=True)
class Outcome:
    """A fault of some kind, what it was, and why it was not survived; None if it was."""

    kind: str
    what: str
    why: str | None


class _Hangs(Exception):
    pass


@contextmanager
def _limited(seconds: int) -> Iterator[None]:
    def end(number: int, frame: object) -> None:
        raise _Hangs

    before = signal.signal(signal.SIGALRM, end)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


#: Turn the direction of what follows, or are not seen at all.
_UNSEEN = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u2028\u2029\ufeff"


def hidden(text: str, allowed: str = "") -> str:
    """Return what of a text does something unseen to a terminal or a page; empty for nothing.

    By Unicode's own categories, not by the program's list: controls, halves of characters, turned directions.
    """
    return "".join(
        sign for sign in text if sign not in allowed and (unicodedata.category(sign) in ("Cc", "Cs") or sign in _UNSEEN)
    )


def is_line(words: str) -> bool:
    """Return whether an error is one line that a person can read, and that does nothing to a terminal."""
    return 0 < len(words.strip()) <= len(words) <= _LONGEST_LINE and not hidden(words)


def tried(kind: str, what: str, run: Callable[[], Any], limit_seconds: int = LIMIT_SECONDS) -> Outcome:
    """Meet a fault."""
    why = None
    try:
        with _limited(limit_seconds), redirect_stderr(io.StringIO()), redirect_stdout(io.StringIO()):
            run()
    except InputError as error:
        if not is_line(str(error)):
            why = f"not a line to read: {str(error)[:200]!r}"
    except _Hangs:
        why = f"takes more than {limit_seconds} s"
    except Exception as error:
        *_, last = traceback.extract_tb(error.__traceback__)
        why = f"{type(error).__name__}: {str(error)[:300]} ({Path(last.filename).name}:{last.lineno})"
    return Outcome(kind, what, why)


@contextmanager
def started(kind: Kind, seed: int) -> Iterator[tuple[int, Iterator[Fault]]]:
    """Yield how many faults of a kind there are to be tried, and these, in folders of their own."""
    with tempfile.TemporaryDirectory(prefix="faults-") as folder, _inside(Path(folder) / "here"):
        place = Path(folder) / "files"
        place.mkdir()
        faults = kind.faults(place, Random(f"{seed} {kind.name}"))
        planned = len(faults) if kind.count is None else kind.count  # type: ignore[arg-type]
        yield planned, islice(faults, planned)


def outcomes(kind: Kind, seed: int, count: int | None, seconds: float = float("inf")) -> Iterator[Outcome]:
    """Yield the outcomes of so many faults of a kind (None: of all that it has), as far as the time goes.

    The time runs from the first fault on: what it needs may take minutes to make.
    """
    with started(kind, seed) as (_, faults):
        yield from of_some(kind, islice(faults, count), seconds)


def of_some(kind: Kind, faults: Iterator[Fault], seconds: float) -> Iterator[Outcome]:
    """Yield the outcomes of faults of a kind, as far as the time goes."""
    until = None
    for what, run in faults:
        until = until or time.monotonic() + seconds
        yield tried(kind.name, what, run, kind.limit_seconds)
        if time.monotonic() > until:
            return


@contextmanager
def _inside(folder: Path) -> Iterator[None]:
    """Let what is written without a path be written into a folder of its own."""
    folder.mkdir()
    before = os.getcwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)
