"""What later releases of the same software do to what a training costs, on the same card."""

import pandas as pd
from plotnine import (
    aes,
    geom_point,
    geom_segment,
    geom_vline,
    ggplot,
    labs,
    scale_color_manual,
    scale_shape_manual,
    scale_x_continuous,
)

from scripts.charts._lines import COLOURS, SHAPES
from scripts.charts._theme import INK, WIDTH, look
from scripts.charts._view import Chart, View
from scripts.storage.tables import records

SCOPE = "study"
TITLE = "What software alone does"
MISSING = "no row is printed by two releases"
HELP = "Each dot is the newest release over the first of one model and card; left of the dashed line it costs less."

#: A loss of less (share of the speed) may be chance: each end is one printed figure.
_CLEAR = 0.05

#: Series of fewer models are in the table alone.
KINDS = {"dense": "dense", "moe": "mixtures of experts"}


def draw(view: View) -> Chart | None:
    table = view.tables.get("releases", pd.DataFrame())
    table = table[table["is_last"] & table["kind"].isin(list(KINDS))] if len(table) else table
    if table.empty:
        return None
    model = table["workload"].str.split("_pre-training").str[0].str.replace("_", " ")
    table = table.assign(cost=table["cost"].astype(float), model=model, kind=table["kind"].map(KINDS))
    order = table.groupby("model")["cost"].median().sort_values(ascending=False).index
    table = table.assign(model=pd.Categorical(table["model"], list(order)))
    spans = table.groupby(["model", "kind"], observed=True)["cost"].agg(["min", "max"]).reset_index()
    figure = (
        ggplot(table, aes("cost", "model", color="kind", shape="kind"))
        + geom_vline(xintercept=1, linetype="dashed", color=INK, size=0.6)
        + geom_segment(aes(x="min", xend="max", yend="model"), data=spans, size=0.6, show_legend=False)
        + geom_point(size=2.4)
        + scale_color_manual(COLOURS)
        + scale_shape_manual(SHAPES)
        + scale_x_continuous(labels=lambda ticks: [f"{tick:g}×" for tick in ticks])
        + labs(x="dollars, × the first release", y="", color="", shape="")
        + look()
    )
    middle = table.groupby("kind")["cost"].median()
    said = " and ".join(f"{value:.2f}× ({kind})" for kind, value in middle.items())
    first, last = table["since"].min(), table["published"].max()
    worse = int((table["cost"] > 1).sum())
    steps = view.tables["releases"]
    lost = steps[steps["step"] < 1 - _CLEAR]
    models = [
        f"{row['workload'].split('_pre-training')[0].replace('_', ' ')} in {row['framework'].removeprefix('NeMo-')}"
        for row in records(lost)
    ]
    return Chart(
        figure=figure,
        width=WIDTH,
        height=1.3 + 0.28 * len(order),
        data=table[["workload", "kind", "card", "format", "devices", "than", "framework", "faster", "cost"]],
        caption=f"NeMo, {first} to {last}; {len(table)} series alike in all but the release.",
        finding=f"Newer releases alone cost {said} the dollars, medians",
        notes=[
            f"In {worse} of {len(table)} series the newest release costs more than the first.",
            f"{len(lost)} of {len(steps)} steps from one release to the next lost {_CLEAR:.0%} of the speed or more"
            + (f": {', '.join(dict.fromkeys(models))}." if models else "."),
            "Each end is one printed figure; how a model is split over its cards changes with the release.",
        ],
        description=f"Dots of the newest release's dollars over the first's, by model. Medians: {said}.",
    )
