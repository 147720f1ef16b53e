"""What more accelerators cost: dollars of a training over those on the fewest, by how much faster it is."""

import pandas as pd
from plotnine import (
    aes,
    geom_line,
    geom_point,
    ggplot,
    guide_legend,
    guides,
    labs,
    scale_color_manual,
    scale_x_log10,
    scale_y_log10,
    theme,
)

from scripts.charts._lines import COLOURS
from scripts.charts._theme import WIDTH, look
from scripts.charts._view import Chart, View

SCOPE = "study"
TITLE = "What scale costs"
MISSING = "no submitter measured three sizes of one system"
#: More lines cannot be distinguished.
_LINES = 6

HELP = "To the right is faster, upwards dearer; a flat line says that speed costs nothing."


def draw(view: View) -> Chart | None:
    if "scale" not in view.tables or view.tables["scale"].empty:
        return None
    table = view.tables["scale"]
    table = table.assign(line=table["label"] + ", " + table["card"])
    ends = table.loc[table.groupby("line", sort=False)["faster"].idxmax()]
    shown = ends.nlargest(_LINES, "faster")["line"]
    table = table[table["line"].isin(shown)]
    ends = ends[ends["line"].isin(shown)]
    table["line"] = pd.Categorical(table["line"], list(shown))
    figure = (
        ggplot(table, aes("faster", "dearer", color="line"))
        + geom_line(size=0.9)
        + geom_point(size=1.8)
        + scale_color_manual(COLOURS)
        + scale_x_log10(
            breaks=[1, 3, 10, 30, 100, 300],
            labels=lambda ticks: [f"{tick:g}×" for tick in ticks],
            expand=(0.05, 0),
        )
        + scale_y_log10(breaks=[1, 2, 5, 10, 20], labels=lambda ticks: [f"{tick:g}×" for tick in ticks])
        + labs(x="faster than on the fewest cards", y="accelerator-hours, and so dollars")
        + look()
        + guides(color=guide_legend(ncol=1))
        + theme(legend_position="bottom")
    )
    said = [
        f"{row.label}: {row.cards:,.0f}× the cards measured {row.faster:.0f}× the speed, {row.dearer:.1f}× the hours"
        for row in ends.sort_values("faster", ascending=False).head(2).itertuples()
    ]
    return Chart(
        figure=figure,
        width=WIDTH,
        height=5.6,
        data=table,
        caption="× the fewest cards, as measured; a line is one submitter.",
        finding=said[0],
        notes=[
            "A line is of one card and one round, too.",
            *(f"{line}." for line in said),
            "Initialisation is left out.",
        ],
        description="Lines of accelerator-hours by speed. "
        + "; ".join(
            f"{row.line}: {row.faster:.0f}× the speed, {row.dearer:.1f}× the hours" for row in ends.itertuples()
        )
        + ".",
    )
