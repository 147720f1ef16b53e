"""What a file of samples says of itself, which the record of a run on them repeats."""

import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

from scripts.storage.errors import InputError


@contextmanager
def opened(path: Path) -> Iterator[Any]:
    """Open an archive of `scripts.datasets`. Raises InputError for any other file."""
    try:
        with np.load(path) as archive:
            yield archive
    except (OSError, EOFError, ValueError, KeyError, BadZipFile) as error:
        raise InputError(f"{path}: not a data set made by this project: {error}") from error


def describe(path: Path) -> dict[str, Any]:
    """Return what was noted about the file when it was made: data set, kind, sizes, checksums of its
    sources.

    With `content`, a checksum of its arrays, from what the archive itself notes of each.
    """
    with opened(path) as archive:
        noted = sorted((member.filename, member.file_size, member.CRC) for member in archive.zip.infolist())
        arrays = [member for member in noted if member[0] != "about.npy"]
        content = hashlib.sha256(repr(arrays).encode()).hexdigest()
        about: dict[str, Any] = json.loads(str(archive["about"]))
        return about | {"content": content}


def are_same(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Return whether two descriptions are of the same samples, whichever files these came in.

    Records of before `content` was noted are known by the files that their data were read from.
    """
    noted = ("content",) if "content" in one and "content" in other else ("train_samples", "sha256")
    return all(one[name] == other[name] for name in ("dataset", "kind", *noted))
