"""How sure a cost is: the range of what was observed.

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
