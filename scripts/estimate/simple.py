"""The simple rule beside the linear model: the median of other models, over what the data sheet says."""

from collections.abc import Mapping, Sequence
from math import log
from statistics import median
from typing import Any

from scripts.estimate.linear import mean
from scripts.estimate.points import Point

#: Other models alike in all of these, or else in the next ones: at least `_FEWEST` of them.
_ALIKE = (
    ("software", "kind", "card", "precision"),
    ("software", "kind", "precision"),
    ("software", "kind"),
    ("kind",),
    (),
)
_FEWEST = 3


def predict(points: Sequence[Point], asked: Point, cards: Mapping[str, Any]) -> float:
    """Return the logarithm of tokens a second and card, by the median model of those most alike."""
    for keys in _ALIKE:
        alike = [p for p in points if all(getattr(p, key) == getattr(asked, key) for key in keys)]
        models = {p.model: [q.tflops - mean(q, cards) for q in alike if q.model == p.model] for p in alike}
        if len(models) >= _FEWEST or not keys:
            return median(median(of) for of in models.values()) + mean(asked, cards) - log(asked.gflop / 1000)
    raise AssertionError


def flat(asked: Point, cards: Mapping[str, Any]) -> float:
    """Return what a calculator says: 40 % of the data sheet's peak."""
    return log(0.4 * cards[asked.card]["peak_tflops"][asked.precision] / asked.gflop * 1000)
