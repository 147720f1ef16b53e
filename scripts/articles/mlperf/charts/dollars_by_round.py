"""What the cheapest training of each benchmark costs by round: at the list prices of then, and at those of today."""

from math import log10

import pandas as pd
from mizani.breaks import breaks_log
from plotnine import (
    aes,
    facet_wrap,
    geom_line,
    geom_point,
    ggplot,
    guide_legend,
    guides,
    labs,
    scale_color_manual,
    scale_shape_manual,
    scale_x_continuous,
    scale_y_log10,
    theme,
)

from scripts.analysis.verdicts import LESS, MORE
from scripts.charts._lines import COLOURS
from scripts.charts._theme import WIDTH, look
from scripts.charts._view import Chart, View
from scripts.storage.numbers import number

SCOPE = "study"
TITLE = "Dollars to train, by round"
MISSING = "the study prices no rounds"
HELP = "Lower is cheaper; each point is the priced result of the lowest cost of its round."

#: A line needs so many rounds.
_ROUNDS = 3

#: Numbers of an axis stand at least so far apart, a share of its length.
_LEAST_GAP = 0.12
_TODAY, _THEN = "at the prices of today", "at the list prices of then"


def draw(view: View) -> Chart | None:
    if "cheapest" not in view.tables or view.tables["cheapest"].empty:
        return None
    table = view.tables["cheapest"]
    table = table[table.groupby("series")["round"].transform("nunique") >= _ROUNDS]
    if table.empty:
        return None
    year = pd.to_datetime(table["published"])
    table = table.assign(year=year.dt.year + (year.dt.day_of_year - 1) / 365.25)
    keys = ["series", "label", "round", "year", "card", "accelerators", "submitter"]
    tall = pd.concat(
        [table[keys].assign(when=_TODAY, usd=table["usd"]), table[keys].assign(when=_THEN, usd=table["usd_then"])],
        ignore_index=True,
    ).dropna(subset="usd")
    tall["when"] = pd.Categorical(tall["when"], [_TODAY, _THEN])
    tall["label"] = pd.Categorical(tall["label"], list(dict.fromkeys(table["label"])))
    columns = 2
    years = range(int(table["year"].min()), int(table["year"].max()) + 1, 3)
    figure = (
        ggplot(tall, aes("year", "usd", color="when", shape="when"))
        + geom_line(size=0.9)
        + geom_point(size=2.2)
        + facet_wrap("label", ncol=columns, scales="free_y")
        + scale_color_manual(COLOURS)
        + scale_shape_manual(["o", "s"])
        + scale_x_continuous(breaks=list(years), labels=[f"’{one % 100:02}" for one in years])
        + scale_y_log10(breaks=_ticks, labels=lambda ticks: [number(tick, 2) for tick in ticks])
        + labs(x="round published", y="USD a training (log)", color="", shape="")
        + guides(color=guide_legend(ncol=1), shape=guide_legend(ncol=1))
        + look()
        + theme(panel_spacing_y=0.055)
    )
    ends = table.groupby("label", sort=False)["usd"].agg(["first", "last"])
    lasts = table.groupby("label", sort=False)["than_first"].last()
    less, more = (int((lasts == word).sum()) for word in (LESS, MORE))
    return Chart(
        figure=figure,
        width=WIDTH,
        height=1.5 + 1.6 * -(-table["label"].nunique() // columns),
        data=tall,
        caption="USD of each round's lowest-cost priced result; one result a point.",
        finding=f"At today's prices the last round costs clearly more than the first in {more} of {len(ends)} "
        f"benchmarks, less in {less}",
        notes=[f"Today: {view.price_label}; then: AWS's lists, from June 2022."],
        description="Lines of dollars by round for "
        + "; ".join(f"{label}: {number(row['first'])} to {number(row['last'])} USD" for label, row in ends.iterrows())
        + ".",
    )


def _ticks(limits: tuple[float, float]) -> list[float]:
    """Return ticks of a log axis, from its top, of which no two stand so near that their numbers would touch."""
    low, high = limits
    kept: list[float] = []
    for tick in sorted(breaks_log()(limits), reverse=True):
        if low <= tick <= high and (not kept or log10(kept[-1] / tick) > _LEAST_GAP * log10(high / low)):
            kept.append(float(tick))
    return kept
