"""How sure a cost is: the range of what was observed, and of what is extrapolated from it.

Runs without a value (NaN) are left out.
"""

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from scripts.costs.billing import SECONDS_PER_HOUR, Numbers, billed_seconds


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
    ends: tuple[ArrayLike, ArrayLike] | None = None,
) -> tuple[float, float, float]:
    """Return the lowest, median and highest cost (USD) of runs that took `seconds`.

    The fastest run at the lowest price, the median at the price, the slowest at the highest price: the
    range of what was observed, no confidence interval. `ends` are the seconds of runs that are extrapolated if they
    take as little and as much as may be (`paid_if`). NaN without a run. Raises ValueError for prices that are negative
    or not in order, and for ends that do not enclose the runs.
    """
    _check_prices(usd_per_hour_low, usd_per_hour, usd_per_hour_high)
    runs = _observed(seconds)
    if not len(runs):
        return (float("nan"),) * 3
    shortest, longest = (_observed(one) for one in ends or (runs, runs))
    if not 0 <= shortest.min() <= runs.min() <= runs.max() <= longest.max():
        raise ValueError(f"ends are {shortest.min()} and {longest.max()} s; what encloses the runs is allowed")
    low, high = shortest.min() * usd_per_hour_low, longest.max() * usd_per_hour_high
    median = np.median(runs) * usd_per_hour
    return float(low / SECONDS_PER_HOUR), float(median / SECONDS_PER_HOUR), float(high / SECONDS_PER_HOUR)


def paid_if(runs: Mapping[str, Numbers], factor: float) -> Numbers:
    """Return the seconds that runs pay if they take `factor` times what they are extrapolated to: billed anew.

    `runs` are columns of the costs: `used_seconds`, `paid_seconds`, `in_a_row`, and the rule of billing.
    """
    used, paid = (np.asarray(runs[name], dtype=float) for name in ("used_seconds", "paid_seconds"))
    increment, minimum = (np.asarray(runs[name], dtype=float) for name in ("increment_seconds", "minimum_seconds"))
    # What a start is billed beside its training stays as it is.
    alone = paid + billed_seconds(used * factor, increment, minimum) - billed_seconds(used, increment, minimum)
    return np.where(np.asarray(runs["in_a_row"], dtype=bool), paid * factor, alone)
