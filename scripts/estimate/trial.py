"""How far quotes are off, and how often their interval holds: each point predicted from tables without its like."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, exp, inf, log
from statistics import NormalDist, median
from typing import Any

import numpy as np

from scripts.estimate import ceiling, linear, simple
from scripts.estimate.ceiling import LEVEL
from scripts.estimate.points import Point

#: Half of the interval of that level, in standard deviations.
WIDTH = NormalDist().inv_cdf((1 + LEVEL) / 2)

#: What is left out of the tables to predict a point; the point's own model is always.
QUESTIONS: dict[str, Callable[[Point, Point], bool]] = {
    "its model": lambda p, q: False,
    "its family": lambda p, q: p.family == q.family,
    "its card, and its model": lambda p, q: p.card == q.card,
    "its precision on its card, and its model": lambda p, q: (p.card, p.precision) == (q.card, q.precision),
    "its software, and its model": lambda p, q: p.software == q.software,
}


@dataclass(frozen=True)
class Trial:
    """A point, what the linear model, the simple rule and a calculator said of it (errors in logarithms).

    `room` is how far the truth lies below what no card reaches; `is_of_release` says whether a rate that was carried
    was printed with the point.
    """

    point: Point
    error: float
    deviation: float
    simple: float
    flat: float
    room: float = inf
    is_of_release: bool = True


def trials(points: Sequence[Point], cards: Mapping[str, Any], question: str) -> list[Trial]:
    """Return each point predicted from the points that the question leaves in."""
    like = QUESTIONS[question]
    groups: dict[tuple[Point, ...], list[Point]] = {}
    for point in points:
        left = tuple(other for other in points if other.model != point.model and not like(point, other))
        groups.setdefault(left, []).append(point)
    found = []
    for left, asked in groups.items():
        expected, deviations = linear.predict(linear.fit(left, cards), asked)
        for point, one, deviation in zip(asked, expected, deviations, strict=True):
            true = log(point.rate or 0)
            by_rule, by_calculator = simple.predict(left, point, cards), simple.flat(point, cards)
            room = ceiling.of_rate(point, cards) - true
            found.append(Trial(point, float(one) - true, float(deviation), by_rule - true, by_calculator - true, room))
    return found


def factor(known: Sequence[Trial], kind: str = "", but: str = "") -> float:
    """Return by how much intervals of a kind, or of all, are widened, learnt from other models, each counted once."""
    of = [trial for trial in known if trial.point.kind == (kind or trial.point.kind) and trial.point.model != but]
    times = Counter(trial.point.model for trial in of)
    if not times:
        return 2.0
    level = min(1.0, LEVEL * (1 + 1 / len(times)))
    misses = sorted((abs(t.error) / t.deviation, 1 / times[t.point.model]) for t in of)
    shares = np.cumsum([weight for _, weight in misses]) / len(times)
    place = min(int(np.searchsorted(shares, level - 1e-9)), len(misses) - 1)
    return max(misses[place][0] / WIDTH, 0.5)


def covered(trial: Trial, widened: float) -> bool:
    """Return whether a trial's truth lies in its interval."""
    found = ceiling.below(trial.error, widened * trial.deviation, trial.room)
    return found is not None and found.low <= 0 <= found.high


def summary(found: Sequence[Trial], known: Sequence[Trial], is_pooled: bool = False) -> dict[str, Any]:
    """Return errors (median, 90th percentile) and coverage, each model counted once in it; the worst model.

    Intervals are widened by what other models of `known` missed, those of the other kind too where `is_pooled`.
    """
    models: dict[str, list[Trial]] = {}
    for trial in found:
        models.setdefault(trial.point.model, []).append(trial)
    shares = []
    for model, of in models.items():
        widened = factor(known, "" if is_pooled else of[0].point.kind, model)
        shares.append(float(np.mean([covered(one, widened) for one in of])))
    typical = {model: median(abs(t.error) for t in of) for model, of in models.items()}
    worst = max(typical, key=lambda model: typical[model])
    return {
        "points": len(found),
        "models": len(models),
        "error": spread([t.error for t in found]),
        "each model once": spread(list(typical.values())),
        "simple": spread([t.simple for t in found]),
        "flat": spread([t.flat for t in found]),
        "coverage": float(np.mean(shares)),
        "worst": (worst, exp(typical[worst])),
    }


def spread(errors: Sequence[float]) -> tuple[float, float]:
    """Return the median and the 90th percentile of errors as factors."""
    sizes = sorted(abs(error) for error in errors)
    return exp(median(sizes)), exp(sizes[ceil(0.9 * len(sizes)) - 1])
