"""What a card cannot reach: the part of an interval above it is cut off, and the rest weighs the more."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import log, sqrt
from statistics import NormalDist
from typing import Any

from scripts.estimate.points import Point

#: Of intervals: so much lies within.
LEVEL = 0.8

#: No row of the tables comes to more of its card's peak (of a TPU v5p; .628 of a GPU), so that what follows from other
#: cards, precisions or software does not come to more than the next round share either.
HIGHEST_PRINTED, MOST_OF_PEAK = 0.685, 0.7

#: Where the ceiling lies so many standard deviations above what is expected, nothing is cut; and where it lies so many
#: below, what tables say of its like does not hold for this card.
_NOTHING, _DENIED = 6.0, -3.0

_NORMAL = NormalDist()


@dataclass(frozen=True)
class Below:
    """A normal below a ceiling: ends of the 80 % interval, its median, and how many times as wide it still is."""

    low: float
    middle: float
    high: float
    times: float


def of_rate(point: Point, cards: Mapping[str, Any], share: float | None = None) -> float:
    """Return the logarithm of tokens a second and card at `MOST_OF_PEAK` of the card's peak, or at another share."""
    peak = cards[point.card]["peak_tflops"][point.precision]
    return log(peak * (share or MOST_OF_PEAK) * 1000 / point.gflop)


def up_to(middle: float, deviation: float, ceiling: float) -> Below:
    """Return a normal and its interval, none of them above a ceiling: what was measured is not shifted by it."""
    tail = (1 - LEVEL) / 2
    low, half, high = (min(ceiling, middle + deviation * _NORMAL.inv_cdf(level)) for level in (tail, 0.5, 1 - tail))
    return Below(low, half, high, 1.0)


def below(middle: float, deviation: float, ceiling: float) -> Below | None:
    """Return a normal of which nothing lies above a ceiling; None where the ceiling denies it.

    Moments of the truncated normal: Johnson, Kotz and Balakrishnan, "Continuous Univariate Distributions" 1, 1994,
    section 13.10.1.
    """
    tail = (1 - LEVEL) / 2
    place = (ceiling - middle) / deviation
    if place < _DENIED:
        return None
    if place >= _NOTHING:
        share, times = 1.0, 1.0
    else:
        share = _NORMAL.cdf(place)
        hazard = _NORMAL.pdf(place) / share
        times = sqrt(1 - place * hazard - hazard**2)
    low, half, high = (middle + deviation * _NORMAL.inv_cdf(level * share) for level in (tail, 0.5, 1 - tail))
    return Below(low, half, high, times)
