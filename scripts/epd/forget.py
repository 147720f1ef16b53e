"""Remove what was kept of measured trainings."""

import sys
from collections.abc import Sequence

from scripts.epd import _call
from scripts.storage.errors import InputError


def run(words: Sequence[str]) -> int:
    """Hand it to the recorder, a package of its own."""
    if words:
        raise InputError(f"epd forget takes no words; {words[0]!r} is one")
    sys.path.insert(0, str(_call.ROOT / "plugins" / "epochs-per-dollar"))
    from epochs_per_dollar.__main__ import main

    return int(main(["forget"]))


def command() -> int:
    """Remove the records, pages and ledger of `epd run` from your data folder.

    \b
    ./epd forget
    """
    return run([])
