"""What a dollar buys on the owned machine, at each of its prices."""

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

SCOPE = "study"
TITLE = "Images per dollar of the office box"
MISSING = "the study owns no machine"
HELP = "Longer bars are more for the money."


def draw(view: View) -> Chart | None:
    if "samples_per_usd" not in view.tables:
        return None
    table = view.tables["samples_per_usd"]
    table = table.assign(
        millions=table["samples_per_usd"] / 1e6,
        cell=[f"{workload_name(str(row.workload))} · batch {row.batch_size}" for row in table.itertuples()],
        at=[f"{row.usd_per_hour:.2f} USD/h" for row in table.itertuples()],
    )
    table["text"] = [f" {number(value)}" for value in table["millions"]]
    prices = list(dict.fromkeys(table["at"]))
    dodge = position_dodge(width=0.8)
    figure = (
        ggplot(table, aes("cell", "millions", fill="at"))
        + geom_col(position=dodge, width=0.75)
        + geom_text(aes(label="text"), position=dodge, ha="left", size=TEXT, color=INK)
        + scale_fill_manual(COLOURS, breaks=prices)
        + scale_y_continuous(limits=(0, float(table["millions"].max()) * 1.2), expand=(0, 0))
        + coord_flip()
        + labs(x="", y="million images per USD")
        + look()
        + theme(panel_grid_major_y=element_blank(), legend_position="bottom", legend_direction="vertical")
    )
    bought = _findings.span(table["millions"].min(), table["millions"].max(), 1, " million images")
    spoken = "; ".join(f"{row.cell} at {row.at}{row.text} million" for row in table.itertuples())
    return Chart(
        figure=figure,
        width=WIDTH,
        height=0.9 + 0.5 * table["cell"].nunique(),
        data=table.drop(columns="text"),
        caption="Million images per USD, from the estimated throughput of the four cards.",
        finding=f"A dollar buys {bought}",
        notes=[
            "Estimated throughput × 3600 ÷ hourly price: the one that follows from the article's breakdown, and the "
            "one that it prints.",
            "The throughputs of the rented machines are in pictures only and not shown.",
        ],
        description=f"Bar chart of images per dollar: {spoken}.",
    )
