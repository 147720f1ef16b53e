"""What a dollar buys on each card that has a price: samples per USD, rented and owned."""

from textwrap import fill

import pandas as pd
from plotnine import (
    aes,
    element_blank,
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

from scripts.analysis import audit
from scripts.charts import _findings, _prices
from scripts.charts._lines import COLOURS, SHAPES
from scripts.charts._theme import WIDTH, fitting, height, look, wrapped
from scripts.charts._view import Chart, View
from scripts.storage.axes import CELL
from scripts.storage.numbers import number
from scripts.storage.tables import records

TITLE = "What a dollar buys"
MISSING = "no machine has a price"
HELP = "Further right is more work for the money."

#: Ticks from here on would run into one another if written out.
_LONG = 10_000

#: Of a line below the axis: longer ones would leave the card of the chart.
_LETTERS = 30

#: More cards cannot be read at a glance.
_MOST = 40


def draw(view: View) -> Chart | None:
    paid = view.costs[view.costs["price_option"].isin(list(view.prices))].dropna(subset="samples_per_usd")
    beyond = audit.beside_single_cards(view.runs, view.cards)
    beyond = beyond[beyond["efficiency"] > audit.PERFECT]
    paid = paid[~paid["hardware"].isin(beyond["hardware"])]
    if paid.empty:
        return None
    by_cell = paid.groupby([*CELL, "price_option"], sort=False, dropna=False)["samples_per_usd"]
    cells = by_cell.agg(median="median", n="count").reset_index()
    # A card is shown with its best machine and cell: number of cards, precision, batch size and software may differ.
    cells["card"] = [view.cards.get(name, view.labels[name]) for name in cells["hardware"]]
    best = cells.sort_values("median", ascending=False, kind="stable").drop_duplicates(["card", "price_option"])
    options = [option for option in view.prices if option in set(best["price_option"])]
    best = best.assign(
        machine=best["hardware"].map(view.labels),
        millions=best["median"].astype(float) / 1e6,
        at=pd.Categorical(best["price_option"].map(view.prices), [view.prices[option] for option in options]),
    )
    every = list(dict.fromkeys(best["card"]))
    order = every[: min(_MOST, fitting(every))]
    best = best[best["card"].isin(order)]
    left = f"Of {len(every)} cards the first {len(order)} are drawn; all are in the tables."
    crowd = [left] if len(every) > len(order) else []
    figure = (
        ggplot(best, aes("millions", "card", color="at", shape="at"))
        + geom_point(size=3)
        + scale_color_manual(COLOURS)
        + scale_shape_manual(("o", "^", "s", *SHAPES[3:]))
        + scale_y_discrete(limits=list(reversed(order)), labels=wrapped)
        + scale_x_log10(labels=lambda ticks: [f"{tick / 1000:g}k" if tick >= _LONG else f"{tick:g}" for tick in ticks])
        + labs(x=fill(f"million {view.unit} per USD", _LETTERS) + "\n(log scale)", y="", color="price", shape="price")
        + guides(color=guide_legend(ncol=1), shape=guide_legend(ncol=1))
        + look()
        + theme(panel_grid_major_y=element_blank(), legend_position="bottom")
    )
    precisions = " or ".join(dict.fromkeys(str(value) for value in best["precision"].dropna()))
    left_out = " and ".join(dict.fromkeys(beyond["hardware"].map(view.labels)))
    doubted = [f"Left out, as they exceed their cards' peak: {left_out}."] if left_out else []
    spoken = "; ".join(
        f"{row['card']} {number(row['millions'])} million ({row['at']}, {row['machine']})" for row in records(best)
    )
    return Chart(
        figure=figure,
        width=WIDTH,
        height=height(order) + 0.6,
        data=best.drop(columns="at"),
        caption=f"Million {view.unit} per USD at each card's lowest cost; "
        f"medians of {best['n'].min()} to {best['n'].max()} runs.",
        description=f"Dots of {view.unit} per dollar: {spoken}.",
        finding=_finding(best, paid, options[0], view),
        notes=[
            "Throughput × 3600 ÷ hourly price, of the machine and configuration of the lowest cost with each card.",
            f"Precision: {precisions}.",
            f"{_prices.dated(paid.assign(region=''))}.".capitalize(),
            *doubted,
            *crowd,
        ],
    )


def _finding(best: pd.DataFrame, paid: pd.DataFrame, option: str, view: View) -> str:
    """Return which card buys most at a price option, by the runs of each card's best cell."""
    rows = records(best[best["price_option"] == option])
    runs = paid[paid["price_option"] == option]
    costs = []
    for row in rows:
        same = pd.Series(True, index=runs.index)
        for axis in CELL:
            same &= runs[axis].isna() if pd.isna(row[axis]) else runs[axis].eq(row[axis]).fillna(False).astype(bool)
        costs.append(1 / runs.loc[same, "samples_per_usd"].to_numpy(dtype=float))
    # Another price may have another winner, in the same picture.
    where = f" ({view.prices[option]})" if best["price_option"].nunique() > 1 else ""
    return _findings.winner(
        [row["card"] for row in rows],
        costs,
        view.judge,
        f"buys most per dollar{where}",
        [row["hardware"] for row in rows],
    )
