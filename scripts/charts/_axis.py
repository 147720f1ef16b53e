"""What one axis of the grid changes: dots on lines from the cell that is plain there, all else alike."""

from typing import Any

import pandas as pd
from plotnine import (
    aes,
    element_blank,
    geom_point,
    geom_segment,
    geom_text,
    geom_vline,
    ggplot,
    labs,
    scale_color_manual,
    scale_x_continuous,
    scale_y_discrete,
    theme,
)

from scripts.analysis import comparisons
from scripts.charts._relative import count_runs
from scripts.charts._theme import FAINT, FRAMEWORK_COLOURS, INK, TEXT, WIDTH, height, look, wrapped
from scripts.charts._view import Chart, View
from scripts.storage.axes import CELL
from scripts.storage.tables import records

#: Room for a label beside the dots, and the least that is drawn of the scale: parts of the drawn scale, and of 1.
_LABEL, _LEAST = 0.45, 0.4


def dumbbells(view: View, axis: str, plain: str) -> Chart | None:
    """Draw throughput over that of the cell that is `plain` on the axis, a row for each cell that is not.

    None if no cell has such a one beside it. A cell without a ratio keeps its row, which says why.
    """
    known = view.runs.dropna(subset=axis)
    compared = comparisons.compare_axis(known, axis, plain, "samples_per_second", view.judge)
    if not compared:
        return None
    other = known[known[axis] != plain]
    values = list(dict.fromkeys(other[axis]))
    cells = other.drop_duplicates(CELL, keep="last")[[*CELL, "status"]].merge(
        pd.DataFrame(compared).astype({"batch_size": "Int64", "devices": "Int64"}), on=CELL, how="left"
    )
    # What is the same in every row stands under the axis.
    hidden = {axis: None} if len(values) == 1 else {}
    cells["label"] = [view.name(cell | hidden) for cell in records(cells)]
    cells["text"] = [_text(cell, plain) for cell in records(cells)]

    shown, missing = cells.dropna(subset="ratio"), cells[cells["ratio"].isna()]
    done = known[known["status"] == "done"].dropna(subset="samples_per_second")
    pairs = shown[[*CELL, "label", "plain"]]
    alike = [name for name in CELL if name != axis]
    runs = pd.concat(
        [done.merge(pairs, on=CELL), done[done[axis] == plain].merge(pairs.drop(columns=axis), on=alike)],
        ignore_index=True,
    )
    runs["ratio"] = runs["samples_per_second"].astype(float) / runs["plain"].astype(float)
    ends = runs.groupby("label")["ratio"].agg(["min", "max"])
    slower = shown[shown["ratio"] < 1].merge(ends, on="label")
    faster = shown[shown["ratio"] >= 1].merge(ends, on="label")
    low, high = ends["min"].min(), ends["max"].max()
    span = max(high - low, _LEAST)
    text: dict[str, Any] = {"size": TEXT, "nudge_x": span * 0.04, "ha": "left"}
    counted = count_runs(pd.DataFrame({"n": [*shown["runs"], *shown["plain_runs"]]}, dtype=int))
    points = ", ticks the single runs of both" if counted.startswith("medians") else ""
    figure = (
        ggplot(shown, aes("ratio", "label"))
        + geom_vline(xintercept=1, linetype="dashed", color=INK, size=0.6)
        + geom_segment(aes(x=1, xend="ratio", yend="label", color="framework"), size=1.4, show_legend=False)
        + ([geom_point(data=runs, color=FAINT, shape="|", size=4)] if points else [])
        + geom_point(aes(color="framework"), size=3.4, show_legend=False)
        + geom_text(aes(x="min", label="text"), slower, color=INK, **text | {"nudge_x": -span * 0.04, "ha": "right"})
        + geom_text(aes(x="max", label="text"), faster, color=INK, **text)
        + geom_text(aes(x=1, label="text"), missing, color=FAINT, fontstyle="italic", **text)
        + scale_color_manual(FRAMEWORK_COLOURS)
        + scale_y_discrete(limits=list(reversed(cells["label"])), labels=wrapped)
        + scale_x_continuous(
            limits=(
                low - _LABEL * span * (len(slower) > 0),
                high + _LABEL * span * (len(slower) < len(cells)),
            ),
            labels=lambda ticks: [f"{tick:g}×" for tick in ticks],
        )
        + labs(x=f"throughput{f' of {_plainly(values[0])}' if hidden else ''}, × {plain}", y="")
        + look()
        + theme(panel_grid_major_y=element_blank())
    )
    spoken = "; ".join(f"{cell['label']} {cell['text']}" for cell in records(cells))
    return Chart(
        figure=figure,
        width=WIDTH,
        height=height(cells["label"]),
        data=cells.drop(columns="text"),
        caption=f"Samples/s, × what differs in its {axis} alone, {plain}; {counted}.",
        description=f"Dots on lines from 1, throughput of {' and '.join(map(_plainly, values))} over {plain}: "
        f"{spoken}.",
        finding=_finding(shown, axis, plain),
        notes=[*(["Ticks are the single runs of both."] if points else []), "≈: not clearly different."],
    )


def _finding(shown: pd.DataFrame, axis: str, plain: str) -> str:
    """Return in how many pairs the cells that are not plain are clearly faster, and slower."""
    clear = shown[shown["mark"].eq("")]
    faster, slower = int((clear["ratio"] > 1).sum()), int((clear["ratio"] < 1).sum())
    values = list(dict.fromkeys(shown[axis]))
    who = _plainly(values[0]) if len(values) == 1 else f"Another {axis}"
    return f"{who[:1].upper()}{who[1:]} is faster than {plain} in {faster} of {len(shown)} pairs, slower in {slower}"


def _plainly(value: Any) -> str:
    return str(value).replace("_", " ")


def _text(cell: dict[str, Any], plain: str) -> str:
    if pd.notna(cell["ratio"]):
        return f"{'≈ ' if cell['mark'] else ''}{cell['ratio']:.2f}×"
    return f"no {plain} run" if cell["status"] == "done" else _plainly(cell["status"])
