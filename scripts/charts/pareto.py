"""Time against cost: the cells that no other cell beats in both."""

import pandas as pd
from plotnine import (
    aes,
    geom_point,
    geom_step,
    geom_text,
    ggplot,
    labs,
    scale_color_manual,
    scale_x_log10,
    scale_y_log10,
)

from scripts.analysis.names import FRAMEWORK_NAMES, cell_name
from scripts.charts._relative import CELL, count_runs
from scripts.charts._theme import FAINT, FRAMEWORK_COLOURS, INK, WIDTH, look
from scripts.charts._view import Chart, View
from scripts.costs.outcomes import pareto_front
from scripts.storage.numbers import number
from scripts.storage.tables import records

TITLE = "Time against cost"
MISSING = "no run has a time and a price"
HELP = "Down is cheaper, left is faster; the cells that are named and on the line are beaten by none in both."


def draw(view: View) -> Chart | None:
    priced = view.costs[view.costs["price_option"] == view.price_option].dropna(subset=["useful_seconds", "cost_usd"])
    if priced.empty:
        return None
    cells = priced.groupby(CELL, sort=False, as_index=False, dropna=False).agg(
        seconds=("useful_seconds", "median"), usd=("cost_usd", "median"), n=("cost_usd", "count")
    )
    cells["front"] = pareto_front(cells["seconds"], cells["usd"])
    cells["machine"] = [view.labels[name] for name in cells["hardware"]]
    # The colour tells the framework; where cells differ in nothing else but the machine, that is name enough.
    plain = (cells[["batch_size", "mode", "precision", "devices"]].nunique(dropna=False) == 1).all()
    cells["label"] = (
        cells["machine"]
        if plain
        else [cell_name(cell, view.labels, view.published_batch_size, one_framework=True) for cell in records(cells)]
    )
    cells["framework"] = pd.Categorical(cells["framework"], list(dict.fromkeys(cells["framework"])))
    front = cells[cells["front"]].sort_values("seconds")
    named = front if plain else front.assign(label=front["label"].str.replace(" · ", "\n", n=1))
    # Two lines find room below the front only.
    place = {"va": "bottom", "nudge_y": 0.02} if plain else {"va": "top", "nudge_y": -0.02}
    around = {"x": (0.15, 0), "y": (0.1, 0)} if plain else {"x": (0.25, 0), "y": (0.25, 0, 0.1, 0)}
    figure = (
        ggplot(cells, aes("seconds", "usd"))
        + geom_step(data=front, color=FAINT, linetype="dashed", size=0.6)
        + geom_point(aes(color="framework"), size=3)
        + geom_text(aes(label="label"), data=named, size=9, color=INK, **place)
        + scale_color_manual(FRAMEWORK_COLOURS, labels=lambda keys: [FRAMEWORK_NAMES.get(key, key) for key in keys])
        + scale_x_log10(labels=lambda ticks: [number(tick) for tick in ticks], expand=around["x"])
        + scale_y_log10(labels=lambda ticks: [number(tick) for tick in ticks], expand=around["y"])
        + labs(x="time to train, s (log scale)", y="cost, USD (log scale)")
        + look()
    )
    names = [f"{row['framework']} {row['label']}" for row in records(front)]
    every = "; ".join(
        f"{row['framework']} {row['label']} {number(row['seconds'])} s, {number(row['usd'])} USD"
        for row in records(cells)
    )
    return Chart(
        figure=figure,
        width=WIDTH,
        height=3.6,
        data=cells,
        caption=f"Time to train and its cost at {view.price_label}; {len(front)} of {len(cells)} cells are on the "
        f"front; {count_runs(cells)}.",
        description=f"Scatter of time and cost: {every}. On the front: {', '.join(names)}.",
    )
