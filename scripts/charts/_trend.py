"""The trend of a workload's cells over the repetitions of a study: a chart of time, and one of cost."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
from plotnine import (
    aes,
    expand_limits,
    facet_wrap,
    geom_line,
    geom_point,
    geom_vline,
    ggplot,
    labs,
    scale_color_manual,
    scale_shape_manual,
    scale_x_continuous,
    scale_y_continuous,
    theme,
)

from scripts.charts._lines import COLOURS
from scripts.charts._theme import FAINT, INK, WIDTH, look
from scripts.charts._view import Chart
from scripts.storage.numbers import number

#: Cells that a chart shows; all are in the table.
MOST = 12

#: Repetitions that are named below a chart.
_NAMED = 4

_OWN, _TODAY = "prices of its date", "prices of today"


def draw_time(cells: Sequence[Mapping[str, Any]], names: Sequence[str], days: Sequence[str]) -> Chart:
    """Draw every run and the medians of cells called `names`; `days` are the words for the repetitions."""
    rows = [
        {"cell": name, "place": point["place"], "seconds": value, "median": point["median"]}
        for cell, name in zip(cells, names, strict=True)
        for point in cell["points"]
        for value in point["seconds"]
    ]
    runs = _ordered(pd.DataFrame(rows), names)
    medians = runs.drop_duplicates(["cell", "place"])
    figure = (
        ggplot(runs, aes("place", "seconds"))
        + _line(medians, ["cell"], aes(y="median"), color=COLOURS[1], size=0.9)
        + geom_point(color=INK, size=1.6, alpha=0.6)
        + geom_point(aes(y="median"), data=medians, color=COLOURS[1], shape="D", size=2.2)
        + _axes(names, days)
        + labs(x="repetition", y="time to train, s")
    )
    marks = [
        {"cell": name, "place": change["place"] - 0.5}
        for cell, name in zip(cells, names, strict=True)
        for change in cell["changes"]
    ]
    if marks:
        figure += geom_vline(
            aes(xintercept="place"), data=_ordered(pd.DataFrame(marks), names), linetype="dashed", color=COLOURS[2]
        )
    spoken = "; ".join(
        f"{name}: " + ", ".join(number(point["median"]) for point in cell["points"]) + " s"
        for cell, name in zip(cells, names, strict=True)
    )
    return Chart(
        figure=figure,
        width=WIDTH,
        height=_height(names),
        data=runs,
        caption="Lower is faster. Dots are runs, diamonds the medians of the repetitions; a dashed line is a marked "
        "change.",
        description=f"Time to train by repetition, medians: {spoken}.",
    )


def draw_cost(cells: Sequence[Mapping[str, Any]], names: Sequence[str], days: Sequence[str]) -> Chart | None:
    """Draw the medians of cost, at the prices of each repetition's date and at those of today; None without a price."""
    rows = [
        {"cell": name, "place": point["place"], "prices": words, "usd": point[key]}
        for cell, name in zip(cells, names, strict=True)
        for point in cell["points"]
        for words, key in ((_OWN, "usd"), (_TODAY, "usd_today"))
        if point[key] is not None
    ]
    if not rows:
        return None
    table = _ordered(pd.DataFrame(rows), names)
    table["prices"] = pd.Categorical(table["prices"], [_OWN, _TODAY])
    figure = (
        ggplot(table, aes("place", "usd", color="prices", shape="prices"))
        + _line(table, ["cell", "prices"], aes(), size=0.8)
        + geom_point(size=2.2)
        + scale_color_manual([COLOURS[0], FAINT])
        + scale_shape_manual(["o", "x"])
        + _axes(names, days)
        + labs(x="repetition", y="USD, full length", color="", shape="")
    )
    last = table[table["place"] == table["place"].max()]
    spoken = "; ".join(f"{row.cell}, {row.prices}: {number(row.usd)} USD" for row in last.itertuples())
    return Chart(
        figure=figure,
        width=WIDTH,
        height=_height(names) + 0.3,
        data=table,
        caption="Lower is cheaper. Where the two part, prices have changed; where both move, times have.",
        description=f"Cost by repetition; the last one: {spoken}.",
    )


def _line(table: pd.DataFrame, by: list[str], mapping: aes, **look: Any) -> list[Any]:
    """Return the lines of those groups that have two points or more: of one, plotnine warns of it."""
    several = table[table.groupby(by, observed=True)["place"].transform("size") > 1]
    return [geom_line(mapping, data=several, **look)] if len(several) else []


def _ordered(table: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    return table.assign(cell=pd.Categorical(table["cell"], list(names)))


def _axes(names: Sequence[str], days: Sequence[str]) -> list[Any]:
    """Return one panel below the other, so that a phone shows them; names of a few repetitions, the last with them."""
    step = max(1, -(-len(days) // _NAMED))
    named = list(range(len(days) - 1, -1, -step))[::-1]
    return [
        facet_wrap("cell", ncol=1, scales="free_y"),
        scale_x_continuous(breaks=named, labels=[days[i] for i in named], limits=(-0.3, len(days) - 0.7)),
        expand_limits(y=0),  # else a percent looks like a doubling
        scale_y_continuous(labels=lambda ticks: [f"{tick:.3g}" for tick in ticks]),
        look(),
        theme(panel_spacing_y=0.04),
    ]


def _height(names: Sequence[str]) -> float:
    return 0.9 + 1.5 * len(names)
