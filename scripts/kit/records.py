"""The one file in which a kit's records travel: a ZIP that grows by a run, whole at any moment."""

import re
import shutil
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from scripts.kit import RECORDS_BYTES
from scripts.storage.errors import InputError
from scripts.storage.files import replacing

#: Beside the runs: what the kit was made of, and what the machine is.
ABOUT, MACHINE = "kit.json", "machine.yaml"

#: The files of a run, `run.json` last: where it is, the others are whole.
FILES = ("train.log", "epochs.csv", "telemetry.csv", "run.json")

#: workload/hardware/framework/variant/rN
_RUN = r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*/\w+/b(?:\d+|largest)[\w-]*/r\d+"
_MEMBER = re.compile(rf"({_RUN})/({'|'.join(map(re.escape, FILES))}|cut-\d+)", re.ASCII)

#: More than a file of a record holds (bytes): what is larger was not written by a kit.
_MOST_BYTES = {"run.json": 2**20, "epochs.csv": 8 * 2**20, "telemetry.csv": 16 * 2**20, "train.log": 32 * 2**20}
_MOST_OTHER_BYTES = 2**20

#: More than all of them together (bytes): sixteen times what they may weigh in the archive.
_MOST_IN_ALL_BYTES = 16 * RECORDS_BYTES


def add(archive: Path, members: Mapping[str, bytes]) -> None:
    """Add files to the archive, which is then replaced as a whole; a run's record takes the place of an earlier one.

    Raises InputError where it would grow beyond what it may weigh, or cannot be written.
    """
    with replacing(archive) as temporary:
        again = set(members) & set(_names(archive))
        if archive.exists() and not again:
            shutil.copyfile(archive, temporary)
        elif archive.exists():
            _copy(archive, temporary, again)
        with zipfile.ZipFile(temporary, "a" if archive.exists() else "w", zipfile.ZIP_DEFLATED) as packed:
            for name, content in members.items():
                packed.writestr(name, content)
        if (size := temporary.stat().st_size) > RECORDS_BYTES:
            raise InputError(
                f"{archive}: {size / 2**20:.1f} MiB with this run, {RECORDS_BYTES / 2**20:.0f} are allowed"
            )


def _names(archive: Path) -> list[str]:
    if not archive.exists():
        return []
    with zipfile.ZipFile(archive) as packed:
        return packed.namelist()


def _copy(archive: Path, copy: Path, left_out: set[str]) -> None:
    """Copy an archive without some of its files."""
    with zipfile.ZipFile(archive) as source, zipfile.ZipFile(copy, "w", zipfile.ZIP_DEFLATED) as packed:
        for name in source.namelist():
            if name not in left_out:
                packed.writestr(name, source.read(name))


def read(archive: Path) -> tuple[dict[str, dict[str, bytes]], dict[str, bytes]]:
    """Return the runs of the archive (path of the run -> its files by name), and what lies beside them.

    Raises InputError where it is damaged, or holds what no kit writes there.
    """
    runs: dict[str, dict[str, bytes]] = {}
    beside: dict[str, bytes] = {}
    if archive.exists() and not archive.is_file():  # a pipe would never end
        raise InputError(f"{archive}: is not a file")
    try:
        if (size := archive.stat().st_size) > RECORDS_BYTES:
            raise InputError(
                f"{archive}: {size / 2**20:.1f} MiB, and records weigh {RECORDS_BYTES / 2**20:.0f} at most"
            )
        with zipfile.ZipFile(archive) as packed:
            for member in _members(archive, packed):
                found = _MEMBER.fullmatch(member.filename)
                group = runs.setdefault(found[1], {}) if found else beside
                group[found[2] if found else member.filename] = packed.read(member)
    except OSError as error:
        raise InputError(f"{archive}: {error.strerror or error}") from error
    # What zipfile raises for a compression that it does not know is NotImplementedError, for a password RuntimeError.
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, EOFError) as error:
        raise InputError(
            f"{archive}: not a whole file of records ({error}): take an older copy, or another name"
        ) from error
    for name in (ABOUT, MACHINE):
        if name not in beside:
            raise InputError(f"{archive}: {name} is missing: not a file of records that a kit wrote")
    return runs, beside


def _members(archive: Path, packed: zipfile.ZipFile) -> list[zipfile.ZipInfo]:
    """Return what is in an archive. Raises InputError for what no kit writes, before anything is unpacked."""
    members = packed.infolist()
    names: set[str] = set()
    for member in members:
        name = member.filename
        found = _MEMBER.fullmatch(name)
        if not found and name not in (ABOUT, MACHINE):
            raise InputError(f"{archive}: {name!r} is not a file of a kit's records")
        if name in names:
            raise InputError(f"{archive}: {name} is there twice: which one was measured is not known")
        if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise InputError(f"{archive}: {name}: is compressed in another way than a kit's records are")
        if member.file_size > _MOST_BYTES.get(found[2] if found else name, _MOST_OTHER_BYTES):
            raise InputError(f"{archive}: {name}: {member.file_size} bytes are more than a record holds")
        names.add(name)
    if (size := sum(member.file_size for member in members)) > _MOST_IN_ALL_BYTES:
        raise InputError(f"{archive}: {size / 2**20:.0f} MiB unpacked are more than records hold")
    return members


def about(content: bytes, source: str) -> dict[str, Any]:
    """Return what the `kit.json` of `source` says. Raises InputError where it is none."""
    from scripts.storage import schemas  # which a kit that starts cannot import yet

    return schemas.parse_json(content, "kit", f"{source}: {ABOUT}")


def machine(content: bytes, source: str) -> tuple[str, str]:
    """Return the name of the one machine that the `machine.yaml` of `source` describes, and its text.

    Raises InputError where it is no entry of the catalogue of machines.
    """
    from scripts.storage import schemas

    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        raise InputError(f"{source}: {MACHINE}: not UTF-8: {error}") from error
    names = list(schemas.parse_yaml(text, "hardware", f"{source}: {MACHINE}"))
    if len(names) != 1:
        raise InputError(f"{source}: {MACHINE}: describes {len(names)} machines, and a kit is carried to one")
    return names[0], text


def files_of(folder: Path) -> dict[str, bytes]:
    """Return the files of a run's folder by name."""
    return {name: (folder / name).read_bytes() for name in FILES if (folder / name).is_file()}


def cut_name(seconds: float) -> str:
    """Return the name of the empty file that stands for a run which was ended after so many seconds."""
    return f"cut-{seconds:.0f}"


def cut_seconds(name: str) -> float:
    """Return the seconds of a `cut_name`, 0 for another file's name."""
    return float(name.removeprefix("cut-")) if name.startswith("cut-") else 0.0
