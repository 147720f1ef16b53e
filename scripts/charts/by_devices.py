"""Scaling efficiency of data-parallel training, the batch per device held equal."""

import pandas as pd
from plotnine import expand_limits, geom_hline, labs

from scripts.analysis import comparisons
from scripts.charts import _curves, _findings
from scripts.charts._relative import count_runs
from scripts.charts._theme import INK, WIDTH
from scripts.charts._view import Chart, View
from scripts.storage.axes import CELL
from scripts.storage.tables import records

TITLE = "Scaling efficiency"
MISSING = "no cell was trained both on one device and on several"
HELP = "1 would be n times the throughput on n devices."
PANELS_BY = "train_seconds"


def draw(view: View) -> Chart | None:
    known = view.runs.dropna(subset="devices")
    several = pd.DataFrame(comparisons.scaling(known, view.judge))
    if several.empty:
        return None
    alike = [axis for axis in CELL if axis != "devices"]
    one = several.drop_duplicates(alike).assign(devices=1, efficiency=1.0, runs=lambda cells: cells["plain_runs"])
    cells = pd.concat([one, several], ignore_index=True).sort_values("devices", kind="stable")
    cells = cells[[*CELL, "plain", "runs", "efficiency"]].rename(columns={"runs": "n"})
    cells = cells.assign(kind="median").astype({"batch_size": "Int64", "devices": "Int64"})
    runs = known[known["status"] == "done"].dropna(subset="samples_per_second")
    runs = runs.merge(cells[[*CELL, "plain"]], on=CELL)
    runs["efficiency"] = runs["samples_per_second"] / runs["plain"] / runs["devices"]
    figure = (
        _curves.lines(cells, runs, "devices", "efficiency", "devices", view)
        + geom_hline(yintercept=1, linetype="dashed", color=INK, size=0.6)
        + expand_limits(y=0)
        + labs(x="devices (log scale)", y="scaling efficiency")
    )
    split = runs[runs["gpu_model"].fillna("").eq("") & (runs["devices"] > 1)]["hardware"]
    machines = " and ".join(dict.fromkeys(split.map(view.labels)))
    virtual = [f"{machines}: no GPU, the CPU was split into virtual devices."] if machines else []
    most = several.loc[several["devices"] == several["devices"].max(), "efficiency"].astype(float)
    spoken = "; ".join(f"{view.name(cell)} {cell['efficiency']:.2f}" for cell in records(cells[cells["devices"] > 1]))
    return Chart(
        figure=figure,
        width=WIDTH,
        height=_curves.height(cells),
        data=cells.drop(columns=["plain", "kind"]),
        caption=f"Samples/s on n devices ÷ n times those on one; {count_runs(cells)}.",
        description=f"Line chart of scaling efficiency by devices, 1 on one device: {spoken}.",
        finding=f"{several['devices'].max()} devices reach "
        f"{_findings.span(most.min(), most.max(), unit='')} of linear scaling",
        notes=["The batch size per device is the same.", *virtual, *_curves.notes(cells, "devices")],
    )
