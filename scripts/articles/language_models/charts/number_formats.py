"""What FP8, MXFP8 and NVFP4 do on one card, over the widest format that was printed of it."""

import pandas as pd
from plotnine import (
    aes,
    facet_wrap,
    geom_point,
    geom_vline,
    ggplot,
    labs,
    scale_color_manual,
    scale_shape_manual,
    scale_x_continuous,
)

from scripts.charts import _findings
from scripts.charts._lines import COLOURS, SHAPES
from scripts.charts._theme import INK, WIDTH, look
from scripts.charts._view import Chart, View

SCOPE = "study"
TITLE = "What narrower numbers save"
MISSING = "no card has two formats that are alike in all else"
HELP = "Each dot is a pair of printed rows of one card; left of the dashed line the narrower format takes less."


def draw(view: View) -> Chart | None:
    table = view.tables.get("formats", pd.DataFrame())
    if table.empty:
        return None
    table = table.assign(
        pair=table["format"] + " over " + table["than"],
        time=1 / table["faster"].astype(float),
    )
    pairs = list(dict.fromkeys(table.sort_values(["than", "format"])["pair"]))
    cards = list(dict.fromkeys(table["card"]))
    table = table.assign(pair=pd.Categorical(table["pair"], pairs), card=pd.Categorical(table["card"], cards))
    figure = (
        ggplot(table, aes("time", "card", color="card", shape="card"))
        + geom_vline(xintercept=1, linetype="dashed", color=INK, size=0.6)
        + geom_point(size=2.4, show_legend=False)
        + facet_wrap("pair", ncol=1, scales="free_y")
        + scale_color_manual(COLOURS)
        + scale_shape_manual(SHAPES)
        + scale_x_continuous(labels=lambda ticks: [f"{tick:g}×" for tick in ticks])
        + labs(x="dollars, × the wider format", y="", color="", shape="")
        + look()
    )
    middle = table.groupby("pair", observed=True)["time"].median()
    said = "; ".join(f"{pair} {value:.2f}×" for pair, value in middle.items())
    rows = table.groupby("pair", observed=True)["card"].nunique()
    return Chart(
        figure=figure,
        width=WIDTH,
        height=1.0 + float(sum(0.55 + 0.26 * count for count in rows)),
        data=table.drop(columns="than"),
        caption=f"Dollars of the same tokens on the same card, {len(table)} pairs of printed rows.",
        finding=f"The same tokens cost {_findings.span(middle.min(), middle.max())} in the narrower format (medians)",
        notes=[
            f"Medians: {said}.",
            "Of one card the price falls out. What the format does to what is learned is in none of the tables.",
        ],
        description=f"Dots of ratios by card for each pair of formats. Medians: {said}.",
    )
