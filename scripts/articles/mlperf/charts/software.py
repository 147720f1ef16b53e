"""One submitter's machines of one card over the rounds: what software alone gained."""

import pandas as pd
from plotnine import (
    aes,
    facet_wrap,
    geom_hline,
    geom_line,
    geom_point,
    ggplot,
    guide_legend,
    guides,
    labs,
    scale_color_manual,
    scale_x_discrete,
    theme,
)

from scripts.charts._lines import COLOURS
from scripts.charts._theme import INK, WIDTH, look
from scripts.charts._view import Chart, View

SCOPE = "study"
TITLE = "The same card over the rounds"
MISSING = "no card was measured in two rounds"
HELP = "Above the dashed line the same machine took less time than in its first round; single results, as handed in."


def draw(view: View) -> Chart | None:
    if "software" not in view.tables or view.tables["software"].empty:
        return None
    table = view.tables["software"]
    rounds = sorted(table["round"].unique())
    table = table.assign(
        round=pd.Categorical(table["round"], rounds),
        label=pd.Categorical(table["label"], list(dict.fromkeys(table["label"]))),
        card=pd.Categorical(table["card"], list(dict.fromkeys(table["card"]))),
    )
    columns = 2
    figure = (
        ggplot(table, aes("round", "speedup", color="card", group="card"))
        + geom_hline(yintercept=1, linetype="dashed", color=INK, size=0.6)
        + geom_line(size=0.9)
        + geom_point(size=2.2)
        + facet_wrap("label", ncol=columns)
        + scale_color_manual(COLOURS)
        + scale_x_discrete(breaks=rounds[::4])
        + labs(x="round", y="× the first round", color="")
        + guides(color=guide_legend(ncol=3))
        + look()
        + theme(panel_spacing_y=0.055)
    )
    last = table.groupby(["card", "label"], observed=True)["speedup"].last().reset_index()
    best = last.nlargest(1, "speedup").iloc[0]
    return Chart(
        figure=figure,
        width=WIDTH,
        height=1.5 + 1.5 * -(-table["label"].nunique() // columns),
        data=table,
        caption="Speed, × the first round; the shortest score of each round.",
        finding=f"Measured from the first round to the last: {last['speedup'].median():.2f}× the speed in the median, "
        f"{best['speedup']:.2f}× at most",
        notes=[
            "NVIDIA's own machines of eight cards.",
            f"The most: {best['label']} on {best['card']}.",
            "Copies of an earlier round are left out.",
        ],
        description="Lines of speed-up over the first round: "
        + "; ".join(f"{row.label} on {row.card} {row.speedup:.2f}×" for row in last.itertuples())
        + ".",
    )
