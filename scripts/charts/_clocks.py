"""What the time of a cost is called in charts."""

import pandas as pd

from scripts.analysis import clocks


def axis(runs: pd.DataFrame) -> str:
    """Return the name of the time that is paid for."""
    return "start to exit at full length" if clocks.is_paid_by_process(runs) else "time to train"


def paid(runs: pd.DataFrame) -> str:
    """Return the beginning of a caption: which time is paid for."""
    if not clocks.is_paid_by_process(runs):
        return "Time to train"
    return f"A training of full length from start to exit ({clocks.extrapolated(runs)})"
