"""Whether quotes name the right machine: the cheapest of those whose speed is printed, at the prices of a book."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import exp
from typing import Any

from scripts.estimate import linear
from scripts.estimate.points import Point
from scripts.estimate.simple import flat
from scripts.estimate.transfers import same_share

#: Fewer machines are no choice.
FEWEST = 8

RULES = ("this model", "same share of the peak", "40 % of the peak")


@dataclass(frozen=True)
class Pick:
    """A case: how many machines there were; by rule the place (from 1) that the truly cheapest one had, and the regret.

    Regret is what the first machine of the rule costs over the cheapest one, minus 1.
    """

    model: str
    machines: int
    places: dict[str, int]
    regrets: dict[str, float]


def picks(points: Sequence[Point], cards: Mapping[str, Any], offers: Mapping[str, Sequence[float]]) -> Iterator[Pick]:
    """Yield a case for each point, as if it alone was measured, and the rates on other cards were not known.

    `offers` are USD an hour of a card, one for each machine on offer with that card.
    """
    for model in dict.fromkeys(point.model for point in points):
        fitted = linear.fit([point for point in points if point.model != model], cards)
        for group in _groups([point for point in points if point.model == model and point.card in offers]):
            machines = [(point, usd) for point in group for usd in offers[point.card]]
            if len(group) < 2 or len(machines) < FEWEST:
                continue
            for measured in group:
                expected, _ = linear.predict(fitted, group, [replace(measured, published="")])
                rates = dict(zip((point.card for point in group), map(float, expected), strict=True))
                yield _pick(measured, machines, rates, cards)


def _groups(points: Sequence[Point]) -> list[list[Point]]:
    """Return points that differ in their card alone, one a card."""
    found: dict[tuple[Any, ...], dict[str, Point]] = {}
    for point in points:
        key = (point.software, point.task, point.precision, point.length)
        found.setdefault(key, {}).setdefault(point.card, point)
    return [list(group.values()) for group in found.values()]


def _pick(
    measured: Point, machines: Sequence[tuple[Point, float]], rates: Mapping[str, float], cards: Mapping[str, Any]
) -> Pick:
    true = [usd / (point.rate or 0) for point, usd in machines]
    said = {
        RULES[0]: [usd / exp(rates[point.card]) for point, usd in machines],
        RULES[1]: [usd / exp(same_share(measured, point, cards)) for point, usd in machines],
        RULES[2]: [usd / exp(flat(point, cards)) for point, usd in machines],
    }
    cheapest = min(true)
    places, regrets = {}, {}
    for rule, costs in said.items():
        order = sorted(range(len(costs)), key=costs.__getitem__)
        places[rule] = 1 + next(place for place, one in enumerate(order) if true[one] <= cheapest * (1 + 1e-9))
        regrets[rule] = true[order[0]] / cheapest - 1
    return Pick(measured.model, len(machines), places, regrets)
