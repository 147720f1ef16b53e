"""What a call began with is what each of its trainings runs: files may change while it goes on.

The call notes the checksums of the code that may run, and each training compares them before it runs any of it, and
once more before it writes a record. What a program writes beside its code, as checkpoints and logs, is no change.
"""

import hashlib
import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from scripts.storage import brought, environment
from scripts.storage.errors import InputError
from scripts.storage.files import write_text

ROOT = Path(__file__).resolve().parents[2]

#: Code by its ending that programs write as well: settings of their runs, archives.
_WRITTEN = (".toml", ".cfg", ".ini", ".env", ".zip", ".ipynb")

_SINCE = "since this call began: the same call begins with what is there now"


def note(
    folder: Path,
    files: Mapping[str, str],
    commands: Mapping[str, Mapping[str, Any]],
    checksums: Mapping[Path, str],
    is_asked: bool = True,
) -> None:
    """Leave the `checksums` of the code of a study's own workloads for the trainings that this process starts.

    The note is a file in `folder`, called by its content: other calls have theirs. Unless somebody was asked about the
    code, it is compared for the records alone: as Python, and without new files.
    """
    folders = {one["folder"] for one in commands.values()}
    noted = {
        "workloads": {**files, **commands},
        "checksums": {
            _name(path): checksum for path, checksum in checksums.items() if is_asked or path.suffix == ".py"
        },
        "tracked": {folder: brought.tracked(folder) for folder in folders if brought.known_to_git(folder)},
        "is_asked": is_asked,
        "of": {
            workload: sorted({_name(path) for path in _of(workload, files, commands)} & {*map(_name, checksums)})
            for workload in (*files, *commands)
        }
        if is_asked
        else {},
    }
    text = json.dumps(noted, sort_keys=True)
    file = folder / f"{hashlib.sha256(text.encode()).hexdigest()[:16]}.json"
    write_text(file, text)
    environment.TRUSTED.write(_name(file))


def _of(workload: str, files: Mapping[str, str], commands: Mapping[str, Mapping[str, Any]]) -> Iterable[Path]:
    """Return the code that a workload may run."""
    of_files = {name: file for name, file in files.items() if name == workload}
    of_commands = {name: command for name, command in commands.items() if name == workload}
    return brought.files(Path("study"), of_files, of_commands).values()


def check(name: str, workload: str, has_run: bool = False) -> None:
    """Raise InputError where the code of a workload is not what the call has noted of it.

    `name` is that of the note, as `environment.TRUSTED` has it. Once it `has_run`, new files are what it wrote.
    """
    if not name:
        return
    noted = json.loads((ROOT / name).read_text(encoding="utf-8"))
    own = noted["workloads"].get(workload)
    if own is None:
        return
    files, commands = ({workload: own}, {}) if isinstance(own, str) else ({}, {workload: own})
    for path in dict.fromkeys(_of(workload, files, commands)):
        was = noted["checksums"].get(_name(path))
        is_new = was is None and not path.name.endswith(_WRITTEN) and noted["is_asked"] and not has_run
        if is_new or (was and brought.checksum(path) != was):
            raise InputError(f"{path}: {'new' if is_new else 'changed'} {_SINCE}")
    for name_of in noted["of"].get(workload, ()):
        if not (ROOT / name_of).exists():
            raise InputError(f"{ROOT / name_of}: gone {_SINCE}")
    was = noted["tracked"].get(own["folder"]) if commands and not has_run else None
    if was and brought.tracked.__wrapped__(own["folder"]) != was:
        raise InputError(f"{own['folder']}: what git tracks there has changed {_SINCE}")


def _name(path: Path) -> str:
    return os.path.relpath(path, ROOT)
