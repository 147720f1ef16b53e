"""What a second, fourth and eighth card adds: throughput over that of as many single cards."""

from itertools import cycle

import pandas as pd
from plotnine import (
    aes,
    expand_limits,
    facet_wrap,
    geom_hline,
    geom_line,
    geom_point,
    ggplot,
    guide_legend,
    guides,
    labs,
    scale_color_manual,
    scale_shape_manual,
    scale_x_log10,
    scale_y_continuous,
    theme,
)

from scripts.analysis.audit import PERFECT
from scripts.analysis.names import workload_name
from scripts.charts import _findings
from scripts.charts._lines import COLOURS
from scripts.charts._theme import INK, WIDTH, look
from scripts.charts._view import Chart, View
from scripts.storage.tables import records

SCOPE = "study"
TITLE = "What more cards add"
MISSING = "the study has no machines with several cards of a kind"
HELP = "1 would be n times the throughput of one card on n cards."

#: One less than colours: of more cards than either, no two have both alike.
_SHAPES = ("o", "^", "s", "D", "v", "P", "X", "*", "h")


def draw(view: View) -> Chart | None:
    table = view.tables.get("card_scaling", pd.DataFrame())
    if table.empty:
        return None
    precision = table["precision"].iloc[0]
    is_unknown = pd.isna(precision)
    shown = table[table["precision"].isna() if is_unknown else table["precision"].eq(precision).fillna(False)]
    # What no scaling can be would flatten all other lines: it is in the audit.
    beyond = shown[shown["efficiency"] > PERFECT]
    drawn = shown[~shown["workload"].isin(beyond.loc[beyond["efficiency"] > 2 * PERFECT, "workload"])]
    ones = drawn.drop_duplicates(["workload", "card"]).assign(devices=1, efficiency=1.0)
    drawn = pd.concat([ones, drawn], ignore_index=True)
    drawn = drawn.assign(
        workload=pd.Categorical(
            drawn["workload"].map(workload_name), list(dict.fromkeys(drawn["workload"].map(workload_name)))
        ),
        devices=drawn["devices"].astype(int),
        efficiency=drawn["efficiency"].astype(float),
    )
    cards = list(dict.fromkeys(drawn["card"]))
    figure = (
        ggplot(drawn, aes("devices", "efficiency", color="card", shape="card"))
        + geom_hline(yintercept=1, linetype="dashed", color=INK, size=0.6)
        + geom_line(size=0.8)
        + geom_point(size=2.2)
        + facet_wrap("workload", ncol=2)
        + scale_color_manual(dict(zip(cards, cycle(COLOURS), strict=False)), breaks=cards)
        + scale_shape_manual(dict(zip(cards, cycle(_SHAPES), strict=False)), breaks=cards)
        + scale_x_log10(breaks=sorted(set(drawn["devices"])))
        + scale_y_continuous()
        + expand_limits(y=0)
        + labs(x="cards (log scale)", y="scaling efficiency", color="card", shape="card")
        + guides(color=guide_legend(ncol=2), shape=guide_legend(ncol=2))
        + look()
        + theme(legend_position="bottom")
    )
    panels = drawn["workload"].nunique()
    left_out = [
        name for name in dict.fromkeys(shown["workload"].map(workload_name)) if name not in set(drawn["workload"])
    ]
    missing = [f"Not drawn, as what was measured is no scaling: {', '.join(left_out)}."] if left_out else []
    most = drawn["devices"].max()
    reached = drawn.loc[drawn["devices"] == most, "efficiency"]
    spoken = "; ".join(
        f"{row['workload']} {row['devices']} {row['card']} {row['efficiency']:.2f}"
        for row in records(drawn[drawn["devices"] > 1])
    )
    return Chart(
        figure=figure,
        width=WIDTH,
        height=1.6 + 1.5 * ((panels + 1) // 2),
        data=drawn.drop(columns=["framework"]),
        caption=f"Samples/s on n cards ÷ n times those on one{'' if is_unknown else f', in {precision}'}; medians of "
        f"{min(shown['runs'].min(), shown['plain_runs'].min())} to "
        f"{max(shown['runs'].max(), shown['plain_runs'].max())} runs.",
        description=f"Lines of scaling efficiency by number of cards, 1 on one card: {spoken}.",
        finding=f"{most} cards reach {_findings.span(reached.min(), reached.max(), unit='')} of linear scaling, "
        f"{reached.median():.2f} in the median",
        notes=["The batch size on each card is the same.", *missing],
    )
