"""How sure a cost is: the range of what was observed, and of what is extrapolated from it.

Runs without a value (NaN) are left out.
"""

import numpy as np
from numpy.typing import ArrayLike

from scripts.costs.billing import SECONDS_PER_HOUR


def _observed(values: ArrayLike) -> np.ndarray:
    array = np.asarray(values, dtype=float).ravel()
    known: np.ndarray = array[~np.isnan(array)]
    return known


def _check_prices(*usd_per_hour: float) -> None:
    if not all(low <= high for low, high in zip((0.0, *usd_per_hour), usd_per_hour, strict=False)):
        raise ValueError(f"prices per hour are {usd_per_hour}; 0 or more, the lowest first, is allowed")


def cost_range(
    seconds: ArrayLike,
    usd_per_hour_low: float,
    usd_per_hour: float,
    usd_per_hour_high: float,
    extrapolation: tuple[float, float] = (1.0, 1.0),
) -> tuple[float, float, float]:
    """Return the lowest, median and highest cost (USD) of runs that took `seconds`.

    The fastest run at the lowest price, the median at the price, the slowest at the highest price: the
    range of what was observed, no confidence interval. `extrapolation` are the factors between which the true seconds
    lie of runs that are extrapolated. NaN without a run. Raises ValueError for prices that are negative or not in
    order, and for factors that do not enclose 1.
    """
    _check_prices(usd_per_hour_low, usd_per_hour, usd_per_hour_high)
    runs = _observed(seconds)
    if not len(runs):
        return (float("nan"),) * 3
    if not 0 < extrapolation[0] <= 1 <= extrapolation[1]:
        raise ValueError(f"extrapolation is {extrapolation}; factors above 0 that enclose 1 are allowed")
    ends = runs.min() * extrapolation[0], runs.max() * extrapolation[1]
    low, median, high = ends[0] * usd_per_hour_low, np.median(runs) * usd_per_hour, ends[1] * usd_per_hour_high
    return float(low / SECONDS_PER_HOUR), float(median / SECONDS_PER_HOUR), float(high / SECONDS_PER_HOUR)
