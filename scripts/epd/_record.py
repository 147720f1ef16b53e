"""Where a record of `epd run`, or of a grid's command, lies."""

import sys
from pathlib import Path

from scripts.epd import _call
from scripts.storage.errors import InputError
from scripts.workflow.recorded import RECORDER, Recorded, read


def find(name: str, per_step: str) -> Recorded:
    """Return what a record says: the path of its run.json or folder, or its name. Raises InputError for what it lacks.

    `per_step` is what a step goes through on all cards, as `12x1024 tokens`, where the record does not say it.
    """
    return read(_file(name), per_step)


def _file(name: str) -> Path:
    sys.path.insert(0, str(RECORDER))  # it knows its folder
    from epochs_per_dollar.record import folder

    for place in (Path(_call.from_here(name)), folder() / name):
        if place.is_file() or (place / "run.json").is_file():
            return place if place.is_file() else place / "run.json"
    raise InputError(f"{name}: there is no such record, neither here nor in {folder()}")
