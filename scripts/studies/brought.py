"""Files of code that a study's own workloads may run: what lies below their folders, whatever imports it and when.

An import may be worked out while a program runs, so that no reading of the code finds all of it: all code below the
folder of a workload's file or of a command counts, and the folder of a script elsewhere that a command names. Of an
environment (that of a command's `python`, or a folder of a usual name with `pyvenv.cfg` or `conda-meta`), what starts
with its Python, the lists of what is installed and Python that lies elsewhere in it count: packages are not looked at.
"""

import hashlib
import os
import re
from collections.abc import Iterator, Mapping
from glob import escape, glob
from importlib.machinery import all_suffixes
from pathlib import Path
from typing import Any

from scripts.storage.errors import InputError
from scripts.studies.commands import PLACEHOLDER

ROOT = Path(__file__).resolve().parents[2]

#: Of a study, at most: entries that are looked at, files of code, and their bytes.
_MOST_ENTRIES, _MOST_FILES, _MOST_BYTES = 200_000, 20_000, 512 << 20

_PYTHON = tuple(all_suffixes())
_SUFFIXES = (
    *_PYTHON,
    *(".pth", ".pyw", ".pyz", ".egg", ".whl", ".ipynb", ".pyx", ".dll", ".jar", ".class"),
    *(".sh", ".bash", ".zsh", ".fish", ".csh", ".ksh", ".pl", ".rb", ".r", ".R", ".jl", ".lua", ".js", ".mjs", ".ts"),
    *(".c", ".cc", ".cpp", ".cu", ".cuh", ".h", ".hpp", ".mk", ".cmake", ".smk", ".toml", ".cfg", ".ini", ".env"),
    *(".dylib", ".php", ".tcl", ".awk", ".zip"),
)
_LIBRARY = re.compile(r"\.so(\.\d+)+")

#: A file that a command names counts whatever it is called, up to so many bytes: it may be what an interpreter runs.
_MOST_OF_ONE = 16 << 20
_NAMES = ("Makefile", "makefile", "GNUmakefile", "justfile", "Justfile", "Dockerfile", "Snakefile")

#: How a program that has no such name begins: a script, and one for Linux.
_PROGRAMS = (b"#!", b"\x7fELF")

#: Of this clone: what is the project's, or is written by it.
_OF_THE_PROJECT = (
    *("data", "docs", "envs", "plugins", "profiles", "reports", "results", "rules", "scripts", "tests"),
    *("Makefile", "Snakefile", "epd", "pyproject.toml"),
)

#: How environments beside a program are called: one of another name is looked at as any folder.
_ENVIRONMENTS = (".venv", "venv", "env", ".conda", "conda")

#: What starts with the Python of an environment, and what it holds by its own account.
_OF_ENVIRONMENT = [
    "pyvenv.cfg",
    *(f"lib*/python*/site-packages/{name}" for name in ("*.pth", "*customize.py", "*.dist-info/RECORD")),
]

#: What parts the words of a command, also within one that is for a shell.
_BETWEEN = re.compile(r"[\s;&|=,'\"()]+")


def files(study: Path, workloads: Mapping[str, str], commands: Mapping[str, Mapping[str, Any]]) -> dict[str, Path]:
    """Return the files of code (how they are called -> where they are) that a study's own workloads may run.

    `workloads` are files by name, `commands` as in a study's config. Raises InputError where there are too many.
    """
    found: dict[str, Path] = {}
    looked_at = [0]
    for name, file in workloads.items():
        path = Path(file).resolve()
        found[f"{name}: {path.name}"] = path
        # Its folder's `__pycache__` is never read: see scripts.workloads.
        below = _below(study, f"workloads: {file!r}", path.parent, looked_at, of_python=False)
        found |= {f"{name}: {each.relative_to(path.parent)}": each for each in below}
    for name, command in commands.items():
        place = f"workloads: {name}: folder: {command['folder']!r}"
        environment = _environment(command)
        for number, start in enumerate(_starts(command)):
            if start.is_file():
                found[f"{name}: {number}: {start.name}"] = start
            elif start.is_dir():
                for each in _below(study, place, start, looked_at, environment=environment):
                    found[f"{name}: {number}: {each.relative_to(start)}"] = each
    if len(found) > _MOST_FILES:
        raise InputError(f"{study}: workloads: {len(found):,} files of code lie in their folders: {_allowed()}")
    if (size := sum(path.stat().st_size for path in found.values())) > _MOST_BYTES:
        raise InputError(f"{study}: workloads: {size >> 20:,} MiB of code lie in their folders: {_allowed()}")
    return found


def checksum(file: Path) -> str:
    """Return the checksum of a file's content. Raises InputError where it cannot be read."""
    try:
        with file.open("rb") as opened:
            return hashlib.file_digest(opened, "sha256").hexdigest()
    except OSError as error:
        raise InputError(f"{file}: {error.strerror}") from error


def _allowed() -> str:
    return (
        f"at most {_MOST_FILES:,} of {_MOST_BYTES >> 20} MiB, among {_MOST_ENTRIES:,} files, are read before they are "
        "trusted: give the code a folder of its own (or --config trust=all)"
    )


def _starts(command: Mapping[str, Any]) -> list[Path]:
    """Return where a command starts: its folder, files that it names, those of scripts elsewhere, its environment."""
    folder = Path(command["folder"]).resolve()
    found = [folder]
    for word in filter(None, _BETWEEN.split(command["command"])):
        parts = PLACEHOLDER.split(word)[:: PLACEHOLDER.groups + 1]
        for name in sorted(glob(os.path.join(escape(str(folder)), "*".join(map(escape, parts))))):
            path = Path(name)
            if not path.is_file():
                continue
            if path.resolve().is_relative_to(folder):
                found += [path] * (path.stat().st_size <= _MOST_OF_ONE)
            elif _is_code(path):
                found += [path.resolve().parent] if path.suffix in _PYTHON else [path.resolve()]
    environment = _environment(command)
    if environment:
        found.append(environment)
    elsewhere = (path for path in found if path in (folder, environment) or path.parts[-2:-1] != ("bin",))
    return [path for path in dict.fromkeys(elsewhere) if not path.is_relative_to(ROOT / ".venv")]


def _environment(command: Mapping[str, Any]) -> Path | None:
    """Return the environment of the Python that a command names."""
    return Path(os.path.abspath(command["python"])).parent.parent if os.sep in command.get("python", "") else None


def _below(
    study: Path,
    place: str,
    folder: Path,
    looked_at: list[int],
    of_python: bool = True,
    environment: Path | None = None,
) -> Iterator[Path]:
    """Yield the code below a folder, links followed; `looked_at` counts entries. Raises InputError for too many."""
    pending: list[tuple[Path, Path | None]] = [(folder, folder if folder == environment else None)]
    seen = set()
    while pending:
        here, within = pending.pop()
        if (real := here.resolve()) in seen:
            continue
        seen.add(real)
        if here == within:
            yield from sorted(path for pattern in _OF_ENVIRONMENT for path in here.glob(pattern) if path.is_file())
        try:
            entries = sorted(os.scandir(here), key=lambda entry: entry.name)
        except OSError as error:
            raise InputError(f"{study}: {place}: {here}: {error.strerror}") from error
        looked_at[0] += len(entries)
        if looked_at[0] > _MOST_ENTRIES:
            raise InputError(f"{study}: {place}: over {_MOST_ENTRIES:,} files lie in its folder: {_allowed()}")
        for entry in entries:
            path = Path(entry.path)
            if real == ROOT and (entry.name.startswith(".") or entry.name in _OF_THE_PROJECT):
                continue
            if entry.is_dir():
                if within and path.relative_to(within).match("lib*/python*"):
                    continue  # what is installed
                if entry.name != ".git" and (of_python or entry.name != "__pycache__"):
                    pending.append((path, within or (path if _is_environment(path) else None)))
            elif entry.is_file() and (entry.name.endswith((".py", ".pyc")) if within else _is_code(path)):
                yield path


def _is_environment(folder: Path) -> bool:
    is_one = (folder / "pyvenv.cfg").is_file() or (folder / "conda-meta").is_dir()
    return folder.name in _ENVIRONMENTS and is_one


def _is_code(file: Path) -> bool:
    """Return whether a file may run, by its name, or as it may be executed and begins like a program."""
    if file.name.endswith(_SUFFIXES) or file.name in _NAMES or _LIBRARY.search(file.name):
        return True
    if not os.access(file, os.X_OK):
        return False
    try:
        with file.open("rb") as opened:
            return opened.read(4).startswith(_PROGRAMS)
    except OSError:
        return True  # it is told when it is read
