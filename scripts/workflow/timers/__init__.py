"""Who calls a study again: cron and systemd on this machine, GitHub Actions.

Each module has `remove(label)`, which returns whether there was anything to remove, and `installed()`, a line for each
schedule of this clone; what is installed again replaces what was. A label is a study's name, or `repetitions.PRICES`.
"""

from collections.abc import Iterable
from pathlib import Path

from scripts.storage.errors import InputError
from scripts.storage.words import printable

#: The clone that schedules are of: two clones do not take each other's.
ROOT = Path(__file__).resolve().parents[3]

#: What marks what this project has installed.
MARK = "epochs-per-dollar"


def check_lines(by: str, texts: Iterable[str]) -> None:
    """Raise InputError for a text that would be more than a part of one line where a schedule is written."""
    for text in texts:
        if "\n" in text or printable(text) != text:
            raise InputError(f"by: {by}: {text!r} holds a line break or a control character: rename it")
