"""Set what a training took and cost beside what its minute had promised."""

import sys
from collections.abc import Sequence

from scripts.epd import _call


def run(words: Sequence[str]) -> int:
    """Hand the words to the recorder, a package of its own that needs nothing of the project."""
    sys.path.insert(0, str(_call.ROOT / "plugins" / "epochs-per-dollar"))
    from epochs_per_dollar import bill

    return int(bill.run(words))


def command() -> int:
    """Set what a training took and cost beside what its minute had promised (docs/run.md); alone, list the ledger.

    \b
    ./epd bill
    ./epd bill --usd 12.40
    """
    return run([])
