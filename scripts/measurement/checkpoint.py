"""Checkpoints of a run and the record of its attempts, in a folder or a bucket: a preempted run goes on where it was.

A place is a path or a URL that fsspec knows (`gs://bucket/folder`). It holds `state.npz`, the newest checkpoint, and
`attempts.json`, every try at the run. What is written replaces what was there at once, never in part.
"""

import hashlib
import io
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from time import CLOCK_BOOTTIME, clock_gettime, monotonic, perf_counter
from typing import Any
from zipfile import BadZipFile

import numpy as np

from scripts.storage import schemas
from scripts.storage.errors import InputError
from scripts.storage.files import write_bytes

#: Seconds between checkpoints, at least; and so many times what the last one took, so that saving costs 2 % at most.
INTERVAL_SECONDS, INTERVAL_SAVINGS = 30.0, 50

_VERSION = 1

#: Of a state, beside its arrays.
_SAVED = ("epoch", "steps", "seconds", "rows", "settings")

#: How attempts end that another one follows: with a notice, or without.
PREEMPTED, LOST = UNFINISHED = "preempted", "lost"


class Preempted(Exception):
    """The machine is about to be preempted, and the checkpoint is written."""


@dataclass
class State:
    """Where a training is: `steps` of `epoch` are done, which took `seconds` (by name) so far; `rows` are the epochs'.

    `arrays` are all variables of model, optimiser and metrics and the framework's random state, in its own order;
    `settings` are those of its loop, which may have been chosen by timing.
    """

    epoch: int
    steps: int
    arrays: list[np.ndarray]
    seconds: dict[str, float] = field(default_factory=dict)
    rows: list[dict[str, Any]] = field(default_factory=list)
    settings: dict[str, str] = field(default_factory=dict)


class Place:
    """Where one run keeps its checkpoint and its attempts.

    `identity` says of what run, by which code: a checkpoint of another is not taken.
    """

    def __init__(self, url: str, *identity: str) -> None:
        import fsspec  # not where nothing is saved

        try:
            self._files, self._folder = fsspec.core.url_to_fs(url)
        except (ValueError, ImportError) as error:
            raise InputError(f"checkpoints: {url}: {' '.join(str(error).split())}") from error
        self.identity = hashlib.sha256("\0".join(identity).encode()).hexdigest()

    def _path(self, name: str) -> str:
        return f"{self._folder.rstrip('/')}/{name}"

    def _read(self, name: str) -> bytes | None:
        try:
            return self._files.cat_file(self._path(name))
        except (FileNotFoundError, NotADirectoryError):
            return None

    def _write(self, name: str, content: bytes) -> None:
        if self._files.protocol in ("file", ("file", "local")):
            write_bytes(Path(self._path(name)), content)
        else:  # an object of a bucket is there as a whole or not at all
            self._files.pipe_file(self._path(name), content)

    def load(self) -> State | None:
        """Return the checkpoint, None if there is none, a damaged one, or one of another run or version."""
        content = self._read("state.npz")
        if content is None:
            return None
        try:
            with np.load(io.BytesIO(content), allow_pickle=False) as saved:
                about = json.loads(str(saved["about"]))
                if (about["version"], about["identity"]) != (_VERSION, self.identity):
                    return None
                arrays = [saved[str(number)] for number in range(about["arrays"])]
        except (BadZipFile, ValueError, KeyError, EOFError):
            return None
        return State(arrays=arrays, **{name: about[name] for name in _SAVED})

    def save(self, state: State) -> None:
        """Write the checkpoint."""
        about = {
            "version": _VERSION,
            "identity": self.identity,
            "arrays": len(state.arrays),
            **{name: getattr(state, name) for name in _SAVED},
        }
        content = io.BytesIO()
        arrays: dict[str, Any] = {str(number): array for number, array in enumerate(state.arrays)}
        np.savez(content, about=np.array(json.dumps(about)), **arrays)
        self._write("state.npz", content.getvalue())

    def attempts(self) -> list[dict[str, Any]]:
        """Return the attempts so far, the oldest first; none where their file is damaged, which is said."""
        content = self._read("attempts.json")
        if content is None:
            return []
        path = self._path("attempts.json")
        try:
            found = schemas.parse_json(content, "attempts", path)
            for attempt in found:
                _seconds(attempt["started_at"], attempt["seen_at"])
        except ValueError:  # InputError too
            print(f"{path} is damaged: attempts before this one are not known", flush=True)
            return []
        return found

    def write_attempts(self, attempts: Sequence[dict[str, Any]]) -> None:
        self._write("attempts.json", json.dumps(list(attempts), indent=1).encode())

    def clear(self) -> None:
        """Remove all of it: the run has its record."""
        if self._files.exists(self._folder):
            self._files.rm(self._folder, recursive=True)


class Keeper:
    """Decides when a training is saved: now and then, and at once when `asked` says so.

    `on_saved` is called with the seconds of training that a checkpoint holds. `saving_seconds` are those that saving
    took so far; they are no training time.
    """

    def __init__(self, place: Place, asked: Callable[[], bool], on_saved: Callable[[float], None]) -> None:
        self._place, self._on_saved = place, on_saved
        self._next = monotonic() + INTERVAL_SECONDS
        self.asked = asked
        self.saved = place.load()
        self.saving_seconds = 0.0

    def is_due(self) -> bool:
        return self.asked() or monotonic() >= self._next

    def keep(self, take: Callable[[], State]) -> None:
        """Save the state that `take` takes. Raises Preempted if that was asked for.

        What cannot be written now may be later; what was asked for and cannot be written leaves the last checkpoint.
        """
        asked, start = self.asked(), perf_counter()
        state = take()
        try:
            self._place.save(state)
        except Exception as error:  # a network's, a file system's, a bucket's
            print(f"checkpoint not written: {' '.join(str(error).split())[:200]}", flush=True)
        else:
            self._on_saved(sum(row["elapsed"] for row in state.rows) + state.seconds.get("elapsed", 0.0))
        took = perf_counter() - start
        self.saving_seconds += took
        self._next = monotonic() + max(INTERVAL_SECONDS, INTERVAL_SAVINGS * took)
        if asked or self.asked():
            raise Preempted


@dataclass
class Attempt:
    """One try at a run, on one machine. Times are UTC, ISO 8601; `seen_at` is when it last was known to live.

    `saved_seconds` are those of training that the checkpoint held when it began, `kept_seconds` those that the last
    one of its own held, which the next attempt need not do again; `lived_seconds` are from its begin to `seen_at` by a
    clock that nobody sets, sleep of the machine with them. What came before is what `job_clock.before` returns.
    """

    started_at: str
    machine: str
    seen_at: str
    saved_seconds: float
    kept_seconds: float
    identity: str
    ended: str = ""
    lived_seconds: float | None = None
    boot_seconds: float | None = None
    wait_seconds: float | None = None


#: What only some clusters record of an attempt.
_JOB = ("boot_seconds", "wait_seconds")


def boot_seconds() -> float:
    """Return a clock (s) that runs while the machine sleeps, and that setting the date does not change."""
    return clock_gettime(CLOCK_BOOTTIME)


def now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")


class Attempts:
    """The attempts at a run, this one the last: written when it begins, at each sign of life, and when it ends."""

    def __init__(self, place: Place, machine: str, before: Mapping[str, float] | None = None) -> None:
        self._place = place
        self._began = boot_seconds()
        self._before = _unfinished(place)
        if not self._before:
            place.clear()
        # A checkpoint of other code is not taken.
        mine = self._before and self._before[-1]["identity"] == place.identity
        kept = float(self._before[-1]["kept_seconds"]) if mine else 0.0
        boot, wait = ((before or {}).get(name) for name in _JOB)
        self.current = Attempt(now(), machine, now(), kept, kept, place.identity, "", 0.0, boot, wait)
        try:
            self._place.write_attempts([*self._before, asdict(self.current)])
        except Exception as error:  # a full disk's, a bucket's: what cannot be saved now is not begun
            raise InputError(f"checkpoints: nothing can be written: {' '.join(str(error).split())[:200]}") from error

    def used_seconds(self) -> float:
        """Return the life of the attempts before this one."""
        return sum(_as_recorded(attempt)["used_seconds"] for attempt in self._before)

    def alive(self, kept_seconds: float | None = None) -> None:
        """Note that this attempt lives, and how much training is kept; what cannot be written now may be later."""
        self._see()
        if kept_seconds is not None:
            self.current.kept_seconds = kept_seconds
        try:
            self._place.write_attempts([*self._before, asdict(self.current)])
        except Exception as error:  # a network's, a file system's, a bucket's
            print(f"attempts not written: {' '.join(str(error).split())[:200]}", flush=True)

    def _see(self) -> None:
        self.current.seen_at, self.current.lived_seconds = now(), boot_seconds() - self._began

    def to_json(self, how: str, trained_seconds: float) -> list[dict[str, Any]]:
        """Return all attempts as the run record has them, if this one ends so.

        `trained_seconds` are those of the whole run, which is at its end.
        """
        self._see()
        current = asdict(self.current) | {"ended": how, "kept_seconds": trained_seconds}
        return [_as_recorded(attempt) for attempt in [*self._before, current]]

    def end(self, how: str) -> None:
        """Note how it ended: last, as after it another run of this name begins anew."""
        self.current.ended = how
        self.alive()


def _unfinished(place: Place) -> list[dict[str, Any]]:
    """Return the attempts at a run that has no record yet; none where the last one wrote it."""
    attempts = place.attempts()
    if attempts and attempts[-1]["ended"] not in ("", *UNFINISHED):
        return []
    return [attempt | {"ended": attempt["ended"] or LOST} for attempt in attempts]


def previous(place: Place) -> list[dict[str, Any]]:
    """Return the attempts at a run that is given up, as its record has them."""
    return [_as_recorded(attempt) for attempt in _unfinished(place)]


def _as_recorded(attempt: dict[str, Any]) -> dict[str, Any]:
    """Return an attempt as the run record has it: what it was good for, and what of its life was lost."""
    lived = attempt.get("lived_seconds")  # not noted before 2026-11-22
    used = max(0.0, _seconds(attempt["started_at"], attempt["seen_at"])) if lived is None else float(lived)
    useful = min(used, max(0.0, attempt["kept_seconds"] - attempt["saved_seconds"]))
    return {
        "started_at": attempt["started_at"],
        "ended_at": attempt["seen_at"],
        "used_seconds": used,
        "useful_seconds": useful,
        "lost_seconds": used - useful,
        "ended": attempt["ended"],
        "machine": attempt["machine"],
    } | {name: attempt[name] for name in _JOB if attempt.get(name) is not None}


def _seconds(since: str, until: str) -> float:
    return (datetime.fromisoformat(until) - datetime.fromisoformat(since)).total_seconds()
