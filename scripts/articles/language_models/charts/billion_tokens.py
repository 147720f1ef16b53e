"""What a billion tokens of each model cost on each card, at the lowest offer and at the median."""

import pandas as pd
from plotnine import (
    aes,
    facet_wrap,
    geom_point,
    ggplot,
    guide_legend,
    guides,
    labs,
    scale_color_manual,
    scale_shape_manual,
    scale_x_log10,
    theme,
)

from scripts.analysis.names import workload_name
from scripts.articles.language_models.figures import usd
from scripts.charts._lines import COLOURS, SHAPES
from scripts.charts._theme import WIDTH, look
from scripts.charts._view import Chart, View
from scripts.storage.numbers import number
from scripts.storage.tables import records

SCOPE = "study"
TITLE = "What a billion tokens cost"
MISSING = "the study has no language models with a price"
HELP = "Further left is cheaper; each dot is the printed row of the highest speed of that card."

#: More models are in the table.
_MODELS = 6

#: How a mark is called that is the same at each price, as one provider alone offers the card.
_ALONE = "all of these: one provider"


def draw(view: View) -> Chart | None:
    table = view.tables.get("billion", pd.DataFrame())
    options = [option for option in view.prices if usd(option) in table]
    if table.empty or not options:
        return None
    tall = pd.concat(
        [
            table[["workload", "card", "format", "devices", "framework"]].assign(
                at=view.prices[option], usd=table[usd(option)]
            )
            for option in options
        ]
    ).dropna(subset="usd")
    shown = list(dict.fromkeys(tall["workload"]))[:_MODELS]
    tall = tall[tall["workload"].isin(shown)]
    if tall.empty:
        return None
    least = tall[tall["at"] == view.prices[options[0]]]
    least = least.loc[least.groupby("workload", sort=False)["usd"].idxmin()]
    tall, alone = _once(tall)
    names = [workload_name(name) for name in shown]
    cards = list(dict.fromkeys(tall.sort_values("usd", ascending=False)["card"]))
    tall = tall.assign(
        model=pd.Categorical(tall["workload"].map(workload_name), names),
        card=pd.Categorical(tall["card"], cards),
        at=pd.Categorical(tall["at"], [*(view.prices[option] for option in options), *[_ALONE] * bool(alone)]),
        usd=tall["usd"].astype(float),
    )
    figure = (
        ggplot(tall, aes("usd", "card", color="at", shape="at"))
        + geom_point(size=3)
        + facet_wrap("model", ncol=1, scales="free")
        + scale_color_manual(COLOURS)
        + scale_shape_manual(SHAPES)
        + scale_x_log10(labels=lambda ticks: [f"{tick:,.4g}" for tick in ticks])
        + labs(x="USD a billion tokens (log scale)", y="", color="", shape="")
        + guides(color=guide_legend(ncol=1), shape=guide_legend(ncol=1))
        + look()
        + theme(panel_spacing_y=0.03)
    )
    said = "; ".join(
        f"{workload_name(row['workload'])} {number(row['usd'])} USD on {row['card']}" for row in records(least)
    )
    rows = tall.groupby("model", observed=True)["card"].nunique()
    return Chart(
        figure=figure,
        width=WIDTH,
        height=1.6 + float(sum(0.75 + 0.28 * count for count in rows)),
        data=tall.drop(columns="model"),
        caption="USD per billion tokens by card; one printed figure each, its highest speed.",
        finding=f"At the lowest offer a billion tokens cost {number(least['usd'].min())} to "
        f"{number(least['usd'].max())} USD, by model",
        notes=[
            f"The lowest cost of each, of printed rows that are not alike: {said}.",
            f"Drawn are the first {len(shown)} of {table['workload'].nunique()} models, on cards with an offer: the "
            "table has all.",
            *(f"One provider alone offers {card}: lowest, median and list are one mark." for card in alone),
            "Formats, software and numbers of cards differ: the table says them. Priced by the card-hour.",
        ],
        description=f"Dots of dollars by card. {said}.",
    )


def _once(tall: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    """Return the marks with one in the place of several of a card that are the same, and which cards these are."""
    marks = tall.groupby(["workload", "card"], sort=False)["usd"]
    same = (marks.transform("nunique") == 1) & (marks.transform("size") > 1)
    once = tall[same].drop_duplicates(["workload", "card"]).assign(at=_ALONE)
    return pd.concat([tall[~same], once]), list(dict.fromkeys(once["card"]))
