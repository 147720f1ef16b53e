"""Statistics of repeats: each value is a whole run in a fresh process, never an epoch or a step of one.

Steps of one run say how steady it was, not how far the next run will be from it: their spread taken for that of runs
raised false alarms from 41 to 60 % (mui-public PR 1712). Runs without a value (NaN) are left out.
"""

from collections.abc import Sequence
from math import comb

import numpy as np
from numpy.typing import ArrayLike

from scripts.storage.numbers import is_tie

#: From so many runs on the extremes cover the median with 95 % (five: 93.75 %), and six against six can differ
#: with p below `SIGNIFICANT`.
ENOUGH_RUNS = 6

#: asv's level (`asv/_stats.py`). Ours is one-sided, in the direction that is seen: two-sided, even six runs that
#: are all slower than six others have p = 2/924 = .0022, and no six runs would ever tell anything.
SIGNIFICANT = 0.002

#: From so many runs on MLPerf Training drops the fastest and the slowest (training_rules.adoc).
TRIMMED_RUNS = 5


def _observed(values: ArrayLike) -> np.ndarray:
    array = np.asarray(values, dtype=float).ravel()
    return array[~np.isnan(array)]


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


def p_value(a: ArrayLike, b: ArrayLike) -> float:
    """Return the one-sided p of Mann and Whitney's test, in the direction that is seen; 1 without a run of either.

    Exact, equal values too: the share of all ways to deal the ranks out whose sum is as far out as that of `a`.
    """
    a, b = _observed(a), _observed(b)
    if not len(a) or not len(b):
        return 1.0
    both = np.concatenate([a, b])
    ordered = np.sort(both)
    # Twice the rank, so that the mean rank of equal values is whole.
    ranks = np.searchsorted(ordered, both, side="left") + np.searchsorted(ordered, both, side="right") + 1
    ways = np.zeros((len(a) + 1, ranks.sum() + 1))  # of choosing so many values whose ranks have that sum
    ways[0, 0] = 1
    for rank in ranks:
        ways[1:, rank:] += ways[:-1, :-rank]
    seen, sums = ranks[: len(a)].sum(), ways[-1]
    return float(min(sums[: seen + 1].sum(), sums[seen:].sum()) / sums.sum())


def tie(a: ArrayLike, b: ArrayLike) -> bool:
    """Return whether the medians of two cells, both with a run, are not told apart.

    They are where the gap is within `scripts.storage.numbers.TIE`, and, with `ENOUGH_RUNS` on both sides, where
    p >= `SIGNIFICANT`. Fewer runs cannot reach that p: there the gap alone decides.
    """
    a, b = _observed(a), _observed(b)
    with np.errstate(divide="ignore", invalid="ignore"):  # what is free has no ratio, and no tie
        ratio = float(np.divide(np.median(a), np.median(b)))
    if is_tie(ratio):
        return True
    return min(len(a), len(b)) >= ENOUGH_RUNS and p_value(a, b) >= SIGNIFICANT
