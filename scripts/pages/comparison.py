"""Two states of a study side by side: the lines of a terminal, and the page."""

from collections.abc import Mapping
from typing import Any

from scripts.analysis.names import FRAMEWORK_NAMES
from scripts.pages import render
from scripts.storage.axes import CELL
from scripts.storage.numbers import number

#: What of a cell is not named, as most are so.
_USUAL = {"mode": "stock", "precision": "float32", "devices": 1}


def name_of(cell: Mapping[str, Any]) -> str:
    """Return a cell's axes in words, without what is missing or usual."""
    words = {"framework": FRAMEWORK_NAMES.get(cell["framework"], cell["framework"])}
    shown = {axis: words.get(axis, value) for axis, value in cell.items() if axis != "workload"}
    return " · ".join(
        f"batch {value}" if axis == "batch_size" else str(value)
        for axis, value in shown.items()
        if value is not None and value == value and _USUAL.get(axis) != value
    )


def _axes(row: Mapping[str, Any]) -> dict[str, Any]:
    return {axis: row[axis] for axis in CELL if axis in row}


def sentence(counts: Mapping[str, int], at: str) -> str:
    """Return how many configurations are faster, slower, cheaper and dearer, and `at` which prices, in words."""
    return ", ".join(f"{count} {word}" for word, count in counts.items()) + f"; {at}"


def lines(found: Mapping[str, Any], at: str) -> list[str]:
    """Return what a comparison (`old`, `new`, `counts`, and what `states.compare` returns) comes to, a line each."""
    cells = found["cells"]
    compared = f"{len(cells)} configuration{'s' * (len(cells) != 1)} compared"
    said = [f"{found['new']} against {found['old']}: {compared}: {sentence(found['counts'], at)}"]
    for row in cells:
        for clock in ("time", "cost"):
            if row[clock] and row[clock]["word"]:
                ratio = number(row[clock]["ratio"])
                said.append(f"  {row['workload']}, {name_of(_axes(row))}: {row[clock]['word']}, {ratio} x")
    for row in found["unlike"]:
        cell = row["cell"]
        said.append(f"  not compared: {cell['workload']}, {name_of(cell)}: other {', '.join(row['differs'])}")
    for state in (found["old"], found["new"]):
        if count := sum(row["state"] == state for row in found["only"]):
            said.append(f"  not compared: {count} configuration{'s' * (count > 1)} in {state} only")
    return said


def page(found: Mapping[str, Any], at: str) -> str:
    """Return the page of a comparison."""
    return render.page("compare.html.j2", found, name_of=name_of, axes=_axes, sentence=sentence(found["counts"], at))
