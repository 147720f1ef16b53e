"""A newer card over an older one, all else alike: its speed, and the dollars of the same tokens."""

import pandas as pd
from plotnine import (
    aes,
    coord_flip,
    geom_hline,
    geom_point,
    ggplot,
    guide_legend,
    guides,
    labs,
    position_dodge,
    scale_color_manual,
    scale_shape_manual,
    scale_y_log10,
    theme,
)

from scripts.articles.language_models.figures import usd
from scripts.charts import _findings
from scripts.charts._lines import COLOURS, SHAPES
from scripts.charts._theme import INK, WIDTH, look
from scripts.charts._view import Chart, View

SCOPE = "study"
TITLE = "A newer card over an older one, all else alike"
MISSING = "no two cards have rows that are alike in all else"
HELP = "Each dot is a pair of printed rows; left of the dashed line the newer card takes less for the same tokens."

_TIME = "card-hours"


def draw(view: View) -> Chart | None:
    table = view.tables.get("alike", pd.DataFrame())
    if table.empty:
        return None
    table = table.assign(pair=table["card"] + " / " + table["than"], time=1 / table["faster"])
    keys = ["pair", "workload", "framework", "format", "devices"]
    sides = [table[keys].assign(what=_TIME, ratio=table["time"])]
    sides += [table[keys].assign(what=f"USD, {words}", ratio=table[usd(one)]) for one, words in view.prices.items()]
    kinds = [side["what"].iloc[0] for side in sides]
    tall = pd.concat(sides, ignore_index=True).dropna(subset="ratio")
    pairs = list(dict.fromkeys(table.sort_values("time")["pair"]))
    tall = tall.assign(
        what=pd.Categorical(tall["what"], kinds),
        pair=pd.Categorical(tall["pair"], pairs[::-1]),
        ratio=tall["ratio"].astype(float),
    )
    figure = (
        ggplot(tall, aes("pair", "ratio", color="what", shape="what"))
        + geom_hline(yintercept=1, linetype="dashed", color=INK, size=0.6)
        + geom_point(size=1.8, position=position_dodge(width=0.7))
        + scale_color_manual(COLOURS)
        + scale_shape_manual(SHAPES)
        + scale_y_log10(breaks=[0.25, 0.5, 1, 2], labels=["0.25×", "0.5×", "1×", "2×"])
        + coord_flip()
        + labs(x="", y="newer ÷ older card (log)", color="", shape="")
        + guides(color=guide_legend(ncol=1), shape=guide_legend(ncol=1))
        + look()
        + theme(legend_justification_top="right")
    )
    middle = tall.groupby(["pair", "what"], observed=True)["ratio"].median().unstack().reindex(columns=kinds)
    time = middle[_TIME]
    said = "; ".join(
        f"{pair}: " + ", ".join(f"{value:.2f}× the {kind}" for kind, value in row.dropna().items())
        for pair, row in middle.iterrows()
    )
    return Chart(
        figure=figure,
        width=WIDTH,
        height=2.0 + 0.42 * len(pairs),
        data=tall,
        caption=f"Newer ÷ older card, {len(table)} pairs of printed rows; one figure a side.",
        finding=f"The same tokens take {_findings.span(time.min(), time.max())} the hours on the newer card (medians)",
        notes=[
            f"Medians: {said}.",
            "Model, task, length, software, format, number of cards and batch are alike; how the model is split over "
            "the cards may differ.",
            "A card without an offer has card-hours alone.",
        ],
        description=f"Dots of ratios for each pair of cards. Medians: {said}.",
    )
