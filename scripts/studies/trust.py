"""Code that a study brings along, which is run only when somebody has said once that it may, by its content."""

import hashlib
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from scripts.storage import brought, environment, unchanged
from scripts.storage.brought import tracked
from scripts.storage.errors import InputError
from scripts.storage.files import opened, read_text
from scripts.storage.words import printable
from scripts.studies.commands import shown

#: The checksums of what was trusted in this clone, a line each.
KNOWN = Path(__file__).resolve().parents[2] / ".cache" / "trusted"

#: In the place of a checksum: whatever a study brings along.
ALL = "all"

#: Files of code that are named when somebody is asked; of more, how many they are.
_LISTED = 10

#: Digits of a checksum that are typed.
_DIGITS = 16


def checksum(code: Mapping[str, Path], commands: Mapping[str, Mapping[str, Any]] = MappingProxyType({})) -> str:
    """Return what stands for the content of the code of a study (from `brought.files`) and for its commands.

    It is `sha256-` and 16 digits.
    """
    return _checksum({name: brought.checksum(file) for name, file in code.items()}, commands)


def _checksum(code: Mapping[str, str], commands: Mapping[str, Mapping[str, Any]]) -> str:
    contents = sorted(code.items())
    contents += sorted(shown(commands).items())
    # What else a program's folder holds may steer it; this clone's own is the project.
    folders = {name: Path(one["folder"]) for name, one in commands.items()}
    contents += [(name, tracked(str(folder))) for name, folder in folders.items() if folder.resolve() != brought.ROOT]
    return f"sha256-{hashlib.sha256(repr(contents).encode()).hexdigest()[:_DIGITS]}"


def check(
    study: Path, files: Mapping[str, str], commands: Mapping[str, Mapping[str, Any]] = MappingProxyType({})
) -> None:
    """Raise InputError unless a study's own workloads, files (name -> path) and commands, are trusted as they are.

    That is the code that they may import or start from their folders, too. What the variable `EPOCHS_TRUST` holds is
    trusted, from now on without it, and by the processes that this one starts; its trainings compare the code with it.
    """
    environment.TRUSTED.write("")
    if not files and not commands:
        return
    given = [word for word in environment.TRUST.read().split(",") if word]
    try:
        code = brought.files(study, files, commands)
        checksums = {name: brought.checksum(file) for name, file in code.items()}
    except InputError:
        if ALL in given:
            return
        raise
    noted = {code[name]: checksum for name, checksum in checksums.items()}
    notes = KNOWN.with_name("begun-with")
    if ALL in given:
        unchanged.note(notes, files, commands, noted, is_asked=False)
        return
    content = _checksum(checksums, commands)
    kept = read_text(KNOWN).split() if KNOWN.exists() else []
    if content not in (*given, *kept):
        raise InputError(
            f"{study}: runs code that is not the project's: {_asked(files, commands, code)}: read it, and say once "
            f"that it may: ./epd report {study} --config trust={content}"
        )
    if content not in kept:
        with opened(KNOWN) as file:
            file.write(f"{content}\n".encode())
    if content not in given:
        environment.TRUST.write(",".join([*given, content]))
    unchanged.note(notes, files, commands, noted)


def _asked(files: Mapping[str, str], commands: Mapping[str, Mapping[str, Any]], code: Mapping[str, Path]) -> str:
    """Return what a person is shown: the files that are named, the commands, and the code that these may run."""
    named = [Path(file).resolve() for file in files.values()]
    others = list(dict.fromkeys(path for path in code.values() if path.resolve() not in named))
    listed = [f"{file} ({_lines(Path(file))} lines)" for file in files.values()]
    said = [", ".join(listed)] * bool(listed) + [printable(one) for one in shown(commands).values()]
    if others:
        beside = [f"{printable(str(path))} ({_lines(path)} lines)" for path in others[:_LISTED]]
        more = [f"{len(others) - _LISTED:,} more"] * (len(others) > _LISTED)
        said.append(f"which may run {', '.join([*beside, *more])}")
    return "; ".join(said)


def _lines(file: Path) -> int:
    content = file.read_bytes()
    return content.count(b"\n") + (not content.endswith(b"\n") and bool(content))
