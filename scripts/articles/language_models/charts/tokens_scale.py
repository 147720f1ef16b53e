"""What more cards cost where each keeps its share of the batch."""

import pandas as pd
from plotnine import (
    aes,
    geom_hline,
    geom_line,
    geom_point,
    ggplot,
    guide_legend,
    guides,
    labs,
    scale_color_manual,
    scale_x_log10,
)

from scripts.charts import _findings
from scripts.charts._lines import COLOURS
from scripts.charts._theme import INK, WIDTH, look
from scripts.charts._view import Chart, View

SCOPE = "study"
TITLE = "What more cards cost"
MISSING = "no row was printed of two numbers of cards"
HELP = "A flat line: more cards cost nothing; upwards the same tokens are dearer."


def draw(view: View) -> Chart | None:
    table = view.tables.get("tokens_scale", pd.DataFrame())
    if table.empty:
        return None
    lines = table[["workload", "framework", "card", "precision", "batch_size"]].astype(str).agg(" ".join, axis=1)
    table = table.assign(line=lines, devices=table["devices"].astype(int), dearer=table["dearer"].astype(float))
    cards = list(dict.fromkeys(table["card"]))
    figure = (
        ggplot(table, aes("devices", "dearer", color="card", group="line"))
        + geom_hline(yintercept=1, linetype="dashed", color=INK, size=0.6)
        + geom_line(size=0.6)
        + geom_point(size=1.6)
        + scale_color_manual(COLOURS, limits=cards)
        + scale_x_log10(breaks=sorted(set(table["devices"])), labels=lambda ticks: [f"{tick:g}" for tick in ticks])
        + labs(x="cards (log scale)", y="dollars, × the fewest cards", color="")
        + guides(color=guide_legend(ncol=3))
        + look()
    )
    ends = table.loc[table.groupby("line", sort=False)["more"].idxmax()]
    far = ends.nlargest(1, "more").iloc[0]
    span = _findings.span(ends["dearer"].min(), ends["dearer"].max())
    return Chart(
        figure=figure,
        width=WIDTH,
        height=4.0,
        data=table.drop(columns="line"),
        caption=f"Dollars per token, × the fewest cards; {len(ends)} lines, the batch grows too.",
        finding=f"On the largest number of cards of a line the same tokens cost {span}",
        notes=[
            f"In the median {ends['dearer'].median():.2f}×. The longest line: {far['fewest']} to {far['devices']} "
            f"cards, {far['dearer']:.2f}×.",
            "A line is one model, software, card, format and share of the batch; what the larger batch does to what is "
            "learned is in none of the tables.",
        ],
        description=f"Lines of relative dollars by number of cards, from {ends['dearer'].min():.2f} to "
        f"{ends['dearer'].max():.2f} on the most cards.",
    )
