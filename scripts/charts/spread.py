"""How far the runs of a cell lie apart: what a difference between cells must exceed to mean anything."""

import pandas as pd
from plotnine import (
    aes,
    element_blank,
    geom_point,
    geom_segment,
    geom_text,
    geom_vline,
    ggplot,
    guides,
    labs,
    scale_color_manual,
    scale_shape_manual,
    scale_x_continuous,
    scale_y_discrete,
    theme,
)

from scripts.analysis import comparisons
from scripts.charts import _findings
from scripts.charts._relative import count_runs
from scripts.charts._theme import FEW_BREAKS, FRAMEWORK_COLOURS, INK, TEXT, WIDTH, height, look, wrapped
from scripts.charts._view import Chart, View
from scripts.storage.axes import CELL
from scripts.storage.tables import records

TITLE = "Spread of the runs"
MISSING = "no configuration has two runs that are done"
HELP = "Every point is a run: the closer together, the more certain."
ROWS_BY = "train_seconds"
SHOWS_CONTROLS = True

#: The least that is drawn of the scale, and room for a label beside it as part of that.
_LEAST, _LABEL = 0.02, 1.0

_ROUNDS = ["first measurement", "second"]


def draw(view: View) -> Chart | None:
    repeats = view.repeats or int(view.runs["repeat"].max())
    spreads = comparisons.spreads(view.runs, repeats, view.unstable_above)
    if not spreads:
        return None
    done = view.runs[view.runs["status"] == "done"].dropna(subset="train_seconds")
    runs = done[["run", *CELL, "repeat", "train_seconds"]].copy()
    seconds = runs.groupby(CELL, dropna=False)["train_seconds"]
    runs = runs.assign(median=seconds.transform("median"), n=seconds.transform("count"))
    runs["ratio"] = (runs["train_seconds"] / runs["median"]).astype(float)
    runs["label"] = [view.name(run) for run in records(runs)]
    second = runs["repeat"] > repeats
    runs["measurement"] = pd.Categorical(second.map({False: _ROUNDS[0], True: _ROUNDS[1]}), _ROUNDS)
    words = {view.name(cell): f"{100 * cell['spread']:.1f} %" + " unstable" * cell["unstable"] for cell in spreads}
    cells = runs.groupby("label", sort=False, as_index=False).agg(
        framework=("framework", "first"), n=("n", "first"), start=("ratio", "min"), end=("ratio", "max")
    )
    cells["text"] = [words.get(label, "one run") for label in cells["label"]]
    low, high = runs["ratio"].min(), runs["ratio"].max()
    span = max(high - low, _LEAST)
    unstable = sum(cell["unstable"] for cell in spreads)
    again = bool(second.any())
    figure = (
        ggplot(runs, aes("ratio", "label"))
        + geom_vline(xintercept=1, linetype="dashed", color=INK, size=0.6)
        + geom_segment(aes(x="start", xend="end", yend="label", color="framework"), data=cells, size=0.9)
        + geom_point(aes(color="framework", shape="measurement"), size=2.4, fill="none", show_legend={"shape": again})
        + geom_text(aes(x="end", label="text"), data=cells, ha="left", size=TEXT, color=INK, nudge_x=0.04 * span)
        + scale_color_manual(FRAMEWORK_COLOURS)
        + scale_shape_manual(dict(zip(_ROUNDS, "o^", strict=True)))
        + guides(color="none")
        + scale_y_discrete(limits=list(reversed(cells["label"])), labels=wrapped)
        + scale_x_continuous(
            limits=(low, high + (_LABEL if unstable else _LABEL / 2) * span),
            breaks=FEW_BREAKS,
            labels=lambda ticks: [f"{t:g}×" for t in ticks],
        )
        + labs(x="time to train, × the row's median", y="", shape="")
        + look()
        + theme(panel_grid_major_y=element_blank())
    )
    counted = count_runs(cells).removeprefix("medians of ")
    apart = [100 * cell["spread"] for cell in spreads]
    return Chart(
        figure=figure,
        width=WIDTH,
        height=height(cells["label"]) + 0.4 * again,
        data=runs,
        caption=f"Time to train of each run, × the median of its row; {counted}.",
        description="Dot chart of the runs of each configuration, spread of its times to train: "
        + "; ".join(f"{cell['label']} {cell['text']}" for cell in records(cells))
        + ".",
        finding="From fastest to slowest run of a configuration: "
        f"{_findings.span(min(apart), max(apart), 1, ' %')} of its median",
        notes=[
            "The number is the spread: (longest − shortest) ÷ median.",
            f"{unstable} of {len(cells)} configurations unstable: above {100 * view.unstable_above:g} % within one "
            "measurement.",
            *(["Triangles are the second measurement."] if again else []),
        ],
    )
