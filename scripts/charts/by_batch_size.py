"""Throughput against batch size."""

import pandas as pd
from plotnine import expand_limits, labs, scale_y_continuous

from scripts.analysis import verdicts
from scripts.charts import _curves, _findings
from scripts.charts._relative import count_runs
from scripts.charts._theme import WIDTH
from scripts.charts._view import Chart, View
from scripts.storage.axes import CELL
from scripts.storage.numbers import number
from scripts.storage.tables import records

TITLE = "Throughput by batch size"
MISSING = "no configuration was trained at two batch sizes"
HELP = "Higher is faster; where a line is flat, a larger batch gains nothing."
PANELS_BY = "train_seconds"


def draw(view: View) -> Chart | None:
    known = view.runs.dropna(subset="global_batch_size").assign(median=view.runs["samples_per_second"])
    known["median"] = known["median"].where(known["status"] == "done")
    cells = known.groupby([*CELL, "global_batch_size"], sort=False, as_index=False).agg(
        median=("median", "median"), n=("median", "count"), largest=("largest_batch", "any"), status=("status", "last")
    )
    cells["kind"] = "median"
    cells.loc[cells["largest"], "kind"] = "largest that fits"
    cells.loc[cells["n"] == 0, "kind"] = "did not train"
    trained = cells[cells["n"] > 0]
    if not (trained.groupby([axis for axis in CELL if axis != "batch_size"]).size() > 1).any():
        return None
    figure = (
        _curves.lines(
            cells.fillna({"median": 0.0}), known.dropna(subset="median"),
            "global_batch_size", "median", "batch_size", view,
        )
        + expand_limits(y=0)
        + scale_y_continuous(labels=lambda ticks: [f"{tick:,g}" for tick in ticks])
        + labs(x="global batch size, samples (log scale)", y="throughput, samples/s")
    )  # fmt: skip
    spoken = "; ".join(
        f"{view.name(cell | {'batch_size': None})} at {cell['global_batch_size']}: "
        + (number(cell["median"]) if cell["n"] else cell["status"].replace("_", " "))
        + (" (largest that fits)" if cell["kind"] == "largest that fits" else "")
        for cell in records(cells)
    )
    return Chart(
        figure=figure,
        width=WIDTH,
        height=_curves.height(cells),
        data=cells.drop(columns="largest"),
        caption=f"Samples/s by the samples of one step on all devices; {count_runs(cells)}.",
        description=f"Line chart of throughput (samples/s) by global batch size: {spoken}.",
        finding=_finding(known, view),
        notes=_curves.notes(cells, "batch_size"),
    )


def _finding(runs: pd.DataFrame, view: View) -> str:
    """Return what the largest batch size gains over the smallest, on the lines whose batch sizes lie furthest apart."""
    alike = [axis for axis in CELL if axis != "batch_size"]
    done = runs[runs["status"] == "done"].dropna(subset="samples_per_second")
    ends = done.groupby(alike, dropna=False)["global_batch_size"].agg(["min", "max"])
    apart = (ends["max"] / ends["min"]).max()
    clear, sizes, why = 0, set[tuple[int, int]](), ""
    gains: list[float] = []
    for _, line in done.groupby(alike, sort=False, dropna=False):
        low, high = line["global_batch_size"].min(), line["global_batch_size"].max()
        if low == high or high / low < apart:
            continue
        rates = [line.loc[line["global_batch_size"] == size, "samples_per_second"] for size in (high, low)]
        compared = view.judge.compare(rates[0], rates[1], (line["hardware"].iloc[0],) * 2)
        clear, gains, sizes = clear + compared.is_clear, [*gains, compared.ratio], sizes | {(low, high)}
        why = verdicts.why([view.judge.reason(compared.runs)])
    parts = why if len(gains) == 1 else f"clearly different in {clear} of {len(gains)}"
    unsure = "" if clear == len(gains) else f"; {parts}"
    gained = f"trains {_findings.span(min(gains), max(gains))} as many samples/s"
    if len(sizes) > 1:
        return f"{round(float(apart), 2):g}× the batch {gained}{unsure}"
    ((low, high),) = sizes
    return f"Batch {high} {gained} as {low}{unsure}"
