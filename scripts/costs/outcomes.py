"""What a price and a speed come to: per sample, to a number of samples, to a target; and what is worth it."""

import numpy as np
import pandas as pd

from scripts.costs.billing import SECONDS_PER_HOUR, Numbers


def _ratio(above: Numbers, below: Numbers) -> Numbers:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.divide(above, below)


def seconds_to_samples(samples: Numbers, samples_per_second: Numbers) -> Numbers:
    """Return the time (s) that training on `samples` takes; infinite at no speed."""
    return _ratio(samples, samples_per_second)


def usd_to_samples(samples: Numbers, samples_per_second: Numbers, usd_per_hour: Numbers) -> Numbers:
    """Return the cost (USD) of training on `samples`, without increments and minimums."""
    return seconds_to_samples(samples, samples_per_second) * usd_per_hour / SECONDS_PER_HOUR


def usd_per_million_samples(usd_per_hour: Numbers, samples_per_second: Numbers) -> Numbers:
    """Return the cost (USD) of training on a million samples."""
    return usd_to_samples(1e6, samples_per_second, usd_per_hour)


def samples_per_usd(usd_per_hour: Numbers, samples_per_second: Numbers) -> Numbers:
    """Return how many samples are trained on for a dollar; infinite where the hour is free."""
    return _ratio(samples_per_second * SECONDS_PER_HOUR, usd_per_hour)


def relative(values: Numbers, base: Numbers) -> Numbers:
    """Return times or costs as multiples of the base cell's: 2 is twice as long or as dear."""
    return _ratio(values, base)


def to_target(epochs: pd.DataFrame, metric: str, target: float, higher_is_better: bool) -> pd.DataFrame:
    """Return when each run first reached `target`, indexed by `run` in order of appearance.

    `epochs` has the columns run, epoch, elapsed (s, of the one epoch), samples (of the one epoch) and
    `metric`. Returned are epoch, seconds and samples, both from the start through that epoch. All three
    are NaN for a run that never reached it; seconds alone, if the time of an epoch on the way is unknown.
    """
    ordered = epochs.sort_values("epoch", kind="stable")
    sums = ordered.groupby("run")[["elapsed", "samples"]].cumsum(skipna=False)
    table = ordered[["run", "epoch"]].assign(seconds=sums["elapsed"], samples=sums["samples"])
    reached = ordered[metric] >= target if higher_is_better else ordered[metric] <= target
    # drop_duplicates, as groupby's first would step over an unknown time to a later epoch's
    first = table[reached].drop_duplicates("run").set_index("run")
    return first.reindex(pd.Index(epochs["run"].unique(), name="run")).astype(float)


def pareto_front(seconds: Numbers, usd: Numbers) -> np.ndarray:
    """Return which points no other one beats: none is as good in both time and cost and better in one.

    Points that are equal in both stay or go together. A point with a NaN is never on the front.
    """
    times, costs = np.asarray(seconds, dtype=float), np.asarray(usd, dtype=float)
    known = np.flatnonzero(~(np.isnan(times) | np.isnan(costs)))
    order = known[np.lexsort((costs[known], times[known]))]
    times, costs, on_front = times[order], costs[order], np.zeros(len(times), dtype=bool)
    # in this order a point is beaten by one before it, unless that one is its equal, or not at all
    cheapest = np.minimum.accumulate(costs)
    best = np.r_[True, costs[1:] < cheapest[:-1]][: len(costs)]
    first = np.r_[True, (times[1:] != times[:-1]) | (costs[1:] != costs[:-1])][: len(costs)]
    on_front[order] = best[np.maximum.accumulate(np.where(first, np.arange(len(costs)), 0))]
    return on_front
