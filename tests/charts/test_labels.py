"""Labels stand off lines, marks and one another, and inside the panel."""

from scripts.charts import _labels

PANEL = (300.0, 300.0)


def boxes(points: list, texts: list, lines: list, panel: tuple = PANEL) -> list:
    return [
        _labels._box(point, text, side, panel)
        for point, text, side in zip(points, texts, _labels.sides(points, texts, lines, [panel]), strict=True)
    ]


def test_label_stands_where_no_line_is() -> None:
    """A line that falls at once and one that rises leave the room on the other side."""
    falls = [(0.1, 0.9), (0.5, 0.9), (0.5, 0.5), (0.9, 0.5)]
    assert _labels.sides([(0.5, 0.9)], ["word"], [falls], [PANEL]) in ([("left", "bottom")], [("left", "top")])
    rises = [(0.1, 0.5), (0.5, 0.5), (0.5, 0.9), (0.9, 0.9)]
    assert _labels.sides([(0.5, 0.5)], ["word"], [rises], [PANEL])[0][1] == "top"


def test_labels_of_neighbours_do_not_cross() -> None:
    points = [(0.5, 0.5), (0.5, 0.52), (0.5, 0.48)]
    found = boxes(points, ["one word", "another", "a third"], [[(0.5, 0.5)]])
    for place, box in enumerate(found):
        assert all(_labels._shared(box, other) == 0 for other in found[place + 1 :])


def test_label_at_the_edge_stays_in_the_panel() -> None:
    for point in ((0.99, 0.99), (0.01, 0.01), (0.99, 0.01), (0.01, 0.99)):
        ((left, bottom, right, top),) = boxes([point], ["a long word"], [[point]])
        assert left >= 0, point
        assert bottom >= 0, point
        assert right <= PANEL[0], point
        assert top <= PANEL[1], point
