"""Files of code that a study's own workloads may run: what lies below their folders, whatever imports it and when.

An import may be worked out while a program runs, so that no reading of the code finds all of it: all code below the
folder of a workload's file or of a command counts. So does, whatever it is called and wherever it lies, each file that
a command names, but data, with all code below its folder, and all code below each folder that it names
(`scripts.storage.named`).
Of an environment (that of a Python that a command names, or a folder of a usual name with `pyvenv.cfg` or
`conda-meta`) all but its packages counts, and the lists of what is installed; where packages put libraries and binaries
beside `lib/python*`, as conda's do, its Python and scripts.
"""

import hashlib
import os
import re
import shlex
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib.machinery import all_suffixes
from pathlib import Path
from typing import Any

from scripts.storage import named
from scripts.storage.errors import InputError

ROOT = Path(__file__).resolve().parents[2]

#: Of a study, at most: entries that are looked at, files of code, and their bytes.
_MOST_ENTRIES, _MOST_FILES, _MOST_BYTES = 200_000, 20_000, 512 << 20

_PYTHON = tuple(all_suffixes())
_SUFFIXES = (
    *_PYTHON,
    *(".pyw", ".pyz", ".egg", ".whl", ".ipynb", ".pyx", ".pxd", ".pxi", ".dll", ".jar", ".class", ".java", ".kt"),
    *(".sh", ".bash", ".zsh", ".fish", ".csh", ".ksh", ".ps1", ".bat", ".cmd", ".pl", ".pm", ".rb", ".r", ".R", ".jl"),
    *(".lua", ".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".node", ".wasm", ".go", ".rs", ".scala", ".swift", ".hs"),
    *(".c", ".cc", ".cpp", ".cxx", ".cu", ".cuh", ".h", ".hh", ".hpp", ".hip", ".m", ".f", ".f90", ".s", ".S", ".asm"),
    *(".mk", ".mak", ".cmake", ".smk", ".toml", ".cfg", ".ini", ".env", ".Rprofile", ".dylib", ".php", ".tcl", ".tm"),
    *(".awk", ".zip", ".nim", ".zig"),
)

#: What programs write, by its ending: a command names it as its output, and an edit of it is its own.
_DATA = (
    *(".log", ".txt", ".csv", ".tsv", ".jsonl", ".parquet", ".npz", ".npy", ".pt", ".pth", ".ckpt", ".safetensors"),
    *(".bin", ".h5", ".hdf5", ".keras", ".onnx", ".pkl", ".png", ".jpg", ".jpeg", ".svg", ".pdf", ".db"),
)
_LIBRARY = re.compile(r"\.so(\.\d+)+")

_NAMES = (
    *(
        "Makefile",
        "makefile",
        "GNUmakefile",
        "justfile",
        "Justfile",
        "Dockerfile",
        "Snakefile",
        "Rakefile",
        "SConstruct",
    ),
    *("CMakeLists.txt", "package.json", "dvc.yaml", "Taskfile.yml", "compose.yaml", "docker-compose.yml"),
)

#: How a program that has no such name begins: a script, and one for Linux.
_SCRIPT, _BINARY = b"#!", b"\x7fELF"

#: Of a folder that git does not know: files that are looked at, no larger than this.
_LARGEST_BYTES = 1 << 20

#: For git to list the files of a folder: more than any takes.
_MOST_SECONDS = 20

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
        below = _below(study, f"workloads: {file!r}", [path.parent], looked_at, of_python=False)
        found |= {f"{name}: {called}": each for called, each in below}
    for name, command in commands.items():
        place = f"workloads: {name}"
        files, folders, environments = _starts(f"{study}: {place}", command)
        found |= {f"{name}: {file.name} {number}": file for number, file in enumerate(files)}
        below = _below(study, place, folders, looked_at, environments=environments)
        found |= {f"{name}: {called}": each for called, each in below}
    sizes = {path: path.stat().st_size for path in found.values()}
    if len(sizes) > _MOST_FILES:
        raise InputError(f"{study}: workloads: {len(sizes):,} files of code lie in their folders: {_allowed()}")
    if (size := sum(sizes.values())) > _MOST_BYTES:
        most = max(sizes, key=sizes.__getitem__)
        raise InputError(
            f"{study}: workloads: {size >> 20:,} MiB of code lie in their folders, {most} the largest: {_allowed()}"
        )
    return found


def carried(study: Path, workloads: Mapping[str, str]) -> dict[str, Path]:
    """Return what of `files` goes along with workloads to another machine, called as seen from their folders.

    Environments stay here. Raises InputError where two files of different content have one name.
    """
    found: dict[str, Path] = {}
    for name, file in workloads.items():
        folder = Path(file).resolve().parent
        for path in files(study, {name: file}, {}).values():
            called = path.relative_to(folder)
            if any(_is_environment(folder / above) for above in called.parents if above.name):
                continue
            if checksum(found.setdefault(str(called), path)) != checksum(path):
                raise InputError(f"{study}: workloads: {path}: goes along, and {found[str(called)]} has the same name")
    return found


def checksum(file: Path) -> str:
    """Return the checksum of a file's content. Raises InputError where it cannot be read."""
    try:
        with file.open("rb") as opened:
            return hashlib.file_digest(opened, "sha256").hexdigest()
    except OSError as error:
        raise InputError(f"{file}: {error.strerror}") from error


def known_to_git(folder: str) -> list[str]:
    """Return the files of a folder that git tracks, none where it does not know the folder."""
    # A folder of others may bring settings along that have git run a program, or fetch what is missing by one.
    command = ["git", "-c", "core.fsmonitor=false", "-c", "core.sshCommand=false", "ls-files", "--sparse", "-z"]
    closed = os.environ | {"GIT_ALLOW_PROTOCOL": "none", "GIT_NO_LAZY_FETCH": "1", "GIT_TERMINAL_PROMPT": "0"}
    try:
        listed = subprocess.run(command, cwd=folder, env=closed, capture_output=True, timeout=_MOST_SECONDS)
    except subprocess.TimeoutExpired:  # what git keeps there may be pipes
        raise InputError(f"{folder}: git does not list its files within {_MOST_SECONDS} s") from None
    return [os.fsdecode(name) for name in listed.stdout.split(b"\0") if name] if listed.returncode == 0 else []


@cache
def tracked(folder: str) -> str:
    """Return a checksum of the files of a folder that git tracks, as they are now.

    Of a folder that git does not know, of its `.py` files up to 1 MiB: what a program writes must not train it again.
    """
    names = known_to_git(folder)
    if not names:
        small = (file for file in Path(folder).rglob("*.py") if file.is_file() and not _is_hidden(file, folder))
        names = [str(file.relative_to(folder)) for file in small if file.stat().st_size <= _LARGEST_BYTES]
    found = hashlib.sha256()
    for name in sorted(set(names)):
        file = Path(folder, name)
        content = checksum(file) if file.is_file() else "not there"
        found.update(os.fsencode(f"{name}\0{content}\n"))
    return found.hexdigest()


def _is_hidden(file: Path, folder: str) -> bool:
    return any(part.startswith(".") or part == "site-packages" for part in file.relative_to(folder).parts)


def _allowed() -> str:
    return (
        f"at most {_MOST_FILES:,} of {_MOST_BYTES >> 20} MiB, among {_MOST_ENTRIES:,} files, are read before they are "
        "trusted: give the code a folder of its own (or --config trust=all)"
    )


def _starts(place: str, command: Mapping[str, Any]) -> tuple[list[Path], list[Path], list[Path]]:
    """Return the files that a command names, the folders whose code it may run, and the environments of its Pythons.

    Of what lies in several of these all that counts in one does: folders come before environments.
    """
    folder = Path(command["folder"]).resolve()
    files, folders = named.named(place, folder, command["command"])
    run = [Path(word).name for word in shlex.split(command["command"])[:2]]  # `python run.txt` runs it
    files = [file for file in files if file.name in run or not file.name.lower().endswith(_DATA)]
    python = Path(os.path.abspath(command.get("python", "")))
    if os.sep in command.get("python", "") and python.is_file() and not named.is_of_the_system(python):
        files.append(python)
    # A script imports what lies beside it, or beside the file that it is a link to.
    scripts = [file for file in files if not is_binary(file)]
    beside = [above for file in scripts for above in (file.parent, file.resolve().parent)]
    whole = [each for each in folders if not _is_environment(each) and each.name]  # which the root has not
    whole += [each for each in beside if not named.is_of_the_system(each)]
    environments = [each for each in folders if _is_environment(each)]
    environments += [above for file in files for above in _environments_of(file)]
    brought = [file for file in files if not named.is_of_the_system(file.resolve())]
    return brought, list(dict.fromkeys([*whole, folder])), list(dict.fromkeys(environments))


def _environments_of(program: Path) -> Iterator[Path]:
    """Yield the environments of which a program is the Python, or one of the programs."""
    for above in (program.parent, program.parent.parent):
        is_one = above != program.parent and program.parent.name == "bin" and any(above.glob("lib*/python*"))
        if is_one or (above / "pyvenv.cfg").is_file():
            yield above


def _below(
    study: Path,
    place: str,
    starts: Sequence[Path],
    looked_at: list[int],
    of_python: bool = True,
    environments: Sequence[Path] = (),
) -> Iterator[tuple[str, Path]]:
    """Yield the code below folders, links followed, each once, with what it is called.

    `looked_at` counts entries. Raises InputError for too many.
    """
    starting = [*starts, *environments]
    pending = [(here, number, here if here in environments else None) for number, here in enumerate(starting)][::-1]
    seen = set()
    while pending:
        here, number, within = pending.pop()
        if (real := here.resolve()) in seen:
            continue
        seen.add(real)
        found: list[Path] = []
        is_conda = within is not None and not (within / "pyvenv.cfg").is_file()
        if here == within:
            found += sorted(path for pattern in _OF_ENVIRONMENT for path in here.glob(pattern) if path.is_file())
        try:
            entries = sorted(os.scandir(here), key=lambda entry: entry.name)
        except OSError as error:
            raise InputError(f"{study}: {place}: {here}: {error.strerror}") from error
        looked_at[0] += len(entries)
        if looked_at[0] > _MOST_ENTRIES:
            raise InputError(f"{study}: {place}: over {_MOST_ENTRIES:,} files lie in {starting[number]}: {_allowed()}")
        for entry in entries:
            path = Path(entry.path)
            if real == ROOT and (entry.name.startswith(".") or entry.name in _OF_THE_PROJECT):
                continue
            if entry.is_dir():
                if within and _is_installed(path.relative_to(within), is_conda):
                    continue
                if not _is_of_git(path) and (of_python or entry.name != "__pycache__"):
                    pending.append((path, number, within or (path if _is_environment(path) else None)))
            elif entry.is_file() and (_is_own_code(path) if is_conda else is_code(path)):
                found.append(path)
        yield from ((f"{number}: {path.relative_to(starting[number])}", path) for path in found)


def _is_of_git(folder: Path) -> bool:
    """Return whether a folder is one that git keeps its own files in."""
    return folder.name == ".git" and (folder / "HEAD").is_file() and (folder / "objects").is_dir()


def _is_environment(folder: Path) -> bool:
    is_one = (folder / "pyvenv.cfg").is_file() or (folder / "conda-meta").is_dir()
    return folder.name in _ENVIRONMENTS and is_one


def _is_installed(folder: Path, is_conda: bool) -> bool:
    """Return whether a folder of an environment holds its packages; Python's own modules lie in conda's, too."""
    pattern = "lib*/python*" if is_conda else "lib*/python*/site-packages"
    return len(folder.parts) == len(Path(pattern).parts) and folder.match(pattern)


def _is_own_code(file: Path) -> bool:
    """Return whether a file of an environment that holds libraries and binaries of packages, too, is none of these."""
    is_script = os.access(file, os.X_OK) and (file.name.startswith("python") or _begins(file, _SCRIPT))
    return is_script or file.name.endswith((".py", ".pyc", ".pth", ".sh"))


def is_code(file: Path) -> bool:
    """Return whether a file may run, by its name, or as it may be executed and begins like a program."""
    if file.name.endswith(_SUFFIXES) or file.name in _NAMES or _LIBRARY.search(file.name):
        return True
    if file.suffix == ".pth":  # Python reads these there alone: elsewhere they are checkpoints
        return file.parent.name in ("site-packages", "dist-packages")
    return os.access(file, os.X_OK) and (_begins(file, _SCRIPT) or is_binary(file))


def is_binary(file: Path) -> bool:
    """Return whether a file is a program for Linux."""
    return _begins(file, _BINARY)


def _begins(file: Path, sign: bytes) -> bool:
    try:
        with file.open("rb") as opened:
            return opened.read(len(sign)) == sign
    except OSError:
        return True  # it is told when it is read
