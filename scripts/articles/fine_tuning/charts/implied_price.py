"""What an hour costs by the printed minutes and dollars of each row."""

import pandas as pd
from plotnine import (
    aes,
    geom_hline,
    geom_linerange,
    geom_point,
    ggplot,
    labs,
    scale_color_manual,
    scale_shape_manual,
    scale_x_log10,
    scale_y_log10,
)

from scripts.charts._lines import COLOURS, SHAPES
from scripts.charts._theme import WIDTH, look
from scripts.charts._view import Chart, View

SCOPE = "study"
TITLE = "What an hour costs by printed minutes and dollars"
MISSING = "the study has no printed dollars"
HELP = "A bar is every price that rounds to what is printed; rows of one machine should meet its dashed line."


def draw(view: View) -> Chart | None:
    rows, shared = (view.tables.get(name, pd.DataFrame()) for name in ("rows", "implied"))
    if rows.empty or shared.empty:
        return None
    table = rows.dropna(subset="per_hour_low")
    machines = list(shared["machine"])
    table = table.assign(
        machine=pd.Categorical(table["machine"], machines), at=table["usd"].astype(float) / table["minutes"] * 60
    )
    lines = shared.assign(machine=pd.Categorical(machines, machines), at=(shared["low"] + shared["high"]) / 2)
    figure = (
        ggplot(table, aes("minutes", "at", color="machine", shape="machine"))
        + geom_hline(aes(yintercept="at", color="machine"), lines, linetype="dashed", size=0.5, show_legend=False)
        + geom_linerange(aes(ymin="per_hour_low", ymax="per_hour_high"), size=0.7, show_legend=False)
        + geom_point(size=2)
        + scale_color_manual(COLOURS)
        + scale_shape_manual(SHAPES)
        + scale_x_log10(breaks=[2, 5, 10, 20, 50], labels=lambda ticks: [f"{tick:g}" for tick in ticks])
        + scale_y_log10(breaks=[1, 2, 3, 5, 10], labels=lambda ticks: [f"{tick:g}" for tick in ticks])
        + labs(x="minutes, as printed (log scale)", y="USD an hour (log scale)", color="", shape="")
        + look()
    )
    said = "; ".join(
        f"{row.machine}: {row.agree} of {row.rows} rows share {row.low:.2f} to {row.high:.2f} USD an hour"
        for row in shared.itertuples()
    )
    first = shared.iloc[0]
    return Chart(
        figure=figure,
        width=WIDTH,
        height=4.6,
        data=table[["config", "machine", "minutes", "usd", "per_hour_low", "per_hour_high"]],
        caption=f"USD an hour implied by printed minutes and dollars; {len(table)} rows, one run each.",
        finding=f"{first['rows'] - first['agree']} of {first['rows']} rows of {first['machine']} do not cost the "
        f"{lines['at'].iloc[0]:.2f} USD an hour of the others",
        notes=[f"{said}.", "Bars are the rounding of the printed dollars and minutes."],
        description=f"Points of dollars an hour by minutes. {said}.",
    )
