"""What an hour of a card cost by date: of a command, and no chart of a study."""

from collections.abc import Mapping, Sequence

import pandas as pd
from plotnine import (
    aes,
    facet_wrap,
    geom_point,
    geom_step,
    ggplot,
    guide_legend,
    guides,
    labs,
    scale_color_manual,
    scale_shape_manual,
    scale_x_datetime,
    scale_y_continuous,
)

from scripts.charts._lines import COLOURS, SHAPES
from scripts.charts._theme import FAINT, WIDTH, look
from scripts.charts._view import Chart
from scripts.costs.card_history import Day, day_of
from scripts.storage.numbers import number

TITLE = "What an hour of a card cost"

_LINES = ("lowest of clouds", "median of clouds", "lowest of market places")


def draw(cards: Mapping[str, Sequence[Day]], purchase: str) -> Chart:
    """Return the lowest and the median of clouds by date, the lowest of market places, and a dot an offer read."""
    rows, dots = [], []
    for card, days in cards.items():
        for day in days:
            market = day.market.usd_per_hour if day.market else None
            values = zip(_LINES, (day.lowest.usd_per_hour, day.median, market), strict=True)
            rows += [(card, day_of(day.as_of), line, usd) for line, usd in values if usd is not None]
            dots += [(card, day_of(day.as_of), offer.provider, offer.usd_per_hour) for offer in day.new]
    table = pd.DataFrame(rows, columns=["card", "day", "line", "usd"])
    read = pd.DataFrame(dots, columns=["card", "day", "provider", "usd"])
    for frame in (table, read):
        frame["day"] = pd.to_datetime(frame["day"])
        frame["card"] = pd.Categorical(frame["card"], list(cards))
    table["line"] = pd.Categorical(table["line"], [line for line in _LINES if line in set(table["line"])])
    figure = (
        ggplot(table, aes("day", "usd"))
        + geom_point(data=read, color=FAINT, size=1.2, alpha=0.6)
        + geom_step(aes(color="line"), size=0.9)
        + geom_point(aes(color="line", shape="line"), size=2)
        + facet_wrap("card", ncol=1, scales="free_y")
        + scale_color_manual(COLOURS)
        + scale_shape_manual(SHAPES)
        + scale_x_datetime(date_labels="%Y-%m")
        + scale_y_continuous(limits=(0, None))
        + labs(x="", y="USD a card-hour", color="", shape="")
        + guides(color=guide_legend(ncol=1), shape=guide_legend(ncol=1))
        + look()
    )
    said = [
        f"{card}: {number(days[-1].lowest.usd_per_hour)} USD at {days[-1].lowest.provider}, median "
        f"{number(days[-1].median)} of {len(days[-1].known)} clouds, {days[-1].as_of}"
        for card, days in cards.items()
    ]
    return Chart(
        figure=figure,
        width=WIDTH,
        height=1.2 + 2.4 * len(cards),
        data=table,
        caption=f"Offers by the price books, {purchase}; of each cloud the newest; each grey dot was read that day.",
        finding=said[0] if len(said) == 1 else "",
        description=f"Steps of dollars by date. {'; '.join(said)}.",
    )
