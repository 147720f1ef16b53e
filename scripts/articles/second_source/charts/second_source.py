"""A study's rates over those that a second source printed of the same net, cards and arithmetic."""

import pandas as pd
from plotnine import (
    aes,
    facet_wrap,
    geom_point,
    geom_vline,
    ggplot,
    guide_legend,
    guides,
    labs,
    scale_color_manual,
    scale_shape_manual,
    scale_x_log10,
    theme,
)

from scripts.analysis.names import workload_name
from scripts.charts import _findings
from scripts.charts._lines import COLOURS, SHAPES
from scripts.charts._theme import INK, WIDTH, look
from scripts.charts._view import Chart, View

SCOPE = "study"
TITLE = "Beside a second source"
MISSING = "no second source has one of its nets on one of its cards"
HELP = "Each dot is a pair of published rates of one net, number of cards and precision; on the dashed line both agree."


def draw(view: View) -> Chart | None:
    table = view.tables.get("second_source", pd.DataFrame())
    if table.empty:
        return None
    by = table["by"].iloc[0]
    names = list(dict.fromkeys(table["workload"].map(workload_name)))
    table = table.assign(
        net=pd.Categorical(table["workload"].map(workload_name), names[::-1]),
        cell=table["card"] + ", " + table["precision"],
        code=pd.Categorical(
            table["is_same_code"].map({True: "the same code", False: "another framework"}),
            ["the same code", "another framework"],
        ),
    )
    figure = (
        ggplot(table, aes("ratio", "net", color="cell", shape="cell"))
        + geom_vline(xintercept=1, linetype="dashed", color=INK, size=0.6)
        + geom_point(size=2.4)
        + facet_wrap("code", ncol=1, scales="free_y")
        + scale_color_manual(COLOURS)
        + scale_shape_manual(SHAPES)
        + scale_x_log10(breaks=[0.25, 0.5, 1, 2, 4], labels=lambda ticks: [f"{tick:g}×" for tick in ticks])
        + labs(x=f"rate, × {by}'s (log scale)", y="", color="", shape="")
        + guides(color=guide_legend(ncol=1), shape=guide_legend(ncol=1))
        + look()
        + theme(legend_position="bottom")
    )
    same, other = table[table["is_same_code"]], table[~table["is_same_code"]]
    medians = "; ".join(
        f"{name} {rows['ratio'].median():.2f}× ({_span(rows['ratio'])}, {len(rows)})"
        for name, rows in same.groupby("net", sort=False, observed=True)
    )
    notes = [f"Medians of the same code, and in brackets their range and how many: {medians}."]
    if len(other):
        notes.append(
            f"{len(other)} pairs of other frameworks: {_span(other['ratio'])}. What they count may differ, too."
        )
    ratios = same["ratio"]
    middle = _findings.span(float(ratios.quantile(0.25)), float(ratios.quantile(0.75)))
    finding = (
        f"With the same code, rates are {ratios.median():.2f}× {by}'s in the median of {len(ratios)} pairs: "
        f"half of them {middle}, all {_span(ratios)}"
    )
    return Chart(
        figure=figure,
        width=WIDTH,
        height=1.6 + 0.27 * table["cell"].nunique() + 0.34 * len(names) + 0.34 * other["workload"].nunique(),
        data=table.drop(columns=["row"]),
        caption=f"Median rate here over the highest that {by} prints, {len(table)} pairs.",
        finding=finding if len(ratios) else "",
        notes=notes,
        description=f"Dots of ratios by net. {notes[0]}",
    )


def _span(ratios: pd.Series) -> str:
    return _findings.span(float(ratios.min()), float(ratios.max()))
