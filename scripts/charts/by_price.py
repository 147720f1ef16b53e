"""What the same training costs at each of the study's prices: of then, and of today."""

from textwrap import fill
from typing import Any

import pandas as pd
from plotnine import (
    aes,
    element_blank,
    element_text,
    geom_line,
    geom_point,
    ggplot,
    guide_legend,
    guides,
    labs,
    scale_color_manual,
    scale_shape_manual,
    scale_x_log10,
    scale_y_discrete,
    theme,
)

from scripts.analysis.verdicts import undecided, won
from scripts.charts import _clocks, _prices
from scripts.charts._lines import COLOURS, SHAPES
from scripts.charts._relative import count_runs
from scripts.charts._theme import FEW_LOG_BREAKS, LINE, WIDTH, height, look, wrapped
from scripts.charts._view import Chart, View
from scripts.storage.axes import CELL
from scripts.storage.numbers import number
from scripts.storage.tables import records

TITLE = "The same training at each price"
MISSING = "it is priced in one way only"
HELP = (
    "Each row is a configuration; further left is cheaper; where its points lie apart, the price makes the difference."
)
ROWS_BY = "cost_usd"

#: Of a line of the legend.
_LETTERS = 30


def draw(view: View) -> Chart | None:
    priced = view.costs[view.costs["price_option"].isin(list(view.prices))].dropna(subset="cost_usd")
    named = priced.assign(price_option=priced["price_option"].map(dict(view.prices)))
    options = [option for option in view.prices if option in set(priced["price_option"])]
    if len(options) < 2:
        return None
    by_cell = priced.groupby([*CELL, "price_option"], sort=False, dropna=False)["cost_usd"]
    cells = by_cell.agg(median="median", n="count").reset_index()
    cells["label"] = [view.name(cell) for cell in records(cells)]
    names = [fill(view.prices[option], _LETTERS) for option in options]
    cells["price"] = pd.Categorical(cells["price_option"].map(dict(zip(options, names, strict=True))), names)
    order = list(dict.fromkeys(cells["label"]))
    figure = (
        ggplot(cells, aes("median", "label"))
        + geom_line(aes(group="label"), color=LINE, size=1.2)
        + geom_point(aes(color="price", shape="price"), size=3)
        + scale_color_manual(COLOURS)
        + scale_shape_manual(SHAPES)
        + scale_y_discrete(limits=list(reversed(order)), labels=wrapped)
        + scale_x_log10(breaks=FEW_LOG_BREAKS, labels=lambda ticks: [f"{tick:g}" for tick in ticks])
        + labs(x="cost, USD (log scale)", y="", color="", shape="")
        + guides(color=guide_legend(ncol=1), shape=guide_legend(ncol=1))
        + look()
        + theme(
            panel_grid_major_y=element_blank(),
            legend_position="bottom",
            legend_justification_bottom="right",
            legend_text=element_text(ha="left"),
        )
    )
    spoken = "; ".join(
        f"{cell['label']} {number(cell['median'])} USD ({view.prices[cell['price_option']]})" for cell in records(cells)
    )
    return Chart(
        figure=figure,
        width=WIDTH,
        height=height(order) + 0.3 + 0.22 * sum(name.count("\n") + 1 for name in names),
        data=cells.drop(columns="price"),
        caption=f"USD of the same training at {len(options)} prices; {count_runs(cells)}.",
        description=f"Dots of USD for each configuration: {spoken}.",
        finding=_finding(priced, options, view),
        notes=[
            f"{_clocks.paid(view.runs)} × each price, {_prices.billing(named)}.",
            *(
                f"{view.prices[option]}: {_prices.dated(priced[priced['price_option'] == option])}."
                for option in options
            ),
        ],
    )


def _finding(priced: pd.DataFrame, options: list[str], view: View) -> str:
    """Return which cell is cheapest at each price, or which may be."""
    said: list[str] = []
    for option in options:
        at = priced[priced["price_option"] == option]
        cells: list[tuple[float, str, Any, str]] = [
            (
                float(group["cost_usd"].median()),
                view.name(records(group)[0]),
                group["cost_usd"].to_numpy(dtype=float),
                str(group["hardware"].iloc[0]),
            )
            for _, group in at.groupby(CELL, sort=False, dropna=False)
        ]
        best, *others = sorted(cells, key=lambda cell: cell[0])
        machines = [cell[3] for cell in (best, *others)]
        reasons = undecided(view.judge, best[2], [other[2] for other in others], machines)
        near = [others[place] for place in reasons]
        said.append(won([cell[1] for cell in (best, *near)], "is cheapest", len(machines), reasons.values()))
    if len(set(said)) == 1:
        return f"At every price: {said[0]}"
    words = [view.prices[option].partition(",")[0] for option in options]
    return ". ".join(f"At {at}: {one}" for one, at in zip(said, words, strict=True))
