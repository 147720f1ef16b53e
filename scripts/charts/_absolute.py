"""Bars of one measured or priced value per cell, in its own unit, in the order of the study."""

from collections.abc import Sequence

import pandas as pd
from plotnine import (
    aes,
    coord_flip,
    element_blank,
    geom_col,
    geom_errorbar,
    geom_text,
    ggplot,
    labs,
    scale_fill_manual,
    scale_x_discrete,
    scale_y_continuous,
    theme,
)

from scripts.charts._relative import CELL, count_runs
from scripts.charts._theme import FRAMEWORK_COLOURS, INK, TEXT, WIDTH, height, look, wrapped
from scripts.charts._view import Chart, View
from scripts.storage.numbers import number
from scripts.storage.tables import records


def bars(
    values: pd.DataFrame,
    value: str,
    axis: str,
    view: View,
    caption: str,
    *,
    finding: str,
    bounds: str = "",
    notes: Sequence[str] = (),
) -> Chart | None:
    """Draw the median of `value` for each cell; `axis` names it with its unit.

    `values` has a row per run. With `bounds`, the columns <bounds>_low and <bounds>_high are drawn as a
    range. None if no run has a value.
    """
    known = values.dropna(subset=value)
    if known.empty:
        return None
    ends = {"low": (f"{bounds}_low", "min"), "high": (f"{bounds}_high", "max")} if bounds else {}
    cells = known.groupby(CELL, sort=False, as_index=False, dropna=False).agg(
        median=(value, "median"), n=(value, "count"), **ends
    )
    cells["label"] = [view.name(cell) for cell in records(cells)]
    cells["text"] = [f" {number(median)}" for median in cells["median"]]
    cells["end"] = cells["high"] if bounds else cells["median"]
    top = float(cells["end"].max())
    figure = (
        ggplot(cells, aes("label", "median"))
        + geom_col(aes(fill="framework"), width=0.7, show_legend=False)
        + geom_text(aes(y="end", label="text"), ha="left", size=TEXT, color=INK, nudge_y=top * 0.01)
        + scale_fill_manual(FRAMEWORK_COLOURS)
        + scale_x_discrete(limits=list(reversed(cells["label"])), labels=wrapped)
        + scale_y_continuous(limits=(0, top * 1.28), expand=(0, 0))
        + coord_flip()
        + labs(x="", y=axis)
        + look()
        + theme(panel_grid_major_y=element_blank())
    )
    if bounds:
        ranged = cells[cells["low"] < cells["high"]]
        figure = figure + geom_errorbar(aes(ymin="low", ymax="high"), data=ranged, width=0.35, color=INK, size=0.6)
    return Chart(
        figure=figure,
        width=WIDTH,
        height=height(cells["label"]),
        data=cells.drop(columns=["text", "end"]),
        caption=f"{caption}; {count_runs(cells)}.",
        description=f"Bar chart, {axis}: " + "; ".join(f"{row.label}{row.text}" for row in cells.itertuples()) + ".",
        finding=finding,
        notes=notes,
    )
