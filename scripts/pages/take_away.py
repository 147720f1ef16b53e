"""What a reader takes away: every run with what it costs as CSV, and how to cite the page."""

from typing import Any
from urllib.parse import quote

import pandas as pd

from scripts.pages.inputs import Inputs
from scripts.storage import tables
from scripts.storage.axes import CELL

#: Of a run, beside its cell.
_COLUMNS = (
    *("repeat", "status", "train_samples", "epochs_done", "train_seconds", "first_step_seconds"),
    *("samples_per_second", "total_seconds", "published_samples", "published_seconds", "val_acc", "started_at"),
)

#: What an address may hold as it is: base64 would be a third longer.
_PLAIN = " ,:;/@+()='|"


def context(inputs: Inputs) -> dict[str, Any]:
    """Return the file of the runs as a data URL (empty without a run), and the citation."""
    return {"runs_csv": _runs(inputs) if len(inputs.runs) else "", "citation": _citation(inputs)}


def _runs(inputs: Inputs) -> str:
    keys = ["run", "price_option"]
    # Of rates alone nobody knows what a run costs, but what a dollar buys.
    what = "cost_usd" if inputs.costs["cost_usd"].notna().any() else "samples_per_usd"
    costs = inputs.costs.drop_duplicates(keys).pivot(index="run", columns="price_option", values=what)
    options = [option for option in inputs.study["prices"] if option in costs]
    table = inputs.runs[[*CELL, *_COLUMNS, "run"]].join(costs[options].add_prefix(f"{what} "), on="run")
    table = table.drop(columns="run").dropna(axis="columns", how="all")
    for name in map(str, table.select_dtypes("float")):
        table[name] = [None if pd.isna(value) else float(f"{value:.6g}") for value in table[name]]
    text = f"{','.join(map(str, table))}\n".encode() + bytes(tables.lines(table))
    return "data:text/csv;charset=utf-8," + quote(text, safe=_PLAIN)


def _citation(inputs: Inputs) -> str:
    """Return how to cite the page, in words: by whom, when, what, and of which days its prices are."""
    about = inputs.study.get("published", {})
    shown = inputs.prices[inputs.prices["price_option"] == inputs.price]
    days = sorted({str(day)[:10] for day in shown["price_as_of"].dropna()} - {""})
    dates = (f"{days[0]} to {days[-1]}" if days[0] != days[-1] else days[0]) if days else ""
    measured = sorted({started[:10] for started in inputs.runs["started_at"].dropna()})
    when = about.get("date") or (measured[-1] if measured else "")
    by = about.get("by") or "Epochs per Dollar"
    parts = [
        by,
        f"“{about.get('title', inputs.study['title'])}”",
        str(when),
        about.get("url", ""),
        " ".join(
            filter(
                None, ["priced by Epochs per Dollar" * (by != "Epochs per Dollar"), dates and f"at prices of {dates}"]
            )
        ),
    ]
    return ", ".join(filter(None, parts)) + "."
