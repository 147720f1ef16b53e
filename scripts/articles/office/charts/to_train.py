"""Cost and time to see the samples of a whole training on the owned machine."""

from plotnine import (
    aes,
    coord_flip,
    element_blank,
    geom_col,
    geom_text,
    ggplot,
    labs,
    position_dodge,
    scale_fill_manual,
    scale_y_continuous,
    theme,
)

from scripts.analysis.names import workload_name
from scripts.charts import _findings
from scripts.charts._lines import COLOURS
from scripts.charts._theme import INK, TEXT, WIDTH, look
from scripts.charts._view import Chart, View
from scripts.storage.numbers import number
from scripts.storage.tables import records

SCOPE = "study"
TITLE = "ImageNet on the office box"
MISSING = "the study owns no machine"
HELP = "Shorter bars are cheaper; the time stands behind them."


def draw(view: View) -> Chart | None:
    if "to_train" not in view.tables:
        return None
    table = view.tables["to_train"]
    table = table.assign(
        workload=table["workload"].map(workload_name),
        text=[f" {number(row['cost_usd'])} USD, {number(row['hours'])} h" for row in records(table)],
        at=[f"{row['cost_usd'] / row['hours']:.2f} USD/h" for row in records(table)],
    )
    dodge = position_dodge(width=0.8)
    figure = (
        ggplot(table, aes("workload", "cost_usd", fill="at"))
        + geom_col(position=dodge, width=0.75)
        + geom_text(aes(label="text"), position=dodge, ha="left", size=TEXT, color=INK)
        + scale_fill_manual(COLOURS, breaks=list(dict.fromkeys(table["at"])))
        + scale_y_continuous(limits=(0, float(table["cost_usd"].max()) * 1.8), expand=(0, 0))
        + coord_flip()
        + labs(x="", y="USD")
        + look()
        + theme(panel_grid_major_y=element_blank())
    )
    cost = _findings.span(table["cost_usd"].min(), table["cost_usd"].max(), 0, " USD")
    spoken = "; ".join(f"{row['workload']} at {row['at']}:{row['text']}" for row in records(table))
    return Chart(
        figure=figure,
        width=WIDTH,
        height=1.2 + 0.6 * table["workload"].nunique(),
        data=table.drop(columns="text"),
        caption="USD for the samples of each paper, at batch 64 on four cards.",
        finding=f"ImageNet costs {cost} to train",
        notes=[
            "At the estimated throughput of four cards, and at the hourly price that follows from the article's "
            "breakdown and at the one that it prints."
        ],
        description=f"Bar chart of the cost to train: {spoken}.",
    )
