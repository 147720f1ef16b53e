"""What the title of a chart says: its finding, by the project's rule of verdicts, and never more."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from scripts.analysis.verdicts import Judge, undecided, won


def winner(
    labels: Sequence[str], values: Sequence[Any], judge: Judge, does: str, machines: Sequence[str] | None = None
) -> str:
    """Return which cell has the smallest values, as `does` words it ("costs least"), or which may (`verdicts.won`).

    `values` are those of each cell's runs, as long as `labels`, `machines` where each ran. Empty with fewer than two.
    """
    if len(labels) < 2:
        return ""
    order = np.argsort([np.median(np.asarray(each, dtype=float)) for each in values], kind="stable")
    best, *others = (int(each) for each in order)
    of = [machines[cell] for cell in (best, *others)] if machines else None
    reasons = undecided(judge, values[best], [values[other] for other in others], of)
    near = [others[at] for at in reasons]
    return won([labels[cell] for cell in (best, *near)], does, len(labels), reasons.values())


def span(low: float, high: float, digits: int = 2, unit: str = "×") -> str:
    """Return a range in words, one number where both ends read alike."""
    first, last = f"{low:,.{digits}f}", f"{high:,.{digits}f}"
    return f"{first}{unit}" if first == last else f"{first} to {last}{unit}"
