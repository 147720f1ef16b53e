"""How sure a cost is: ranges of what was observed, and what is cheaper with what probability.

Runs without a value (NaN) are left out.
"""

import numpy as np
from numpy.typing import ArrayLike

from scripts.costs.billing import SECONDS_PER_HOUR


def _observed(values: ArrayLike) -> np.ndarray:
    array = np.asarray(values, dtype=float).ravel()
    return array[~np.isnan(array)]


def _check_prices(*usd_per_hour: float) -> None:
    if not all(low <= high for low, high in zip((0.0, *usd_per_hour), usd_per_hour, strict=False)):
        raise ValueError(f"prices per hour are {usd_per_hour}; 0 or more, the lowest first, is allowed")


def probability_cheaper(costs_a: ArrayLike, costs_b: ArrayLike) -> float:
    """Return the probability that a run of A costs less than one of B, from the costs of runs of both.

    The share of pairs in which A costs less, and half of those in which they cost the same: the common
    language effect size (McGraw & Wong, Psychological Bulletin 111 (1992) 361-365), the Mann-Whitney U of
    B over the number of pairs. NaN without a run of either. It says nothing beyond the runs observed:
    from one run of each it is 0, 1/2 or 1.
    """
    a, b = _observed(costs_a), np.sort(_observed(costs_b))
    if not len(a) or not len(b):
        return float("nan")
    dearer_or_same = len(b) - np.searchsorted(b, a, side="left")
    dearer = len(b) - np.searchsorted(b, a, side="right")
    return float(np.sum(dearer_or_same + dearer) / 2 / (len(a) * len(b)))


def probability_cheaper_with_prices(
    seconds_a: ArrayLike,
    price_low_a: float,
    price_high_a: float,
    seconds_b: ArrayLike,
    price_low_b: float,
    price_high_b: float,
) -> float:
    """Return the probability that a run of A costs less than one of B, from their times and price ranges.

    As `probability_cheaper`, with hourly prices (USD) uniform over their ranges, each run's for itself: for
    every pair of runs two costs are uniform over their ranges, and the probability that one is the smaller
    is exact. Not for two that have the same price at the same time: theirs are not independent. Raises
    ValueError for a range that is negative or upside down.
    """
    _check_prices(price_low_a, price_high_a)
    _check_prices(price_low_b, price_high_b)
    a, b = _observed(seconds_a)[:, None], _observed(seconds_b)[None, :]
    if not a.size or not b.size:
        return float("nan")
    a_low, a_high, b_low, b_high = a * price_low_a, a * price_high_a, b * price_low_b, b * price_high_b
    a_width, b_width = a_high - a_low, b_high - b_low
    low, high = np.maximum(a_low, b_low), np.minimum(a_high, b_high)
    with np.errstate(divide="ignore", invalid="ignore"):
        # B above all of A, and B within A's range: there A is the cheaper by the part of its range below B
        above = np.maximum(b_high - np.maximum(a_high, b_low), 0) / b_width
        within = np.maximum(high - low, 0) / b_width * (((low - a_low) + (high - a_low)) / 2 / a_width)
        both = above + np.where(high > low, within, 0)
        one_b = np.clip((b_low - a_low) / a_width, 0, 1)
    fixed = ((a_low < b_low) + 0.5 * (a_low == b_low)).astype(float)
    probabilities = np.where(b_width > 0, both, np.where(a_width > 0, one_b, fixed))
    return float(np.mean(probabilities))


def cost_range(
    seconds: ArrayLike, usd_per_hour_low: float, usd_per_hour: float, usd_per_hour_high: float
) -> tuple[float, float, float]:
    """Return the lowest, median and highest cost (USD) of runs that took `seconds`.

    The fastest run at the lowest price, the median at the price, the slowest at the highest price: the
    range of what was observed, no confidence interval. NaN without a run. Raises ValueError for prices
    that are negative or not in order.
    """
    _check_prices(usd_per_hour_low, usd_per_hour, usd_per_hour_high)
    runs = _observed(seconds)
    if not len(runs):
        return (float("nan"),) * 3
    low, median, high = runs.min() * usd_per_hour_low, np.median(runs) * usd_per_hour, runs.max() * usd_per_hour_high
    return float(low / SECONDS_PER_HOUR), float(median / SECONDS_PER_HOUR), float(high / SECONDS_PER_HOUR)
