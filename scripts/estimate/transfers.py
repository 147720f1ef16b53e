"""How far a rate that was measured once carries: to another card, another precision, another length."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from math import exp, log
from typing import Any

from scripts.estimate import ceiling, linear
from scripts.estimate.points import Point
from scripts.estimate.simple import flat
from scripts.estimate.trial import Trial

_AXES: dict[str, Callable[[Point], Any]] = {
    "card": lambda p: p.card,
    "precision": lambda p: p.precision,
    "length": lambda p: p.length,
}

#: What differs between the point that was measured and the one that is asked for; task and software never do.
QUESTIONS = {
    "another card": {"card"},
    "another precision": {"precision"},
    "another length": {"length"},
    "another card and precision": {"card", "precision"},
}


def transfers(points: Sequence[Point], cards: Mapping[str, Any]) -> dict[str, list[Trial]]:
    """Return by question each point predicted from one other point of its model, and from the tables without it.

    `simple` is the error of the same share of the peak, `flat` that of 40 % of it.
    """
    found: dict[str, list[Trial]] = {question: [] for question in QUESTIONS}
    for model in dict.fromkeys(point.model for point in points):
        of = [point for point in points if point.model == model]
        fitted = linear.fit([point for point in points if point.model != model], cards)
        for measured in of:
            asked = [(point, question) for point in of if (question := _question(measured, point))]
            if not asked:
                continue
            expected, deviations = linear.predict(
                fitted, [point for point, _ in asked], [replace(measured, published="")]
            )
            for (point, question), one, deviation in zip(asked, expected, deviations, strict=True):
                true = log(point.rate or 0)
                same, calculated = same_share(measured, point, cards), flat(point, cards)
                errors, room = (same - true, calculated - true), ceiling.of_rate(point, cards) - true
                is_of_release = point.published == measured.published
                found[question].append(Trial(point, float(one) - true, float(deviation), *errors, room, is_of_release))
    return found


def _question(measured: Point, asked: Point) -> str:
    if (measured.task, measured.software) != (asked.task, asked.software):
        return ""
    differ = {axis for axis, value in _AXES.items() if value(measured) != value(asked)}
    return next((question for question, axes in QUESTIONS.items() if axes == differ), "")


def same_share(measured: Point, asked: Point, cards: Mapping[str, Any]) -> float:
    """Return the logarithm of tokens a second and card, were the share of the peak the same."""
    share = exp(measured.tflops) / cards[measured.card]["peak_tflops"][measured.precision]
    return log(share * cards[asked.card]["peak_tflops"][asked.precision] / asked.gflop * 1000)
