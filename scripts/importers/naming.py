"""What runs are called that no log names, and which runs of one name are other trainings; pure."""

import hashlib
import re
import unicodedata
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from scripts.storage.axes import IN_LOGS

#: Folders and files that no workload is called by.
_NO_NAME = re.compile(
    r"(?i)lightning_logs|tb_logs|logs?|runs?|results?|outputs?|train\d*|version_\d+|checkpoint-\d+|metrics|trainer_state|"
    r"mlruns|meta|mlflow|wandb|offline-run-.*|run-.*|training|training_?log|history|console|events\.out\..*|detect|"
    r"trainer_log|stdout|stderr|log_\d+|[0-9a-f]{32}"
)

#: Names that a program gives every one of its files: the folder distinguishes runs.
_SAME_NAME = re.compile(r"(?i)results|metrics|meta|trainer_state|trainer_log|history|events\.out\..*|run-[0-9a-z]{8}")

#: What no two runs share, or what they are repeats in.
_NO_SETTING = re.compile(
    r"(?:.*_)?(?:seed|random_state|run_name|run_id|uuid|timestamp|hostname)|name|id|dir|date|time|host|user|entity|group|"
    r"project|tags|notes|experiment|exp(?:eriment)?_name|device|rank|local_rank|resume|exist_ok|verbose|version|"
    r"(?:output|log|logging|sav(?:e|ing)|checkpoint|ckpt|run|work|out|result|tensorboard)s?_(?:dir|path|folder|file|name)"
)

_WORDS = re.compile(r"[^a-z0-9]+")

#: Letters of a setting's value in a name, and of the name of a workload.
_VALUE, _NAME = 24, 100


def plain(name: str) -> str:
    """Return a name in small letters, with _ between its words: train/loss is train_loss."""
    return _WORDS.sub("_", name.lower()).strip("_")


def slug(text: str) -> str:
    """Return a text as a name that a workload or a machine may have; empty for one without letters and digits.

    Letters lose their accents; other scripts are distinguished by a checksum: 実験1 is 1-441466, 実験 logs-8d2062.
    """
    plain_text = unicodedata.normalize("NFKD", text)
    said = re.sub(r"[^A-Za-z0-9.+-]+", "_", re.sub(r"(?<=[A-Za-z])[\u0300-\u036f]+", "", plain_text)).strip("_.+-")
    if not any(letter.isalnum() and not letter.isascii() for letter in plain_text):
        return said[:_NAME]
    checksum = hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:6]
    return f"{said[: _NAME - 7] or 'logs'}-{checksum}"


def workload_of(name: PurePosixPath) -> str:
    """Return what a run is called after the folders of its log, those above first: bert-base, or bert-seed_1."""
    parts = [part for part in (*name.parts[:-1], name.stem) if not _NO_NAME.fullmatch(part)]
    said = "-".join(filter(None, (slug(part) for part in parts)))
    return said[-_NAME:].lstrip("_.+-") or "training"


def is_common(name: str) -> bool:
    """Return whether many folders are called so: runs, logs, version_0."""
    return _NO_NAME.fullmatch(name) is not None


def place_of(folder: Path) -> str:
    """Return what people call a folder of logs: with the one above it, where many are called so."""
    parts = folder.parts[-2:] if is_common(folder.name) else folder.parts[-1:]
    return "/".join(part for part in parts if part != folder.anchor)


def title_of(run: str) -> str:
    """Return what people call the run of a log by its path: its folder, where all files are called alike."""
    path, _, number = run.partition("#")
    parts = PurePosixPath(path).parts
    if len(parts) > 1 and _SAME_NAME.fullmatch(parts[-1]):
        parts = parts[:-1]
    return "/".join(parts) + (f" #{number}" if number else "")


def distinguish(rows: Sequence[dict[str, Any]]) -> None:
    """Add to the workload of runs of one cell the settings in which they differ: others are other trainings.

    `settings` of a row are its parameters, as texts. A seed makes repeats.
    """
    cells: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for row in rows:
        if row.get("settings"):
            cells.setdefault(tuple(row.get(axis) for axis in IN_LOGS), []).append(row)
    for of_cell in cells.values():
        settings = [_settings(row["settings"]) for row in of_cell]
        keys = _differing(settings)
        kinds = list(dict.fromkeys(tuple(each.get(key, "") for key in keys) for each in settings))
        words = {kind: _words(keys, kind) for kind in kinds}
        room = _NAME - max(map(len, words.values()))
        if len(set(words.values())) < len(kinds) or room < _NAME // 3:
            words = {kind: f"+settings_{index}" for index, kind in enumerate(kinds, start=1)}
            room = _NAME - len(f"+settings_{len(kinds)}")
        for row, each in zip(of_cell, settings, strict=True):
            row["workload"] = row["workload"][:room] + words[tuple(each.get(key, "") for key in keys)]


def _settings(given: Mapping[str, Any]) -> dict[str, str]:
    return {key: str(value) for key, value in given.items() if not _NO_SETTING.fullmatch(plain(key))}


def _differing(settings: Sequence[Mapping[str, str]]) -> list[str]:
    """Return the settings that distinguish runs, in their order: none that adds nothing to those before it."""
    found: list[str] = []
    kinds = 1
    for key in dict.fromkeys(key for each in settings for key in each):
        more = len({tuple(each.get(one, "") for one in (*found, key)) for each in settings})
        if more > kinds:
            found, kinds = [*found, key], more
    return found


def _words(keys: Sequence[str], values: Sequence[str]) -> str:
    """Return settings as the end of a workload's name: +lr_0.1+depth_4."""
    return "".join(
        f"+{slug(plain(key))}_{slug(value)[:_VALUE] or 'none'}" for key, value in zip(keys, values, strict=True)
    )
