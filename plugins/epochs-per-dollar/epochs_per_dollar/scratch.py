"""A copy of the command's folder to measure in, so that a minute overwrites nothing: `--scratch`.

Data sets are linked and not copied: what is large and no checkpoint, and what lies in folders that are called so.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from epochs_per_dollar.before import CHECKPOINTS, DATA

#: A file that is larger is data, unless it is a checkpoint.
_LARGE_BYTES = 64 << 20

#: Folders that are linked: environments and packages, which are large, and which no training writes to.
_LINKED = {*DATA, ".venv", "venv", "env", "node_modules", "site-packages"}
_LEFT_OUT = {".git", "__pycache__"}

#: Left free where the copy is made.
_SPARE_BYTES = 64 << 20


class ScratchError(Exception):
    """A copy that cannot be made; the text says why."""


@dataclass
class Plan:
    """What of a folder is copied and what is linked, as paths within it, and the bytes that are copied."""

    folder: Path
    folders: list[Path] = field(default_factory=list)
    copied: list[Path] = field(default_factory=list)
    linked: list[Path] = field(default_factory=list)
    size_bytes: int = 0

    def words(self) -> str:
        """Return in words what is copied, its size first."""
        text = f"{_size(self.size_bytes)} are copied, {len(self.copied)} file{'s' * (len(self.copied) != 1)}"
        if self.linked:
            more = f" and {len(self.linked) - 3} more" if len(self.linked) > 3 else ""
            text += f"; linked, so that what is written there stays: {', '.join(map(str, self.linked[:3]))}{more}"
        return text


def _size(count: int) -> str:
    return f"{count / 1e9:.1f} GB" if count >= 1e9 else f"{count / 1e6:.1f} MB"


def plan(folder: Path) -> Plan:
    """Return what a copy of a folder would hold."""
    found, left = Plan(folder), [Path()]
    while left:
        here = left.pop()
        try:
            entries = sorted(os.scandir(folder / here), key=lambda entry: entry.name)
        except OSError as error:
            raise ScratchError(f"--scratch: {folder / here}: {error.strerror}") from None
        for entry in entries:
            place = here / entry.name
            if entry.is_symlink():
                found.linked.append(place)
            elif entry.is_dir():
                if entry.name in _LINKED:
                    found.linked.append(place)
                elif entry.name not in _LEFT_OUT:
                    found.folders.append(place)
                    left.append(place)
            elif entry.is_file():
                size = entry.stat().st_size
                if size > _LARGE_BYTES and not entry.name.endswith(CHECKPOINTS):
                    found.linked.append(place)
                else:
                    found.copied.append(place)
                    found.size_bytes += size
    return found


def make(asked: Plan) -> Path:
    """Make the copy and return its folder. Raises ScratchError where it does not fit, or a file cannot be read."""
    place = Path(tempfile.mkdtemp(prefix="epd-scratch-"))
    try:
        free = shutil.disk_usage(place).free
        if asked.size_bytes + _SPARE_BYTES > free:
            needed = f"{_size(asked.size_bytes)} are to be copied, and {place.parent} has {_size(free)} left"
            raise ScratchError(f"--scratch: {needed} (TMPDIR names another place)")
        for folder in asked.folders:
            (place / folder).mkdir(parents=True)
        for file in asked.copied:
            shutil.copy2(asked.folder / file, place / file)
        for link in asked.linked:
            (place / link).symlink_to((asked.folder / link).resolve())
    except (OSError, ScratchError) as error:
        remove(place)
        if isinstance(error, ScratchError):
            raise
        raise ScratchError(f"--scratch: {error.filename}: {error.strerror}") from None
    return place


def remove(place: Path) -> None:
    """Remove a copy, and nothing that it links to."""
    shutil.rmtree(place, ignore_errors=True)
