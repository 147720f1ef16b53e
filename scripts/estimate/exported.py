"""The fitted model as JSON, for a page, or another program, that quotes what this one quotes."""

from typing import Any

import numpy as np

from scripts.estimate import linear
from scripts.estimate.points import QUANTISED_DEVIATION, TASKS

#: Of a logarithm so many significant digits: quotes agree to a billionth.
_DIGITS = 13

_OF_CARD = ("peak_tflops", "bandwidth_gb_per_second", "memory_gb", "link_gb_per_second")


def model(fitted: linear.Fitted) -> dict[str, Any]:
    """Return what `reports/scripts/estimate.js` needs of a fitted model.

    The logarithm of TFLOP/s is the mean of `linear.mean` plus columns x weights.

    Keys: cards (peak_tflops, bandwidth_gb_per_second, memory_gb, link_gb_per_second), columns (each `{number: name}`,
    `{is: {key: value}}`, or both: the number where that is so), weights, covariance (rows of the lower triangle, one
    after another), own (`[keys, deviation]`), own_of_kind, noise, measured, printed, tasks (their share of the work),
    quantised (of QLoRA, whose task is `lora`, what its points share).
    """
    names = list(linear.columns(fitted.cards))
    lower = fitted.covariance[np.tril_indices(len(names))]
    return {
        "cards": {name: {key: about[key] for key in _OF_CARD} for name, about in fitted.cards.items()},
        "columns": [_column(name) for name in names],
        "weights": [_short(weight) for weight in fitted.weights],
        "covariance": [_short(value) for value in lower],
        "own": [[keys.split(", "), deviation] for keys, deviation in linear.OWN.items()],
        "own_of_kind": linear.OF_KIND,
        "noise": linear.NOISE,
        "measured": linear.MEASURED,
        "printed": linear.PRINTED,
        "tasks": TASKS,
        "quantised": QUANTISED_DEVIATION,
    }


def _column(name: str) -> dict[str, Any]:
    what, _, level = name.partition(": ")
    *number, keys = what.split(" by ") if level else (what, "")
    found: dict[str, Any] = {"number": number[0]} if number else {}
    return found | ({"is": dict(zip(keys.split(" x "), level.split(" x "), strict=True))} if level else {})


def _short(value: float) -> float:
    return float(f"{value:.{_DIGITS}g}")
