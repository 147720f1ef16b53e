"""Code that a study brings along, which is run only when somebody has said once that it may, by its content."""

import hashlib
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from scripts.storage import environment
from scripts.storage.errors import InputError
from scripts.storage.files import opened, read_text
from scripts.storage.words import printable

#: The checksums of what was trusted in this clone, a line each.
KNOWN = Path(__file__).resolve().parents[2] / ".cache" / "trusted"

#: In the place of a checksum: whatever a study brings along.
ALL = "all"

#: Digits of a checksum that are typed.
_DIGITS = 16


def checksum(files: Mapping[str, str], commands: Mapping[str, str] = MappingProxyType({})) -> str:
    """Return what stands for the content of a study's own files (name -> path) and commands (name -> words).

    It is `sha256-` and 16 digits.
    """
    contents = [(name, hashlib.sha256(Path(file).read_bytes()).hexdigest()) for name, file in sorted(files.items())]
    contents += sorted(commands.items())
    return f"sha256-{hashlib.sha256(repr(contents).encode()).hexdigest()[:_DIGITS]}"


def check(study: Path, files: Mapping[str, str], commands: Mapping[str, str] = MappingProxyType({})) -> None:
    """Raise InputError unless the files of code (name -> path) and the commands of a study are trusted as they are.

    What the variable `EPOCHS_TRUST` holds is trusted, from now on without it, and by the processes that this one
    starts.
    """
    if not files and not commands:
        return
    given = [word for word in environment.TRUST.read().split(",") if word]
    if ALL in given:
        return
    content = checksum(files, commands)
    kept = read_text(KNOWN).split() if KNOWN.exists() else []
    if content not in (*given, *kept):
        of_files = [f"{file} ({len(read_text(Path(file)).splitlines())} lines)" for file in files.values()]
        shown = "; ".join([", ".join(of_files)] * bool(files) + [printable(one) for one in commands.values()])
        raise InputError(
            f"{study}: runs code that is not the project's: {shown}: read it, and say once that it may: "
            f"./epd report {study} --config trust={content}"
        )
    if content not in kept:
        with opened(KNOWN) as file:
            file.write(f"{content}\n".encode())
    if content not in given:
        environment.TRUST.write(",".join([*given, content]))
