"""The history of a study whose triggers run on machines that go: kept in a folder or bucket between them."""

import json
import posixpath
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path, PurePosixPath
from typing import Any

import fsspec
from fsspec.implementations.local import LocalFileSystem

from scripts.storage import schemas
from scripts.storage.errors import InputError
from scripts.storage.files import replacing
from scripts.workflow.repetitions import OVERLAPPED, WHOLE, History, folder_time, moment

#: What of a repetition is written last: where it is, all else is.
_LAST = WHOLE[0]

#: What is kept beside the repetitions, `current.json` last: it says which one is at work.
_BESIDE = ("history.html", "triggers.csv", "current.json")

_OVERLAPPED = "%Y-%m-%dT%H%M%S.%fZ"


class Kept:
    """What is kept of a history below `url`, nothing with an empty one.

    `held` is a lease: an object that one machine alone can create. The machine of a lease that has run out is gone, as
    its job is ended before: its place is taken by creating the next number, which again one machine alone can.

    A machine may be killed at any step. What it has not kept whole is not fetched; what it has kept, and could not say
    any more, is found again: the repetition that was moved aside (`History.begin`), and triggers that overlapped.
    """

    def __init__(self, url: str, history: History) -> None:
        self._history = history
        self._files: Any = None
        self._base = ""
        #: Notes of triggers that overlapped, which triggers.csv holds by now.
        self._noted: list[str] = []
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
        lease = self._lease(now, content, timedelta(minutes=most_minutes))
        if not lease:
            self._files.makedirs(f"{self._base}/overlapped", exist_ok=True)
            about = json.dumps({"every": every}).encode()
            self._files.pipe_file(f"{self._base}/overlapped/{now.strftime(_OVERLAPPED)}", about)
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

    def _lease(self, now: datetime, content: bytes, most: timedelta) -> str:
        """Create the lease that follows those that have run out, and remove these; return its path, empty if none."""
        self._files.makedirs(self._base, exist_ok=True)
        for _ in range(2):
            earlier = self._leases()
            path = f"{self._base}/lease-{max(earlier, default=0) + 1}.json"
            try:
                if earlier and self._until(earlier[max(earlier)], most) > now:
                    return ""
                self._create(path, content)
            except FileNotFoundError:  # its machine has ended meanwhile
                continue
            except FileExistsError:  # another machine was faster
                return ""
            for old in earlier.values():
                with suppress(FileNotFoundError):
                    self._files.rm_file(old)
            return path
        return ""

    def _create(self, path: str, content: bytes) -> None:
        """Write an object that is not there. Raises FileExistsError where another machine was faster."""
        if isinstance(self._files, LocalFileSystem):  # fsspec looks first and writes then: another may come between
            with Path(path).open("xb") as lease:
                lease.write(content)
        else:
            self._files.pipe_file(path, content, mode="create")

    def _until(self, lease: str, most: timedelta) -> datetime:
        """Return when a lease runs out: one that cannot be read as if its machine took as long as this one may."""
        try:
            until = datetime.fromisoformat(schemas.parse_json(self._files.cat_file(lease), "lease", lease)["until"])
        except ValueError:  # InputError too
            until = self._files.modified(lease) + most
        return until if until.tzinfo else until.replace(tzinfo=UTC)

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
        place = f"{self._base}/history"
        listed = [posixpath.relpath(path, place) for path in self._listed(place)]
        folders = {posixpath.dirname(name) for name in listed if posixpath.basename(name) == _LAST}
        whole = {folder for folder in folders if folder_time(folder)}
        for name in listed:
            if name in _BESIDE or PurePosixPath(name).parts[0] in whole:
                self._get(f"{place}/{name}", self._history.folder / name, self._history.folder)
        place = self._place()
        for path in self._listed(place):
            self._get(path, self._history.results / posixpath.relpath(path, place), self._history.results)
        self._record_overlapped()

    def _record_overlapped(self) -> None:
        """Put triggers that overlapped into triggers.csv, but those that a machine which was killed has put there."""
        known = [(row["at"], row["what"], row["every"]) for _, row in self._history.triggers()]
        for path in sorted(self._listed(f"{self._base}/overlapped")):
            try:
                at = datetime.strptime(posixpath.basename(path), _OVERLAPPED).replace(tzinfo=UTC)
                every = schemas.parse_json(self._files.cat_file(path), "overlapped", path)["every"]
            except InputError:
                every = ""
            except ValueError:  # no machine called it so
                continue
            if (moment(at), OVERLAPPED, every) not in known:
                self._history.record(OVERLAPPED, at, every)
            self._noted.append(path)

    def _place(self) -> str:
        """Return where the repetition at work is kept: by its id, so that none is taken for another."""
        return f"{self._base}/results/{self._history.current_id() or 'first'}"

    def store(self) -> None:
        """Keep what is new here: whole repetitions first, and last what says which one is at work."""
        if not self._files:
            return
        for folder in sorted(path for path in self._history.folder.glob("*Z") if path.is_dir()):
            if not self._files.exists(f"{self._base}/history/{folder.name}/{_LAST}"):
                self._put(folder, f"{self._base}/history/{folder.name}")
        self._put(self._history.results, self._place())
        for name in _BESIDE:
            if (self._history.folder / name).is_file():
                self._put_file(self._history.folder / name, f"{self._base}/history/{name}")
        while self._noted:
            with suppress(FileNotFoundError):
                self._files.rm_file(self._noted.pop())
        with suppress(FileNotFoundError):
            for path in self._files.ls(f"{self._base}/results", detail=False):
                if posixpath.basename(path.rstrip("/")) != posixpath.basename(self._place()):
                    self._files.rm(path, recursive=True)

    def _listed(self, place: str) -> list[str]:
        with suppress(FileNotFoundError):
            return list(self._files.find(place))
        return []

    def _get(self, path: str, target: Path, folder: Path) -> None:
        with replacing(target, within=folder) as temporary:
            self._files.get_file(path, str(temporary))

    def _put(self, folder: Path, place: str) -> None:
        files = sorted(path for path in folder.rglob("*") if path.is_file())
        for path in sorted(files, key=lambda path: path == folder / _LAST):
            self._put_file(path, f"{place}/{path.relative_to(folder)}")

    def _put_file(self, path: Path, place: str) -> None:
        if isinstance(self._files, LocalFileSystem):  # a bucket's objects are whole or not there
            with replacing(Path(place)) as temporary:
                shutil.copyfile(path, temporary)
        else:
            self._files.put_file(str(path), place)
