"""A linear model of the speed of language models with Gaussian priors in round numbers, and what it says of others.

The logarithm of the TFLOP a second is a mean from the data sheet, plus columns whose weights the tables teach, plus
what a model has of its own everywhere, on a card, in a precision and at a length, plus noise.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import log
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scripts.estimate.points import KINDS, OTHER, PRECISIONS, QUANTISED_DEVIATION, SOFTWARE, Point

Array = NDArray[np.float64]

#: What a model has of its own (standard deviations of a logarithm): wherever it runs, on a card, in a precision, at a
#: length.
OWN = {"model": 0.1, "model, card": 0.07, "model, precision": 0.07, "model, length": 0.1}

#: Mixtures of experts differ more: in how they are routed, split and kept full.
OF_KIND = {"dense": 1.0, "moe": 1.5}

#: Another timing of the same; a rate of the person's own; a printed one of the same model, which was timed on another
#: machine by people who tune it (the same program on two machines of eight cards: 1.16 at the 90th percentile).
NOISE, MEASURED, PRINTED = 0.04, 0.03, 0.09

_LENGTH = 4096.0

#: Numbers that count on each card by themselves, and the prior standard deviation of their weights: a size that fills
#: one card leaves a faster one waiting, and attention is programmed for each anew.
_BY_CARD: dict[str, tuple[float, Callable[[Point], float]]] = {
    "size above 1 billion": (0.05, lambda p: log(max(1.0, p.active_billion) / 8)),
    "attention": (0.3, lambda p: p.attention),
}


def mean(point: Point, cards: Mapping[str, Any]) -> float:
    """Return what the data sheet alone would say: 396 TFLOP/s on an H100, the half of a faster arithmetic's gain."""
    peaks = cards[point.card]["peak_tflops"]
    gain = 0.5 * log(peaks[point.precision] / peaks["bf16"])
    return log(peaks["bf16"] / 989) + gain + log(396) - (0 if point.kind == "dense" else 0.6)


def _numbers(cards: Mapping[str, Any]) -> dict[str, tuple[float, Callable[[Point], float]]]:
    return {
        "constant": (0.2, lambda _: 1.0),
        "peak": (0.1, lambda p: log(cards[p.card]["peak_tflops"]["bf16"] / 989)),
        "bandwidth": (0.1, lambda p: _bandwidth(cards[p.card]) - _bandwidth(cards["H100"])),
        "size": (0.05, lambda p: log(p.active_billion / 8)),
        "size below 1 billion": (0.1, lambda p: min(0.0, log(p.active_billion))),
        "sparsity": (0.1, lambda p: log(p.total_billion / p.active_billion)),
        "length": (0.05, lambda p: log((p.length or _LENGTH) / _LENGTH)),
        "length above 8192": (0.1, lambda p: max(0.0, log((p.length or _LENGTH) / 8192))),
    }


def _sets(cards: Mapping[str, Any]) -> dict[tuple[str, ...], tuple[float, list[tuple[str, ...]]]]:
    """Return what a point has one of: by keys the prior standard deviation and the levels that have a column."""
    software = [*dict.fromkeys(SOFTWARE.values()), OTHER]
    return {
        ("kind",): (0.2, [(kind,) for kind in KINDS]),
        ("task",): (0.1, [("sft",), ("lora",)]),
        ("software",): (0.2, [(name,) for name in software]),
        ("software", "kind"): (0.1, [(name, kind) for name in software for kind in KINDS]),
        ("precision", "kind"): (0.15, [(one, kind) for one in PRECISIONS[1:] for kind in KINDS]),
        ("card",): (0.1, [(card,) for card in cards]),
        ("card", "kind"): (0.1, [(card, kind) for card in cards for kind in KINDS[1:]]),
        ("card", "precision"): (
            0.05,
            [(c, p) for c in cards for p in PRECISIONS[1:] if p in cards[c]["peak_tflops"]],
        ),
    }


def columns(cards: Mapping[str, Any]) -> dict[str, float]:
    """Return each column's prior standard deviation; the cards are what is known of."""
    found = {name: prior for name, (prior, _) in _numbers(cards).items()}
    for number, (prior, _) in _BY_CARD.items():
        found |= {_by_card(number, card): prior for card in cards}
    for keys, (prior, levels) in _sets(cards).items():
        found |= {_name(keys, level): prior for level in levels}
    return found


def _by_card(number: str, card: str) -> str:
    return f"{number} by card: {card}"


def _name(keys: tuple[str, ...], level: tuple[str, ...]) -> str:
    return f"{' x '.join(keys)}: {' x '.join(level)}"


def _bandwidth(card: Mapping[str, Any]) -> float:
    return log(card["bandwidth_gb_per_second"] / card["peak_tflops"]["bf16"])


@dataclass(frozen=True)
class Fitted:
    """What the tables taught: of each column its weight, and how far the weights are known."""

    cards: Mapping[str, Any]
    weights: Array
    covariance: Array


def design(points: Sequence[Point], cards: Mapping[str, Any]) -> Array:
    """Return the columns of points."""
    places = {name: place for place, name in enumerate(columns(cards))}
    numbers, sets = _numbers(cards), list(_sets(cards))
    found = np.zeros((len(points), len(places)))
    for row, point in zip(found, points, strict=True):
        row[: len(numbers)] = [value(point) for _, value in numbers.values()]
        for number, (_, value) in _BY_CARD.items():
            row[places[_by_card(number, point.card)]] = value(point)
        for keys in sets:
            place = places.get(_name(keys, tuple(getattr(point, key) for key in keys)))
            if place is not None:
                row[place] = 1.0
    return found


def own(one: Sequence[Point], other: Sequence[Point]) -> Array:
    """Return the covariance of what the models of points have of their own, and of what 4-bit weights take."""
    found = np.zeros((len(one), len(other)))
    for keys, deviation in OWN.items():
        names = keys.split(", ")
        codes: dict[tuple[Any, ...], int] = {}
        left, right = (
            [codes.setdefault(tuple(getattr(p, name) for name in names), len(codes)) for p in points]
            for points in (one, other)
        )
        found += deviation**2 * np.equal.outer(left, right)
    found *= np.outer([OF_KIND[p.kind] for p in one], [OF_KIND[p.kind] for p in other])
    return found + QUANTISED_DEVIATION**2 * np.outer([p.is_quantised for p in one], [p.is_quantised for p in other])


def fit(points: Sequence[Point], cards: Mapping[str, Any]) -> Fitted:
    """Return what points teach of the weights."""
    priors = np.array(list(columns(cards).values()))
    x = design(points, cards)
    y = np.array([point.tflops - mean(point, cards) for point in points])
    among = x * priors**2 @ x.T + own(points, points) + NOISE**2 * np.eye(len(points))
    gain = np.linalg.solve(among, x * priors**2).T
    return Fitted(cards, gain @ y, np.diag(priors**2) - gain @ (x * priors**2))


def joint(fitted: Fitted, asked: Sequence[Point], measured: Sequence[Point] = ()) -> tuple[Array, Array]:
    """Return the logarithm of tokens a second and card of each point asked for, and the covariance of all of them.

    `measured` are points of the same model with their rates: the person's own, or printed where they have a date.
    """
    x = design(asked, fitted.cards)
    expected = np.array([mean(point, fitted.cards) for point in asked]) + x @ fitted.weights
    spread = x @ fitted.covariance @ x.T + own(asked, asked) + NOISE**2 * np.eye(len(asked))
    if measured:
        z = design(measured, fitted.cards)
        noise = [(PRINTED if point.published else MEASURED) ** 2 for point in measured]
        across = x @ fitted.covariance @ z.T + own(asked, measured)
        among = z @ fitted.covariance @ z.T + own(measured, measured) + np.diag(noise)
        missed = [p.tflops - mean(p, fitted.cards) for p in measured] - z @ fitted.weights
        gain = np.linalg.solve(among, across.T).T
        expected, spread = expected + gain @ missed, spread - gain @ across.T
    work = np.log([point.gflop / 1000 for point in asked])
    return expected - work, spread


def predict(fitted: Fitted, asked: Sequence[Point], measured: Sequence[Point] = ()) -> tuple[Array, Array]:
    """Return the logarithm of tokens a second and card of each point asked for, and its standard deviation."""
    expected, spread = joint(fitted, asked, measured)
    return expected, np.sqrt(np.diag(spread))
