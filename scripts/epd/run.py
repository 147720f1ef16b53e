"""Measure any training for a minute, and price the whole."""

import sys
from collections.abc import Sequence

from scripts.epd import _call


def run(words: Sequence[str]) -> int:
    """Hand the words to the recorder, a package of its own that needs nothing of the project."""
    sys.path.insert(0, str(_call.ROOT / "plugins" / "epochs-per-dollar"))
    from epochs_per_dollar import command as recorder

    return int(recorder.run(words))


def command() -> int:
    """Run a training for a minute, unchanged, and say what the whole takes and costs (docs/run.md).

    \b
    ./epd run -- python train.py --batch-size 64
    ./epd run --repeats 4 --sweep --batch-size=8,16,32 -- python train.py
    """
    return run([])
