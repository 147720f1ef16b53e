"""Labels stand off lines, marks and one another, and inside the panel."""

from scripts.charts import _labels

PANEL = (300.0, 300.0)


def boxes(points: list, texts: list, lines: list, panel: tuple = PANEL) -> list:
    return [
        _labels._box(point, text, side, panel, panel)
        for point, text, side in zip(points, texts, _labels.sides(points, texts, lines, [panel]), strict=True)
    ]


def test_label_stands_where_no_line_is() -> None:
    """At the edge of a fall there is room above, below a line and before a rise there is room below."""
    falls = [(0.1, 0.5), (0.5, 0.5), (0.52, 0.1), (0.9, 0.1)]
    rises = [(0.1, 0.5), (0.5, 0.5), (0.52, 0.9), (0.9, 0.9)]
    assert _labels.sides([(0.5, 0.5)], ["a long word"], [falls], [PANEL])[0][1] == "bottom"
    assert _labels.sides([(0.3, 0.5)], ["a long word"], [rises, [(0.0, 0.55), (1.0, 0.55)]], [PANEL])[0][1] == "top"
    for line in (falls, rises):
        ((left, bottom, right, top),) = boxes([(0.5, 0.5)], ["a long word"], [line])
        for x, y, to_x, to_y in _labels._drawn([line], PANEL):
            assert min(right, to_x) <= max(left, x) or min(top, to_y) <= max(bottom, y), "nothing is hidden"


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
