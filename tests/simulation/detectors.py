"""Which detector finds a step of days best, if their noise were known: what `scripts.analysis.trends` is held against.

    python -m tests.simulation.detectors      (a quarter of a minute)

Days change a cell by 5 %, a run by 1 %, one day correlated with the one before. All detectors see whitened values less
the mean of the days before, and have the threshold at which twelve cells have one false alarm a month, an alarm
counting for five days. Printed is the percent of steps by 10 % after a month that give an alarm within five days, at a
correlation of 0, .3 and .7.
"""

from collections.abc import Callable, Sequence
from math import log

import numpy as np

from tests.simulation.trends import CELLS, DAYS, RUN, STEP, WITHIN, effects

DAY = 0.05
SD = (DAY**2 + RUN**2) ** 0.5

#: Days before a level that it is held against, at the least, and days for which an alarm counts.
_BEFORE, _COUNTS = 5, 5


def levels(series: np.ndarray, correlation: float, lengths: Sequence[int]) -> np.ndarray:
    """Return by day the z of the likeliest level among those that began `lengths` days before, as `trends` has it."""
    found = np.zeros(series.shape)
    kept, first = 1 - correlation, (1 - correlation**2) ** 0.5
    for count in range(_BEFORE + min(lengths), series.shape[1] + 1):
        level = np.append(first, np.full(count - 1, kept))
        white = np.column_stack([first * series[:, 0], series[:, 1:count] - correlation * series[:, : count - 1]])
        for length in (length for length in lengths if count - length >= _BEFORE):
            step = np.zeros(count)
            step[count - length], step[count - length + 1 :] = 1, kept
            free = step @ step - (step @ level) ** 2 / (level @ level)
            size = (white @ step - (step @ level) * (white @ level) / (level @ level)) / free
            z = np.where(np.abs(size) >= log(1.05), size / (SD * first) * free**0.5, 0)
            day = found[:, count - 1]
            found[:, count - 1] = np.where(np.abs(z) > np.abs(day), z, day)
    return found


def _innovations(series: np.ndarray, correlation: float, lag: int) -> np.ndarray:
    """Return each day's whitened distance from the mean of those `lag` days and more before it, 0 of the first days."""
    found = np.zeros(series.shape)
    for day in range(_BEFORE, series.shape[1]):
        base = series[:, : max(_BEFORE, day + 1 - lag)].mean(axis=1)
        found[:, day] = series[:, day] - base - correlation * (series[:, day - 1] - base)
    return found / (SD * (1 - correlation**2) ** 0.5)


def cusum(series: np.ndarray, correlation: float) -> np.ndarray:
    """Return the higher of two sums, tuned to the step that is looked for (its mean over the days it is found in)."""
    mean = STEP * (1 + (WITHIN - 1) * (1 - correlation)) / WITHIN / (SD * (1 - correlation**2) ** 0.5)
    up, down, found = np.zeros(len(series)), np.zeros(len(series)), np.zeros(series.shape)
    for day, one in enumerate(_innovations(series, correlation, 1).T):
        up, down = np.maximum(0, up + one - mean / 2), np.maximum(0, down - one - mean / 2)
        found[:, day] = np.maximum(up, down)
    return found


def ewma(series: np.ndarray, correlation: float, weight: float) -> np.ndarray:
    """Return an exponentially weighted mean over its standard deviation."""
    mean, found = np.zeros(len(series)), np.zeros(series.shape)
    for day, one in enumerate(_innovations(series, correlation, WITHIN).T):
        mean = (1 - weight) * mean + weight * one
        found[:, day] = mean / (weight / (2 - weight)) ** 0.5
    return found


DETECTORS: dict[str, Callable[[np.ndarray, float], np.ndarray]] = {
    "levels of 2 to 5 days": lambda series, correlation: levels(series, correlation, range(2, 6)),
    "levels of 4 and 5 days": lambda series, correlation: levels(series, correlation, range(4, 6)),
    "CUSUM of 10 %": cusum,
    "EWMA of .3": lambda series, correlation: ewma(series, correlation, 0.3),
}


def alarms(values: np.ndarray, limit: float) -> int:
    """Return how many alarms the statistics of stable cells (cells x days) give."""
    count, left = 0, np.zeros(len(values), int)
    for day in np.abs(values).T:
        new = (day > limit) & (left <= 0)
        count, left = count + int(new.sum()), np.where(new, _COUNTS, left - 1)
    return count


def found(detector: Callable[[np.ndarray, float], np.ndarray], correlation: float, cells: int = 6000) -> float:
    """Return the share of steps that a detector finds in time at one false alarm a month."""
    rng = np.random.default_rng(5)
    stable, stepped = (
        DAY * effects(rng, (count, days), correlation, False) + RUN * rng.standard_normal((count, days))
        for count, days in ((2 * cells, DAYS), (cells, DAYS + WITHIN))
    )
    stepped[:, DAYS:] += STEP
    seen = correlation * DAY**2 / SD**2  # what a run adds is no day's
    quiet, loud = detector(stable, seen), detector(stepped, seen)
    low, high = 0.0, 20.0
    for _ in range(25):
        middle = (low + high) / 2
        low, high = (middle, high) if alarms(quiet, middle) > len(stable) / CELLS else (low, middle)
    return float((np.abs(loud[:, DAYS:]) > high).any(axis=1).mean())


def main() -> None:
    for name, detector in DETECTORS.items():
        print(f"{name}: {', '.join(f'{100 * found(detector, one):.0f} %' for one in (0.0, 0.3, 0.7))}", flush=True)


if __name__ == "__main__":
    main()
