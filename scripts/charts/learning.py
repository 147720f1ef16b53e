"""Accuracy (or loss) after each epoch, beside the published training."""

import pandas as pd
from plotnine import (
    aes,
    element_line,
    geom_line,
    geom_point,
    ggplot,
    labs,
    scale_color_manual,
    scale_linetype_manual,
    scale_x_continuous,
    scale_y_continuous,
    theme,
)

from scripts.analysis.names import FRAMEWORK_NAMES
from scripts.charts import _findings
from scripts.charts._curves import LINETYPES
from scripts.charts._theme import FAINT, FRAMEWORK_COLOURS, INK, WIDTH, look
from scripts.charts._view import Chart, View

TITLE = "What was learned"
MISSING = "no epoch ended, or the data are synthetic and have no accuracy"
HELP = "Every line is a run."


def draw(view: View) -> Chart | None:
    known = "val_acc" if view.epochs["val_acc"].notna().any() else "loss"
    metric = view.reference.metric if view.reference else known
    made_up = view.runs.loc[view.runs["data"].eq("synthetic").fillna(False), "run"]
    runs = (
        view.epochs.loc[~view.epochs["run"].isin(made_up), ["run", "framework", "mode", "epoch", metric]]
        .dropna(subset=metric)
        .rename(columns={metric: "value"})
    )
    if runs.empty:
        return None
    runs["epoch"] = runs["epoch"] + 1
    runs["mode"] = pd.Categorical(runs["mode"], list(dict.fromkeys(runs["mode"].dropna())))
    modes = runs["mode"].nunique() > 1
    by_mode = {"linetype": "mode"} if modes else {}
    last = int(runs["epoch"].max())
    name = {"val_acc": "validation accuracy", "loss": "training loss"}[metric]
    figure = (
        ggplot(runs, aes("epoch", "value"))
        + geom_line(aes(color="framework", group="run", **by_mode), size=0.9)
        + geom_point(aes(color="framework"), size=1.8)
        + scale_color_manual(FRAMEWORK_COLOURS, labels=lambda keys: [FRAMEWORK_NAMES.get(k, k) for k in keys])
        + scale_x_continuous(breaks=_ticks(last))
        + scale_y_continuous(limits=(min(0.9, float(runs["value"].min())), 1) if metric == "val_acc" else None)
        + labs(x="epoch", y=name)
        + look()
        + theme(axis_line_x=element_line(color=INK, size=0.6))
    )
    if modes:
        figure = (
            figure
            + scale_linetype_manual(LINETYPES, labels=lambda keys: [key.replace("_", " ") for key in keys])
            + theme(legend_box="vertical")
        )
    ends = runs[runs["epoch"] == runs.groupby("run")["epoch"].transform("max")]
    spoken = "; ".join(f"{row.run} {row.value:.3f}" for row in ends.itertuples())
    best = {"val_acc": ends["value"].max(), "loss": ends["value"].min()}[metric]
    worst = {"val_acc": ends["value"].min(), "loss": ends["value"].max()}[metric]
    notes = []
    # Imported runs do not record how much of which data they trained on.
    whole = (view.runs["samples_fraction"] * view.runs["data_fraction"]).eq(1).fillna(False).astype(bool)
    real = view.runs["data"].eq("real").fillna(False).astype(bool)
    if view.reference and (whole & real).all():
        first = view.reference.first_epoch
        values = view.reference.values[: max(0, last - first + 1)]
        published = pd.DataFrame({"epoch": range(first, first + len(values)), "value": values})
        figure = (
            figure
            + geom_line(data=published, color=FAINT, linetype="dashed", size=0.9)
            + geom_point(data=published, color=FAINT, size=1.8, shape="s")
        )
        notes = [
            f"Dashed: published, {view.published_epochs} epochs of all samples, "
            f"{view.reference.values[-1]:.3f} at their end ({view.reference.source})."
        ]
    return Chart(
        figure=figure,
        width=WIDTH,
        height=3.2,
        data=runs,
        caption=f"{name.capitalize()} after each epoch, {ends['run'].nunique()} runs.",
        description=f"Line chart of {name} per epoch. At the end: {spoken}.",
        finding=f"{name.capitalize()} ends at {_findings.span(min(best, worst), max(best, worst), 3, '')}",
        notes=notes,
    )


def _ticks(last: int) -> list[int]:
    step = max(1, -(-last // 8))
    return list(range(1, last + 1, step))
