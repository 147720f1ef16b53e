"""How far submitters of the same card lie apart."""

import pandas as pd
from plotnine import (
    aes,
    coord_flip,
    element_blank,
    geom_linerange,
    geom_point,
    geom_text,
    ggplot,
    labs,
    scale_y_continuous,
    theme,
)

from scripts.charts._lines import COLOURS
from scripts.charts._theme import INK, LINE, TEXT, WIDTH, look
from scripts.charts._view import Chart, View

SCOPE = "study"
TITLE = "The same card from other makers"
MISSING = "no card has enough submitters"
HELP = "From the lowest score of a maker to the highest: part of it is the noise of single results."


def draw(view: View) -> Chart | None:
    if "spread" not in view.tables or view.tables["spread"].empty:
        return None
    table = view.tables["spread"].sort_values("apart")
    table = table.assign(name=[f"{row.label}, {row.card}" for row in table.itertuples()])
    table = table.assign(
        name=pd.Categorical(table["name"], list(table["name"])),
        middle=table["median"] / table["fastest"],
        text=[f"  {row.submitters}" for row in table.itertuples()],
        one=1.0,
    )
    figure = (
        ggplot(table, aes("name"))
        + geom_linerange(aes(ymin="one", ymax="apart"), color=LINE, size=1.6)
        + geom_point(aes(y="one"), color=COLOURS[1], size=2)
        + geom_point(aes(y="apart"), color=COLOURS[1], size=2)
        + geom_point(aes(y="middle"), color=COLOURS[0], size=2.6)
        + geom_text(aes(y="apart", label="text"), ha="left", size=TEXT, color=INK)
        + scale_y_continuous(labels=lambda ticks: [f"{tick:g}×" for tick in ticks], expand=(0.02, 0, 0.1, 0))
        + coord_flip()
        + labs(x="", y="× the lowest")
        + look()
        + theme(panel_grid_major_y=element_blank())
    )
    worst = table.iloc[-1]
    return Chart(
        figure=figure,
        width=WIDTH,
        height=1 + 0.24 * len(table),
        data=table.drop(columns="text"),
        caption="Hours, × the lowest; one result a submitter, whose number stands behind.",
        finding=f"Makers' scores lie {table['apart'].median():.2f}× apart in the median, at most {worst['apart']:.2f}×",
        notes=[
            "Machines of eight cards.",
            "From the lowest score to the highest, the median larger.",
            f"The most: {worst['name']}.",
        ],
        description="; ".join(
            f"{row.name}: {row.apart:.2f}× among {row.submitters}" for row in table.itertuples(index=False)
        )
        + ".",
    )
