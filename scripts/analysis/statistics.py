"""Statistics of repeats: each value is a whole run in a fresh process, never an epoch or a step of one.

Steps of one run say how steady it was, not how far the next run will be from it: their spread taken for that of runs
raised false alarms from 41 to 60 % (mui-public PR 1712). Runs without a value (NaN) are left out.
"""

from collections.abc import Sequence
from math import comb

import numpy as np
from numpy.typing import ArrayLike

#: From so many runs on MLPerf Training drops the fastest and the slowest (training_rules.adoc).
TRIMMED_RUNS = 5


def _observed(values: ArrayLike) -> np.ndarray:
    array = np.asarray(values, dtype=float).ravel()
    known: np.ndarray = array[~np.isnan(array)]
    return known


def spread(values: ArrayLike) -> float | None:
    """Return (highest - lowest) / median of positive values, None below two runs: one run has no spread."""
    runs = _observed(values)
    return float(np.ptp(runs) / np.median(runs)) if len(runs) > 1 else None


def is_unstable(values: ArrayLike, limit: float) -> bool:
    """Return whether the spread is above `limit`: such a cell is measured again, once, and both are kept."""
    found = spread(values)
    return found is not None and found > limit


def median_interval(values: ArrayLike, confidence: float = 0.95) -> tuple[float, float, float] | None:
    """Return (low, high, coverage): two of the values between which the median lies with that probability.

    Of the k-th smallest and k-th largest values the closest pair whose coverage is at least `confidence`:
    1 - 2 P(fewer than k of n tosses are heads), whatever the distribution (David & Nagaraja, "Order
    Statistics", section 7.1). None where even all values are too few: at 95 % fewer than 6, as 5 cover
    the median with 93.75 %. Raises ValueError for a confidence that is not between 0 and 1.
    """
    if not 0 < confidence < 1:
        raise ValueError(f"confidence is {confidence}; between 0 and 1 is allowed")
    ordered = np.sort(_observed(values))
    n, found, outside = len(ordered), None, 0
    for k in range(n // 2):
        outside += 2 * comb(n, k)
        coverage = 1 - outside / 2**n
        if coverage < confidence:
            break
        found = float(ordered[k]), float(ordered[n - 1 - k]), coverage
    return found


def trimmed(seconds: Sequence[float]) -> tuple[float | None, tuple[int, ...]]:
    """Return the mean without the fastest and the slowest run, and the positions of these two in `seconds`.

    MLPerf Training's score: from `TRIMMED_RUNS` on; below, the mean of all and no position; None without a run.
    A run that did not converge is infinite: one of them may be the slowest, two make the mean infinite.
    """
    order = [int(i) for i in np.argsort(seconds, kind="stable") if not np.isnan(seconds[i])]
    dropped = (order[0], order[-1]) if len(order) >= TRIMMED_RUNS else ()
    rest = [seconds[i] for i in order if i not in dropped]
    return (float(np.mean(rest)) if rest else None), dropped
