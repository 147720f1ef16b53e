"""What the result of each track costs by the date of its record, at one price of the machine."""

from itertools import pairwise
from math import log10
from typing import Any

import numpy as np
import pandas as pd
from plotnine import (
    aes,
    geom_point,
    geom_step,
    geom_text,
    ggplot,
    guide_legend,
    guides,
    labs,
    scale_color_manual,
    scale_shape_manual,
    scale_x_continuous,
    scale_y_log10,
)

from scripts.charts import _labels
from scripts.charts._lines import COLOURS, SHAPES
from scripts.charts._theme import INK, TEXT, WIDTH, look
from scripts.charts._view import Chart, View
from scripts.storage.numbers import number
from scripts.storage.tables import records

SCOPE = "study"
TITLE = "Dollars to the same result, by date"
MISSING = "the study has no records with a date"
HELP = "Lower costs less: the machine and its price stay the same, so dollars are time."

#: Room around the lines, as shares of what they span along and up.
_EXPAND = (0.05, 0.16)

#: The panel in points, on the page and in the preview.
_PANELS = ((275.0, 275.0), (510.0, 118.0))

#: A date that is a year alone has no place among days.
_DAY = 10


def draw(view: View) -> Chart | None:
    table = view.tables.get("every_record", pd.DataFrame())
    if table.empty:
        return None
    table = table[~table["is_retimed"] & table["date"].str.len().eq(_DAY)]
    if table.empty:
        return None
    day = pd.to_datetime(table["date"])
    labels = list(dict.fromkeys(table["label"]))
    table = table.assign(
        year=day.dt.year + (day.dt.day_of_year - 1) / 365.25,
        label=pd.Categorical(table["label"], labels),
    )
    ends = table.groupby("label", observed=True)["usd"].agg(["first", "last"])
    marks = table[table["mark"] != ""]
    # Dollars stand with the first and the last of a line.
    marks = marks.assign(
        mark=[
            row["mark"] + (f", {number(row['usd'])}" if row["usd"] in set(ends.loc[row["label"]]) else "")
            for row in records(marks)
        ]
    )
    years = range(int(table["year"].min()), int(table["year"].max()) + 1)
    figure = (
        ggplot(table, aes("year", "usd", color="label", shape="label"))
        + geom_step(size=0.8)
        + geom_point(size=1.6)
        + _words(table, marks)
        + scale_color_manual(COLOURS)
        + scale_shape_manual(SHAPES)
        + scale_x_continuous(
            breaks=[one + half for one in years for half in (0.0, 0.5)], labels=_months, expand=(_EXPAND[0], 0)
        )
        + scale_y_log10(labels=lambda ticks: [f"{tick:g}" for tick in ticks], expand=(_EXPAND[1], 0))
        + labs(x="date of the record", y="USD (log scale)", color="", shape="")
        + guides(color=guide_legend(ncol=1), shape=guide_legend(ncol=1))
        + look()
    )
    said = "; ".join(
        f"{label}: {number(of_it['usd'].iloc[0])} USD on {of_it['date'].iloc[0]}, {number(of_it['usd'].iloc[-1])} on "
        f"{of_it['date'].iloc[-1]}"
        for label, of_it in table.groupby("label", observed=True)
    )
    first = table[table["label"] == labels[0]]
    return Chart(
        figure=figure,
        width=WIDTH,
        height=5.4,
        data=table[["label", "record", "date", "minutes", "usd", "mark"]],
        caption=f"USD at {view.price_label}; {len(table)} printed records, log scale.",
        finding=f"{labels[0]}: from {number(first['usd'].iloc[0])} to {number(first['usd'].iloc[-1])} USD",
        notes=[
            f"{said}.",
            "Each point is one printed record on eight H100; a word names what some of them brought. Old records that "
            "were timed anew are not drawn, nor is GPT-2's own training of 2019, on other machines.",
        ],
        description=f"Steps of dollars by date. {said}.",
    )


def _words(table: pd.DataFrame, marks: pd.DataFrame) -> list[geom_text]:
    """Return the words beside their points, where they hide the least on the page and in the preview."""
    ends = [(axis.min(), axis.max() - axis.min() or 1.0) for axis in (table["year"], np.log10(table["usd"]))]

    def place(year: float, usd: float) -> tuple[float, float]:
        shares = [(value - low) / span for value, (low, span) in zip((year, log10(usd)), ends, strict=True)]
        x, y = ((share + more) / (1 + 2 * more) for share, more in zip(shares, _EXPAND, strict=True))
        return x, y

    lines = []
    for _, line in table.groupby("label", observed=True):
        rows = list(zip(line["year"], line["usd"], strict=True))
        corners = [(year, usd) for (_, usd), (year, _) in pairwise(rows)]  # along at the old price, then down
        lines.append([place(*one) for pair in zip(rows, [*corners, rows[-1]], strict=True) for one in pair])
    points = [place(*one) for one in zip(marks["year"], marks["usd"], strict=True)]
    sides = _labels.sides(points, list(marks["mark"]), lines, _PANELS)

    def layer(side: tuple[str, str]) -> geom_text:
        moved = zip(_labels.nudge(side), _PANELS[0], ends, _EXPAND, strict=True)
        right, up = (points / size * span * (1 + 2 * more) for points, size, (_, span), more in moved)
        shown = marks[[one == side for one in sides]]
        given: dict[str, Any] = {"ha": side[0], "va": side[1], "nudge_x": right, "nudge_y": up}
        return geom_text(aes(label="mark"), shown, size=TEXT, color=INK, **given)

    return [layer(side) for side in dict.fromkeys(sides)]


def _months(ticks: list[float]) -> list[str]:
    return [f"{int(tick)}-{'07' if tick % 1 else '01'}" for tick in ticks]
