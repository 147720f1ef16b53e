"""Scaling efficiency of machines with several GPUs, by batch size."""

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
    scale_x_continuous,
    scale_y_continuous,
    theme,
)

from scripts.analysis.names import workload_name
from scripts.charts import _findings
from scripts.charts._lines import COLOURS
from scripts.charts._theme import INK, WIDTH, look
from scripts.charts._view import Chart, View

SCOPE = "study"
TITLE = "Scaling efficiency, as published"
MISSING = "the study has no scaling table"
HELP = "1 would be n times the throughput on n GPUs."


def draw(view: View) -> Chart | None:
    if "scaling" not in view.tables:
        return None
    table = view.tables["scaling"].assign(machine=view.tables["scaling"]["multi"].map(lambda name: view.labels[name]))
    means = view.tables["scaling_means"]
    machines = list(dict.fromkeys(table["machine"]))
    table["machine"] = pd.Categorical(table["machine"], machines)
    table["workload"] = table["workload"].map(workload_name)
    figure = (
        ggplot(table, aes("batch_size", "efficiency", color="machine", shape="machine"))
        + geom_hline(yintercept=1, linetype="dashed", color=INK, size=0.6)
        + geom_line(size=0.9)
        + geom_point(size=2.2)
        + facet_wrap("workload", ncol=1)
        + scale_color_manual(COLOURS)
        + scale_x_continuous(breaks=sorted(set(table["batch_size"])))
        + scale_y_continuous(limits=(0, 1.05))
        + labs(x="batch size per GPU", y="scaling efficiency", shape="machine", color="machine")
        + guides(color=guide_legend(ncol=1), shape=guide_legend(ncol=1))
        + look()
        + theme(legend_position="bottom")
    )
    reached = _findings.span(means["efficiency"].min(), means["efficiency"].max(), unit="")
    spoken = "; ".join(f"{row.workload} batch {row.batch_size} {row.efficiency:.3f}" for row in means.itertuples())
    return Chart(
        figure=figure,
        width=WIDTH,
        height=9.0,
        data=table,
        caption=f"Throughput on n GPUs ÷ n times that on one, {len(table)} figures as printed.",
        finding=f"Several GPUs reach {reached} of linear scaling in the mean",
        description=f"Lines of scaling efficiency by batch size for {', '.join(machines)}. Means: {spoken}.",
    )
