"""What was read of the logs of a folder that is followed, kept until a file that it was read from changes.

A log depends on itself and on what lies beside it: a console or a table on the files of arguments in its folder, a run
of MLflow, of TensorBoard, of W&B or of a trainer on all files of its folder and below. Where one comes or goes for
which others stand back (`console.FULLER`), the logs of its folder and up to three folders below are read again. All is
where the code of the importers has changed.
"""

import hashlib
import json
import os
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Any

from scripts.importers import _devices, naming
from scripts.importers._logs import Refused
from scripts.importers.formats import console, mlflow, tensorboard
from scripts.storage import code, seal
from scripts.storage.errors import InputError
from scripts.storage.files import read_text, write_text

#: Kinds whose runs are one file each, and depend on no other log but by its name.
_ALONE = ("console", "nanogpt", "boosting", "epochs_csv", "json_lines", "mllog", "tf_cnn")

#: What the folders of checkpoints begin with, and how far above a log those lie that it stands back for.
_CHECKPOINT, _ABOVE = "checkpoint-", 3

#: A file that is younger when it is read may change again within its time's last digit (s).
_YOUNG = 2.0

#: What a folder is read for: the table of `epd import`, and studies of it.
_STUDIES = 3

_FOLDER = Path(".cache/imports")

Item = dict[str, Any] | Refused
_Stats = dict[PurePosixPath, tuple[int, int]]


class Kept:
    """The kinds and the runs of the logs of a folder, as they were read when its files were as they are now."""

    def __init__(self, folder: Path, files: Iterable[Path]) -> None:
        """`files` are those of the folder that are looked at, with those of the runs of MLflow."""
        self._stats: _Stats = {}
        for path in files:
            try:
                about = path.stat()
            except OSError:
                continue
            self._stats[PurePosixPath(path.relative_to(folder).as_posix())] = (about.st_size, about.st_mtime_ns)
        self._file = _place(folder)
        self._old = self._read()
        self._new: dict[str, Any] = {"code": _code(), "kinds": {}, "runs": {}}
        self._below: dict[PurePosixPath, int] = {}
        self._arguments: dict[PurePosixPath, int] = {}
        self._leading: dict[PurePosixPath, list[str]] = {}
        self._look()
        self._began = time.time()

    def _read(self) -> dict[str, Any]:
        try:
            sealed, _, text = read_text(self._file).partition("\n")
            found = json.loads(text) if sealed == seal.of(text) else {}
        except (InputError, ValueError, RecursionError):
            found = {}
        return found if isinstance(found, dict) and found.get("code") == _code() else {"kinds": {}, "runs": {}}

    def kind(self, name: PurePosixPath, look: Callable[[], str | None]) -> str | None:
        """Return which format a file looks like, by `look` where that is not known."""
        stat = list(self._stats.get(name, ()))
        found: list[Any] = self._old["kinds"].get(str(name), [None, None])
        kind: str | None = found[1] if stat and found[0] == stat else look()
        self._keep("kinds", name, [stat, kind])
        return kind

    def runs(self, name: PurePosixPath, kind: str, given: str, read: Callable[[], list[Item]]) -> list[Item]:
        """Return the runs of a log, by `read` where these are not known; `given` is what the study says of it."""
        state = self._state(name, kind)
        found = [one for one in self._old["runs"].get(str(name), ()) if one["state"] == state]
        known = next((one for one in found if one["given"] == given), None)
        if known is None:
            items = read()
            written = [
                {"refused": [str(item), item.line]} if isinstance(item, Refused) else {"run": item} for item in items
            ]
            known = {"given": given, "state": state, "items": written}
            found = [known, *found[: _STUDIES - 1]] if _is_json(known) else found
        else:
            items = [Refused(*item["refused"]) if "refused" in item else item["run"] for item in known["items"]]
        self._keep("runs", name, found)
        return items

    def _keep(self, what: str, name: PurePosixPath, value: Any) -> None:
        _, changed = self._stats.get(name, (0, 0))
        if self._began - changed / 1e9 > _YOUNG:
            self._new[what][str(name)] = value

    def save(self) -> None:
        """Keep what was read for the next time, if the folder is followed and where there is room for it."""
        if self._file.is_file():
            with suppress(InputError):
                text = json.dumps(self._new)
                write_text(self._file, f"{seal.of(text)}\n{text}")

    def _state(self, name: PurePosixPath, kind: str) -> list[Any]:
        """Return what must be as it was for the runs of a log to be as they were."""
        folder = name.parent
        near = [place for place in (folder, *folder.parents) if place != folder][:_ABOVE]
        leading = sorted(one for place in (folder, *near) for one in self._leading.get(place, ()))
        if kind in _ALONE:
            places = (folder, folder.parent) if naming.is_common(folder.name) else (folder,)
            beside: list[int | str] = [self._arguments.get(place, 0) for place in places]
        else:
            is_part = folder.name.startswith(_CHECKPOINT) or folder.name in tensorboard.PARTS
            beside = [self._below.get(folder.parent if is_part else folder, 0)]
        if kind == "mlflow":
            beside += sorted(self._leading.get(folder.parent / mlflow.PARENT, ()))
        if kind == "json_lines":
            beside += sorted(str(one) for one in self._stats if one.parent in (folder, folder.parent) and one != name)
        return [kind, list(self._stats.get(name, ())), beside, leading]

    def _look(self) -> None:
        """Sum up the files by folder: all in it and below, the arguments in it, the logs that others stand back for."""
        for name, stat in self._stats.items():
            number = int(hashlib.sha256(f"{name} {stat}".encode("utf-8", "backslashreplace")).hexdigest()[:12], 16)
            for folder in name.parents:
                self._below[folder] = self._below.get(folder, 0) ^ number
            if _devices.is_arguments(name.name):
                self._arguments[name.parent] = self._arguments.get(name.parent, 0) ^ number
            if name.name in console.FULLER:
                owner = name.parent.parent if name.parent.name.startswith(_CHECKPOINT) else name.parent
                self._leading.setdefault(owner, []).append(str(name))
            if name.name == mlflow.PARENT:
                self._leading.setdefault(name.parents[2] / mlflow.PARENT, []).append(f"{name} {stat}")


def begin(folder: Path) -> None:
    """Keep what is read of a folder from now on, in whatever process it is."""
    write_text(_place(folder), "{}")


def forget(folder: Path) -> None:
    """Keep nothing of a folder any more."""
    _place(folder).unlink(missing_ok=True)


def _place(folder: Path) -> Path:
    return _FOLDER / f"{hashlib.sha256(os.fsencode(folder.resolve())).hexdigest()[:24]}.json"


def _is_json(value: Any) -> bool:
    """Return whether a value is the same after it was written."""
    try:
        return bool(json.loads(json.dumps(value)) == value)
    except (TypeError, ValueError):
        return False


@cache
def _code() -> str:
    """Return a checksum of the code that reads logs."""
    files = code.code_of("scripts.importers.kept", "scripts.importers.formats.any")
    content = b"".join((code.ROOT / file).read_bytes() for file in (*files, *code.recorder_of(files)))
    return hashlib.sha256(content).hexdigest()
