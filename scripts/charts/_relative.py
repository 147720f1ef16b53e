"""Bars relative to a base cell, as the studies of 2017 drew them: value labels, a dashed line at 1.00x."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from plotnine import (
    aes,
    coord_flip,
    element_blank,
    geom_col,
    geom_hline,
    geom_point,
    geom_text,
    ggplot,
    labs,
    scale_fill_manual,
    scale_x_discrete,
    scale_y_continuous,
    theme,
)

from scripts.charts import _findings
from scripts.charts._theme import FAINT, FEW_BREAKS, FRAMEWORK_COLOURS, INK, TEXT, WIDTH, height, look, wrapped
from scripts.charts._view import Chart, View
from scripts.storage.tables import records

#: Width of a label, as part of the longest bar.
_LABEL = 0.24

CELL = ["hardware", "framework", "batch_size", "mode", "precision", "devices"]


def is_base(cells: pd.DataFrame, view: View) -> pd.Series:
    """Return of each row whether it is of the base cell, the first batch size of what `view.base` names."""
    same = pd.Series(True, index=cells.index)
    for axis, value in view.base.items():
        same &= cells[axis].eq(value).fillna(False).astype(bool)
    if not same.any():
        return same
    first = cells.loc[same, "batch_size"].iloc[0]
    return same & (cells["batch_size"].isna() if pd.isna(first) else cells["batch_size"].eq(first).fillna(False))


def relative(values: pd.DataFrame, value: str, view: View) -> pd.DataFrame:
    """Return one row per cell: median of `value`, number of runs n, ratio to the base cell, label, status.

    `values` has one row per run in the cell's columns; a run without a value (it failed, or has no
    price) keeps its cell in the table with an empty ratio. Empty if the base cell has no value.
    """
    cells = values.groupby(CELL, sort=False, as_index=False, dropna=False).agg(
        median=(value, "median"), n=(value, "count"), status=("status", "last")
    )
    base = cells.loc[is_base(cells, view), "median"]
    if base.empty or pd.isna(base.iloc[0]):
        return cells.iloc[:0].assign(ratio=[], label=[])
    cells["ratio"] = cells["median"].astype(float) / float(base.iloc[0])
    cells["label"] = [view.name(cell) for cell in records(cells)]
    return cells


def count_runs(cells: pd.DataFrame) -> str:
    """Return in words how many runs stand behind each cell."""
    counts = sorted(set(cells.loc[cells["n"] > 0, "n"]))
    if counts == [1]:
        return "one run each"
    span = f"{counts[0]}" if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    return f"medians of {span} runs each"


def fastest(values: pd.DataFrame, value: str, view: View, does: str) -> str:
    """Return which cell has the smallest median of `value`, as a finding; `values` has a row per run."""
    groups = [
        (view.name(records(group)[0]), group[value].to_numpy(dtype=float), str(group["hardware"].iloc[0]))
        for _, group in values.dropna(subset=value).groupby(CELL, sort=False, dropna=False)
    ]
    labels, each, machines = zip(*groups, strict=True) if groups else ((), (), ())
    return _findings.winner(labels, each, view.judge, does, machines)


def bars(values: pd.DataFrame, value: str, axis: str, view: View) -> tuple[ggplot, pd.DataFrame] | None:
    """Draw the ratios; return the figure and its table, or None if there is no base or nothing to compare."""
    cells = relative(values, value, view)
    if len(cells) == 0:
        return None
    base = float(cells.loc[is_base(cells, view), "median"].iloc[0])
    order = list(reversed(cells["label"]))
    shown = cells.dropna(subset="ratio")
    missing = cells[cells["ratio"].isna()].assign(ratio=0.0)
    lacks = "no time" if value == "train_seconds" else "no price"
    missing["text"] = [" " + (lacks if status == "done" else status.replace("_", " ")) for status in missing["status"]]
    shown = shown.assign(text=[f" {ratio:.2f}×" for ratio in shown["ratio"]])
    runs = values.dropna(subset=value)
    points = runs.assign(ratio=runs[value].astype(float) / base, label=[view.name(run) for run in records(runs)])
    # Labels stand behind the points, and where the dashed line would strike one through, behind that.
    ends = shown["label"].map(points.groupby("label")["ratio"].max())
    top = max(1.0, float(ends.max()))
    struck = (ends < 1) & (ends + _LABEL * top > 1)
    shown = shown.assign(label_at=ends.mask(struck, 1.0))
    figure = (
        ggplot(shown, aes("label", "ratio"))
        + geom_col(aes(fill="framework"), width=0.7, show_legend=False)
        + geom_hline(yintercept=1, linetype="dashed", color=INK, size=0.6)
        + geom_text(aes(y="label_at", label="text"), ha="left", size=TEXT, color=INK, nudge_y=top * 0.01)
        + geom_text(aes(label="text"), data=missing, ha="left", size=TEXT, color=FAINT, fontstyle="italic")
        + scale_fill_manual(FRAMEWORK_COLOURS)
        + scale_x_discrete(limits=order, labels=wrapped)
        + scale_y_continuous(
            limits=(0, top * 1.28), expand=(0, 0), breaks=FEW_BREAKS, labels=lambda ticks: [f"{t:g}×" for t in ticks]
        )
        + coord_flip()
        + labs(x="", y=axis)
        + look()
        + theme(panel_grid_major_y=element_blank())
    )
    if len(points) > len(shown):
        figure = figure + geom_point(data=points, color=INK, fill="none", size=1.5, alpha=0.8)
    return figure, cells


def sentence(cells: pd.DataFrame) -> str:
    """Read the bars out: every cell's ratio, or why it has none."""
    parts = [
        f"{cell['label']} {cell['ratio']:.2f}×" if np.isfinite(cell["ratio"]) else f"{cell['label']} {cell['status']}"
        for _, cell in cells.iterrows()
    ]
    return "; ".join(parts)


def chart(figure: ggplot, cells: pd.DataFrame, what: str, *, finding: str, caption: str, notes: Sequence[str]) -> Chart:
    """Put figure, data and words together."""
    return Chart(
        figure=figure,
        width=WIDTH,
        height=height(cells["label"]),
        data=cells[[*CELL, "label", "median", "n", "ratio", "status"]],
        caption=caption,
        description=f"Bar chart, {what}: {sentence(cells)}.",
        finding=finding,
        notes=notes,
    )
