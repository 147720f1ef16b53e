"""Where the time of a run's process goes, from its start to its exit; what is billed for it is in `dollars`."""

import pandas as pd

from scripts.analysis.dollars import PROCESS, REST
from scripts.charts import _parts
from scripts.charts._relative import CELL, count_runs
from scripts.charts._theme import WIDTH, height
from scripts.charts._view import Chart, View
from scripts.storage.numbers import number
from scripts.storage.tables import records

TITLE = "Where the time goes"
MISSING = "no run records the life of its process"
HELP = "Training and validation grow with the length of the training, the rest happens once; a bill also has a minimum."
ROWS_BY = "train_seconds"


def draw(view: View) -> Chart | None:
    done = view.runs[(view.runs["status"] == "done")].dropna(subset=["total_seconds", "train_seconds"])
    if done.empty:
        return None
    named = [column for columns in PROCESS.values() for column in columns]
    seconds = done[[*CELL, "total_seconds", *named]].astype(dict.fromkeys(("total_seconds", *named), float))
    medians = seconds.groupby(CELL, sort=False, dropna=False).median().fillna(0.0).reset_index()
    medians["n"] = seconds.groupby(CELL, sort=False, dropna=False).size().to_numpy()
    cells = pd.DataFrame({part: medians[list(columns)].sum(axis=1) for part, columns in PROCESS.items()})
    cells[REST] = (medians["total_seconds"] - cells.sum(axis=1)).clip(lower=0)
    cells["label"] = [view.name(cell) for cell in records(medians)]
    parts = [part for part in (*PROCESS, REST) if (cells[part] > 0).any()]
    spoken = "; ".join(
        f"{cell['label']} " + ", ".join(f"{part} {number(cell[part])} s" for part in parts) for cell in records(cells)
    )
    share = float(medians["training_seconds"].sum() / medians["total_seconds"].sum())
    return Chart(
        figure=_parts.bars(cells, parts, "seconds, from start to exit", "s"),
        width=WIDTH,
        height=height(cells["label"]) + 1.1,
        data=cells.assign(n=medians["n"]),
        caption=f"Seconds of a run's process, in parts; {count_runs(medians)}.",
        description=f"Stacked bars of seconds: {spoken}.",
        finding=f"Training is {share:.0%} of the time from start to exit{_of_bill(view, done)}",
    )


def _of_bill(view: View, done: pd.DataFrame) -> str:
    """Return in words how much of the bills of these runs is training, where these are longer than their processes."""
    costs = view.costs[view.costs["price_option"] == view.price_option]
    billed = done.merge(costs[["run", "billed_seconds"]].dropna(), on="run")
    if billed.empty:
        return ""
    training, lived, paid = (float(billed[f"{name}_seconds"].sum()) for name in ("training", "total", "billed"))
    return f", {number(100 * training / paid, 2)}% of what is billed" if paid > 1.01 * lived else ""
