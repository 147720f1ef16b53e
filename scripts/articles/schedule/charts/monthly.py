"""What a scheduled machine costs a month, in parts, under each billing rule."""

from textwrap import fill

import pandas as pd
from plotnine import (
    aes,
    coord_flip,
    element_blank,
    geom_col,
    geom_text,
    ggplot,
    labs,
    scale_fill_manual,
    scale_x_discrete,
    scale_y_continuous,
    theme,
)

from scripts.charts import _findings
from scripts.charts._lines import COLOURS
from scripts.charts._theme import INK, TEXT, WIDTH, look
from scripts.charts._view import Chart, View

SCOPE = "study"
TITLE = "A month of scheduled runs"
MISSING = "the study has no schedule"
HELP = "Shorter bars are cheaper."

_LETTERS = 28  # of a line of a label: on a phone a wider chart would be too small to read
_PARTS = {"compute_usd": "machine", "fees_usd": "disk and scheduler", "services_usd": "start and stop"}


def draw(view: View) -> Chart | None:
    if "monthly" not in view.tables:
        return None
    table = view.tables["monthly"]
    table = table.assign(
        cell=[fill(f"every {row.every_hours:g} h · {row.label}", _LETTERS) for row in table.itertuples()]
    )
    parts = table.melt(["cell", "total_usd"], list(_PARTS), "part", "usd")
    parts["part"] = pd.Categorical(parts["part"].map(_PARTS), list(_PARTS.values()))
    top = float(table["total_usd"].max())
    totals = table.assign(text=[f" {total:.2f}" for total in table["total_usd"]])
    figure = (
        ggplot(parts, aes("cell", "usd"))
        + geom_col(aes(fill="part"), width=0.7)
        + geom_text(aes(y="total_usd", label="text"), data=totals, ha="left", size=TEXT, color=INK)
        + scale_fill_manual(COLOURS)
        + scale_x_discrete(limits=list(reversed(table["cell"])))
        + scale_y_continuous(limits=(0, top * 1.2), expand=(0, 0))
        + coord_flip()
        + labs(x="", y="USD a month")
        + look()
        + theme(panel_grid_major_y=element_blank(), legend_position="bottom", legend_direction="vertical")
    )
    table["cell"] = table["cell"].str.replace("\n", " ")
    again = "today" in set(table["rule"])
    anew = "; the bars of today price the machine anew, and nothing else" if again else " at the same price"
    spoken = "; ".join(f"{row.cell}: {row.total_usd:.2f} USD" for row in table.itertuples())
    return Chart(
        figure=figure,
        width=WIDTH,
        height=1.5 + 0.55 * len(table),
        data=table,
        caption=f"USD a month of 30 days, {view.price_label or view.price_option}.",
        finding=f"A month costs {_findings.span(table['total_usd'].min(), table['total_usd'].max(), 2, ' USD')}",
        notes=[f"The first rule is the article's, the others bill the same runs{anew}."],
        description=f"Stacked bars of the monthly cost: {spoken}.",
    )
