"""The history of a study whose triggers run on machines that go: kept in a folder or bucket between them."""

import json
import posixpath
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import fsspec

from scripts.storage.errors import InputError
from scripts.workflow.repetitions import OVERLAPPED, WHOLE, History

#: What of a repetition is written last: where it is, all else is.
_LAST = WHOLE[0]


class Kept:
    """What is kept of a history below `url`, nothing with an empty one.

    `held` is a lease: an object that one machine alone can create. The machine of a lease that has run out is gone, as
    its job is ended before: its place is taken by creating the next number, which again one machine alone can.
    """

    def __init__(self, url: str, history: History) -> None:
        self._history = history
        self._files: Any = None
        self._base = ""
        if url:
            try:
                self._files, root = fsspec.url_to_fs(url)
            except (ValueError, ImportError) as error:
                raise InputError(f"--keep: {url!r}: {error}") from error
            self._base = f"{root.rstrip('/')}/{history.name}"

    @contextmanager
    def held(self, most_minutes: float, every: str = "") -> Iterator[bool]:
        """Yield whether no other machine is at work; if so what is kept is here, and is kept again at the end.

        `every` is the interval that the trigger is scheduled with, empty for one by hand.
        """
        if not self._files:
            yield True
            return
        now = datetime.now(UTC)
        content = json.dumps({"until": (now + timedelta(minutes=most_minutes)).isoformat()}).encode()
        lease = self._lease(now, content)
        if not lease:
            self._files.makedirs(f"{self._base}/overlapped", exist_ok=True)
            about = json.dumps({"every": every}).encode()
            self._files.pipe_file(f"{self._base}/overlapped/{now:%Y-%m-%dT%H%M%S.%fZ}", about)
            yield False
            return
        try:
            self._fetch()
            try:
                yield True
            finally:
                self.store()
        finally:
            # One that ran out after all may have been removed, and its number be another machine's by now.
            with suppress(FileNotFoundError):
                if self._files.cat_file(lease) == content:
                    self._files.rm_file(lease)

    def _lease(self, now: datetime, content: bytes) -> str:
        """Create the lease that follows those that have run out, and remove these; return its path, empty if none."""
        self._files.makedirs(self._base, exist_ok=True)
        for _ in range(2):
            earlier = self._leases()
            path = f"{self._base}/lease-{max(earlier, default=0) + 1}.json"
            try:
                if earlier:
                    held = json.loads(self._files.cat_file(earlier[max(earlier)]))
                    if datetime.fromisoformat(held["until"]) > now:
                        return ""
                self._files.pipe_file(path, content, mode="create")
            except FileNotFoundError:  # its machine has ended meanwhile
                continue
            except FileExistsError:  # another machine was faster
                return ""
            for old in earlier.values():
                with suppress(FileNotFoundError):
                    self._files.rm_file(old)
            return path
        return ""

    def _leases(self) -> dict[int, str]:
        """Return the paths of the leases by number: 0 is the name that they all had before they were numbered."""
        self._files.invalidate_cache()
        found = {}
        with suppress(FileNotFoundError):
            for path in self._files.ls(self._base, detail=False):
                if name := re.fullmatch(r"lease(?:-(\d+))?\.json", posixpath.basename(path)):
                    found[int(name[1] or 0)] = path
        return found

    def _fetch(self) -> None:
        self._get(f"{self._base}/history", self._history.folder)
        self._get(self._place(), self._history.results)
        for path in sorted(self._listed(f"{self._base}/overlapped")):
            at = datetime.strptime(posixpath.basename(path), "%Y-%m-%dT%H%M%S.%fZ").replace(tzinfo=UTC)
            self._history.record(OVERLAPPED, at, json.loads(self._files.cat_file(path)).get("every", ""))
            self._files.rm_file(path)

    def _place(self) -> str:
        """Return where the repetition at work is kept: by its id, so that none is taken for another."""
        current = self._history.folder / "current.json"
        known = json.loads(current.read_text(encoding="utf-8"))["id"] if current.is_file() else ""
        return f"{self._base}/results/{known or 'first'}"

    def store(self) -> None:
        """Keep what is new here: whole repetitions first, and last what says which one is at work."""
        if not self._files:
            return
        for folder in sorted(path for path in self._history.folder.glob("*Z") if path.is_dir()):
            if not self._files.exists(f"{self._base}/history/{folder.name}/{_LAST}"):
                self._put(folder, f"{self._base}/history/{folder.name}")
        self._put(self._history.results, self._place())
        for name in ("current.json", "history.html", "triggers.csv"):
            if (self._history.folder / name).is_file():
                self._put_file(self._history.folder / name, f"{self._base}/history/{name}")
        with suppress(FileNotFoundError):
            for path in self._files.ls(f"{self._base}/results", detail=False):
                if posixpath.basename(path.rstrip("/")) != posixpath.basename(self._place()):
                    self._files.rm(path, recursive=True)

    def _listed(self, place: str) -> list[str]:
        with suppress(FileNotFoundError):
            return list(self._files.find(place))
        return []

    def _get(self, place: str, folder: Path) -> None:
        for path in self._listed(place):
            target = folder / posixpath.relpath(path, place)
            target.parent.mkdir(parents=True, exist_ok=True)
            self._files.get_file(path, str(target))

    def _put(self, folder: Path, place: str) -> None:
        files = sorted(path for path in folder.rglob("*") if path.is_file())
        for path in sorted(files, key=lambda path: path == folder / _LAST):
            self._put_file(path, f"{place}/{path.relative_to(folder)}")

    def _put_file(self, path: Path, place: str) -> None:
        self._files.makedirs(posixpath.dirname(place), exist_ok=True)
        self._files.put_file(str(path), place)
