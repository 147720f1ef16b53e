"""Loss by dollars spent, in the logs of some records."""

import pandas as pd
from plotnine import (
    aes,
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
)

from scripts.charts._lines import COLOURS, SHAPES
from scripts.charts._theme import INK, WIDTH, look
from scripts.charts._view import Chart, View
from scripts.storage.numbers import number
from scripts.storage.tables import records

SCOPE = "study"
TITLE = "Loss by dollars spent"
MISSING = "the study has no logs of its records"
HELP = "Further left the same loss has cost less; each point is an evaluation in the log of that record."

#: Losses above it are of the first steps; below `_PART` a part of the way is gone.
_HIGH, _PART = 5.0, 3.5


def draw(view: View) -> Chart | None:
    table = view.tables.get("curves", pd.DataFrame())
    if table.empty:
        return None
    table = table[table["val_loss"].le(_HIGH) & table["usd"].gt(0)]
    table = table.assign(curve=table["date"] + ", record " + table["record"].astype(str))
    names = list(dict.fromkeys(table["curve"]))
    table = table.assign(curve=pd.Categorical(table["curve"], names))
    ends = table.groupby("curve", observed=True).tail(1)
    figure = (
        ggplot(table, aes("usd", "val_loss", color="curve", shape="curve"))
        + geom_hline(yintercept=float(ends["val_loss"].max()), linetype="dashed", color=INK, size=0.4)
        + geom_line(size=0.8)
        + geom_point(size=1.6)
        + scale_color_manual(COLOURS)
        + scale_shape_manual(SHAPES)
        + scale_x_log10(labels=lambda ticks: [f"{tick:g}" for tick in ticks])
        + labs(x="USD spent (log scale)", y="validation loss", color="", shape="")
        + guides(color=guide_legend(ncol=1), shape=guide_legend(ncol=1))
        + look()
    )
    there = table[table["val_loss"] <= _PART].groupby("curve", observed=True).head(1).set_index("curve")
    said = "; ".join(f"{row['curve']}: {number(row['usd'])} USD to {row['val_loss']:.4f}" for row in records(ends))
    return Chart(
        figure=figure,
        width=WIDTH,
        height=5.4,
        data=table[["curve", "step", "val_loss", "seconds", "usd"]],
        caption=f"Validation loss by USD at {view.price_label}; {len(names)} logs.",
        finding=f"The first evaluation at {_PART:g} or less: {number(there['usd'].iloc[0])} USD in the log of "
        f"{there['date'].iloc[0]}, {number(there['usd'].iloc[-1])} in that of {there['date'].iloc[-1]}",
        notes=[
            f"Ends: {said}. The dashed line is the loss at which the last of them ends.",
            "By the clock of the log, on its own machine: the time of a record may be another. Losses above "
            f"{_HIGH:g} are not drawn. Between evaluations nothing is known.",
        ],
        description=f"Curves of loss by dollars. {said}.",
    )
