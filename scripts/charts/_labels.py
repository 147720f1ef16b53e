"""On which side of its point a label stands: off lines and points, off other labels, and within the panel."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from scripts.charts._theme import TEXT

#: A place as shares of the panel, from its lower left; and a box of points: left, bottom, right, top.
Place = tuple[float, float]
Box = tuple[float, float, float, float]

#: Sides as matplotlib calls them (ha, va): a text that is `left` begins at its point.
SIDES = [(ha, va) for va in ("bottom", "top") for ha in ("left", "right", "center")]

#: So far (points) from its point a label stands in the first panel, along and up; in others as far in proportion.
GAP = 4.0

#: Width of a letter and height of a text, as parts of its size; half the width of a line and of a mark, in points.
_LETTER, _HIGH, _LINE, _MARK = 0.6, 1.2, 1.0, 3.0

#: What another label hides, or the edge of the panel, weighs more than a line.
_UNREADABLE = 10.0


def sides(
    points: Sequence[Place], texts: Sequence[str], lines: Sequence[Sequence[Place]], panels: Sequence[Place]
) -> list[tuple[str, str]]:
    """Return on which of `SIDES` of its point each text stands, one after another where it hides the least.

    `lines` are corners of the lines, at each of which a mark stands; `panels` are the sizes (points) that the panel is
    drawn in: one side has to do for all.
    """
    taken: list[list[Box]] = [[] for _ in panels]
    drawn = [list(_drawn(lines, panel)) for panel in panels]
    found = []
    for point, text in zip(points, texts, strict=True):

        def hides(side: tuple[str, str], point: Place = point, text: str = text) -> float:
            return sum(
                _hidden(_box(point, text, side, panel, panels[0]), panel, boxes, others)
                for panel, boxes, others in zip(panels, drawn, taken, strict=True)
            )

        best = min(SIDES, key=hides)
        found.append(best)
        for panel, others in zip(panels, taken, strict=True):
            others.append(_box(point, text, best, panel, panels[0]))
    return found


def nudge(side: tuple[str, str]) -> Place:
    """Return how far (points) a label on this side is moved from its point, to the right and up."""
    return {"left": GAP, "center": 0.0, "right": -GAP}[side[0]], GAP if side[1] == "bottom" else -GAP


def _drawn(lines: Sequence[Sequence[Place]], panel: Place) -> Iterator[Box]:
    for line in lines:
        corners = [(x * panel[0], y * panel[1]) for x, y in line]
        for x, y in corners:
            yield x - _MARK, y - _MARK, x + _MARK, y + _MARK
        for (x, y), (to_x, to_y) in pairwise(corners):
            yield min(x, to_x) - _LINE, min(y, to_y) - _LINE, max(x, to_x) + _LINE, max(y, to_y) + _LINE


def _box(point: Place, text: str, side: tuple[str, str], panel: Place, first: Place) -> Box:
    width, height = _LETTER * TEXT * len(text), _HIGH * TEXT
    right, up = (by * size / of for by, size, of in zip(nudge(side), panel, first, strict=True))
    left = point[0] * panel[0] + right - {"left": 0.0, "center": width / 2, "right": width}[side[0]]
    bottom = point[1] * panel[1] + up - (height if side[1] == "top" else 0.0)
    return left, bottom, left + width, bottom + height


def _hidden(box: Box, panel: Place, drawn: Sequence[Box], others: Sequence[Box]) -> float:
    outside = (box[2] - box[0]) * (box[3] - box[1]) - _shared(box, (0.0, 0.0, *panel))
    crossed = sum(_shared(box, other) for other in others)
    return sum(_shared(box, one) for one in drawn) + _UNREADABLE * (outside + crossed)


def _shared(one: Box, other: Box) -> float:
    """Return the area that two boxes share."""
    wide, high = (min(one[at + 2], other[at + 2]) - max(one[at], other[at]) for at in (0, 1))
    return max(0.0, wide) * max(0.0, high)
