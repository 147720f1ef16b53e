"""What is said and set before a command starts: what a measured minute may overwrite or send, and how to prevent it."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

#: What keeps W&B's runs and the hub's files on this machine: `--offline`.
OFFLINE = {
    "WANDB_MODE": "offline",
    "HF_HUB_OFFLINE": "1",
    "HF_DATASETS_OFFLINE": "1",
    "TRANSFORMERS_OFFLINE": "1",
}

#: Endings of files that hold what was learned.
CHECKPOINTS = (".pt", ".pth", ".ckpt", ".safetensors", ".h5", ".keras", ".msgpack", ".pkl", ".joblib", ".ubj", ".bin")

#: Folders that hold data, or programs of others: no checkpoint of this command's lies there.
DATA = {"data", "dataset", "datasets"}
_OTHERS = {"node_modules", "site-packages", "__pycache__", "venv", "wandb"}

#: So much of a folder is gone through, and so much of a program is read.
_MOST_ENTRIES, _DEPTH, _MOST_BYTES = 2_000, 3, 1 << 20

_REPORTS = re.compile(rb"\bwandb\b|\btransformers\b")
_NOT_ONLINE = ("offline", "disabled", "dryrun")


def offline(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the variables of `--offline`; a W&B that is switched off stays so."""
    is_off = environment.get("WANDB_MODE") == "disabled"
    return {name: value for name, value in OFFLINE.items() if not (is_off and name == "WANDB_MODE")}


def warnings(folder: Path, command: Sequence[str], environment: Mapping[str, str]) -> Iterator[str]:
    """Yield a line for each thing that a measured minute may do which nobody wants of it; none where it is unlikely."""
    found = next(_checkpoints(folder), None)
    if found is not None:
        yield f"{found.relative_to(folder)} is here, and may be overwritten: --scratch runs it in a copy of the folder"
    if _reports_online(folder, command, environment):
        yield "it may open an online run of W&B: --offline keeps it on this machine"


def _checkpoints(folder: Path) -> Iterator[Path]:
    left, folders = _MOST_ENTRIES, [(folder, 0)]
    while folders and left > 0:
        here, depth = folders.pop(0)
        try:
            entries = sorted(os.scandir(here), key=lambda entry: entry.name)[:left]
        except OSError:
            continue
        left -= len(entries)
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                if depth < _DEPTH and not entry.name.startswith(".") and entry.name not in DATA | _OTHERS:
                    folders.append((Path(entry.path), depth + 1))
            elif entry.name.endswith(CHECKPOINTS):
                yield Path(entry.path)


def _reports_online(folder: Path, command: Sequence[str], environment: Mapping[str, str]) -> bool:
    """Return whether W&B knows who this is, is not switched off, and the program names it or has used it here."""
    if environment.get("WANDB_MODE") in _NOT_ONLINE or environment.get("WANDB_DISABLED", "").lower() in ("true", "1"):
        return False
    if not environment.get("WANDB_API_KEY") and b"api.wandb.ai" not in _text(Path.home() / ".netrc"):
        return False
    if (folder / "wandb").is_dir():
        return True
    return any(_REPORTS.search(_text(folder / word)) for word in command if word.endswith(".py"))


def _text(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(_MOST_BYTES)
    except OSError:
        return b""
