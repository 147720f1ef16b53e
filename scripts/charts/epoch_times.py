"""Training time of every epoch over its run's median: shows timings that drift, or have two humps."""

from plotnine import (
    aes,
    element_blank,
    geom_point,
    geom_vline,
    ggplot,
    labs,
    scale_color_manual,
    scale_x_continuous,
    scale_y_continuous,
    theme,
)

from scripts.charts import _findings
from scripts.charts._theme import FRAMEWORK_COLOURS, INK, WIDTH, height, look, wrapped
from scripts.charts._view import Chart, View
from scripts.storage.axes import CELL
from scripts.storage.tables import records

TITLE = "Time of each epoch"
MISSING = "no run has three epochs whose training was timed"
HELP = "Every point is an epoch; within a row the later ones stand lower."
ROWS_BY = "train_seconds"

#: Of a run; fewer show no shape.
_EPOCHS = 3

#: Part of a row that its points fill.
_FILLED = 0.6


def draw(view: View) -> Chart | None:
    timed = view.epochs.dropna(subset="training_seconds")
    timed = timed[timed.groupby("run")["epoch"].transform("nunique") >= _EPOCHS]
    epochs = timed.loc[timed["epoch"] > 0, ["run", *CELL, "epoch", "training_seconds"]].copy()
    if epochs.empty:
        return None
    median = epochs.groupby("run")["training_seconds"].transform("median")
    epochs["ratio"] = (epochs["training_seconds"] / median).astype(float)
    epochs["label"] = [view.name(epoch) for epoch in records(epochs)]
    labels = list(reversed(list(dict.fromkeys(epochs["label"]))))
    last = epochs["epoch"].max()
    down = (epochs["epoch"] - 1) / max(last - 1, 1)
    epochs["row"] = (epochs["label"].map(labels.index) + _FILLED * (0.5 - down)).astype(float)
    figure = (
        ggplot(epochs, aes("ratio", "row"))
        + geom_vline(xintercept=1, linetype="dashed", color=INK, size=0.6)
        + geom_point(aes(color="framework"), shape="|", size=2.5, show_legend=False)
        + scale_color_manual(FRAMEWORK_COLOURS)
        + scale_x_continuous(labels=lambda ticks: [f"{tick:g}×" for tick in ticks])
        + scale_y_continuous(
            breaks=range(len(labels)), labels=wrapped(labels), limits=(-0.6, len(labels) - 0.4), expand=(0, 0)
        )
        + labs(x="epoch time, × the run's median", y="")
        + look()
        + theme(panel_grid_major_y=element_blank())
    )
    ranges = epochs.groupby("label", sort=False)["ratio"].agg(["min", "max"])
    return Chart(
        figure=figure,
        width=WIDTH,
        height=height(labels),
        data=epochs.drop(columns="row"),
        caption="Training time of each epoch, × its run's median; "
        f"{len(epochs)} epochs of {epochs['run'].nunique()} runs.",
        description="Dot chart of the times of single epochs over the run's median, from and to: "
        + "; ".join(f"{label} {low:.2f}× to {high:.2f}×" for label, low, high in ranges.itertuples())
        + ".",
        finding=f"Epochs take {_findings.span(epochs['ratio'].min(), epochs['ratio'].max())} their run's median",
        notes=["The first epoch is left out: it holds the warm-up."],
    )
