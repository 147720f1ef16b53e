"""From seconds of use to the bill: increments and minimums, months, discounts for long use."""

from dataclasses import dataclass
from typing import Any

import numpy as np

#: A number, an array, or a Series, whose index is kept; like comes from like, which NumPy's types do not say.
Numbers = Any

SECONDS_PER_HOUR = 3600.0

#: Hours of an average month, as the providers reckon: 8760 hours of a year / 12.
HOURS_PER_MONTH = 730.0
DAYS_PER_MONTH = HOURS_PER_MONTH / 24

#: What the quarters of a month are charged at under Google's sustained-use discount, as shares of the list
#: price: 30 % off a whole month of N1, 20 % off one of N2, N2D or C2.
#: https://cloud.google.com/compute/docs/sustained-use-discounts
N1_TIERS = (1.0, 0.8, 0.6, 0.4)
N2_TIERS = (1.0, 0.8678, 0.733, 0.6)

_MICROSECONDS = 1e6


@dataclass(frozen=True)
class Rule:
    """How a provider counts time: in increments begun, and at least a minimum per start.

    Raises ValueError for an increment below a microsecond or a negative minimum.
    """

    increment_seconds: float = 1.0
    minimum_seconds: float = 0.0

    def __post_init__(self) -> None:
        if not self.increment_seconds * _MICROSECONDS >= 1:
            raise ValueError(f"increment_seconds is {self.increment_seconds}; at least a microsecond is allowed")
        if not self.minimum_seconds >= 0:
            raise ValueError(f"minimum_seconds is {self.minimum_seconds}; 0 or more is allowed")


def billed_seconds(used_seconds: Numbers, increment_seconds: Numbers, minimum_seconds: Numbers) -> Numbers:
    """Return the seconds that are billed: every increment begun, at least the minimum, nothing for no use.

    Time is counted in microseconds, so that the noise of a sum of floats does not cost an increment.
    NaN stays NaN. Raises ValueError for negative times and increments below a microsecond.
    """
    for name, least, values in (
        ("used_seconds", 0, used_seconds),
        ("increment_seconds", 1 / _MICROSECONDS, increment_seconds),
        ("minimum_seconds", 0, minimum_seconds),
    ):
        if np.any(np.less(values, least)):
            raise ValueError(f"{name} is {np.nanmin(values)}; {least:g} or more is allowed")
    used, increment = np.rint(np.multiply(used_seconds, _MICROSECONDS)), np.rint(increment_seconds * _MICROSECONDS)
    # whole numbers divide exactly where they can: 2.1 / 0.3 is more than 7, 2100000 / 300000 is not
    billed = np.ceil(used / increment) * increment / _MICROSECONDS
    return np.maximum(billed, minimum_seconds) * (used != 0)


def cost_usd(billed_seconds: Numbers, usd_per_hour: Numbers) -> Numbers:
    """Return the cost (USD) of billed time."""
    return billed_seconds * usd_per_hour / SECONDS_PER_HOUR


def sustained_use_share(
    hours: Numbers, month_hours: float = HOURS_PER_MONTH, tiers: tuple[float, ...] = N1_TIERS
) -> Numbers:
    """Return the share (0 to 1] of the list price that `hours` of use in one month cost on average.

    `tiers` are what equal parts of the month are charged at, first hours first. No hours have the share of
    the first one; more than a month's, that of a whole month. Raises ValueError for negative hours.
    """
    if np.any(np.less(hours, 0)):
        raise ValueError(f"hours is {np.nanmin(hours)}; 0 or more is allowed")
    used = np.clip(hours, np.finfo(float).tiny, month_hours)
    part = month_hours / len(tiers)
    return sum(tier * np.clip(used - i * part, 0, part) for i, tier in enumerate(tiers)) / used


def scheduled_usd_per_month(
    runs_per_month: Numbers,
    seconds_each: Numbers,
    usd_per_hour: Numbers,
    rule: Rule,
    fixed_usd_per_month: Numbers = 0.0,
    usd_per_run: Numbers = 0.0,
) -> Numbers:
    """Return the bill (USD) of one month of a machine that is started on a schedule, each start for itself.

    After "Run any scheduled task/cron super-cheap on Google Cloud Platform" (Woolf, 2018): the machine's
    time, what is due without a run (disk, scheduler), and what a run needs beside it (start and stop).
    """
    billed = billed_seconds(seconds_each, rule.increment_seconds, rule.minimum_seconds)
    return runs_per_month * (cost_usd(billed, usd_per_hour) + usd_per_run) + fixed_usd_per_month
