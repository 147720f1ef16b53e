"""What software gains in half a year: the same row of two releases."""

from collections.abc import Iterable
from itertools import combinations
from math import log
from typing import Any

from scripts.estimate.known import day
from scripts.estimate.points import Point

#: Months between two releases of which the gain is taken.
_FROM_MONTHS, _TO_MONTHS = 5, 9


def gains(releases: Iterable[tuple[tuple[Any, ...], Point]], kind: str) -> list[float]:
    """Return by how much rows of a kind are faster in a release that is five to nine months younger (logarithms)."""
    return [
        log((new.rate or 0) / (old.rate or 1))
        for points in _rows(releases, kind)
        for old in points
        for new in points
        if _FROM_MONTHS <= round((day(new.published) - day(old.published)).days / 30.44) <= _TO_MONTHS
    ]


def changes(releases: Iterable[tuple[tuple[Any, ...], Point]], kind: str) -> list[float]:
    """Return how far the same row of a kind is apart in any two releases (logarithms)."""
    return [
        log((one.rate or 0) / (other.rate or 1))
        for points in _rows(releases, kind)
        for one, other in combinations(points, 2)
    ]


def _rows(releases: Iterable[tuple[tuple[Any, ...], Point]], kind: str) -> list[list[Point]]:
    of: dict[tuple[Any, ...], list[Point]] = {}
    for key, point in releases:
        if point.kind == kind:
            of.setdefault(key, []).append(point)
    return list(of.values())
