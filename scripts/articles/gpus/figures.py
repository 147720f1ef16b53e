"""What more cards add, what 16 bits gain, how far machines with the same card lie apart, what owning costs."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from scripts.analysis import audit, statistics
from scripts.costs import billing, ownership
from scripts.storage.axes import CELL
from scripts.studies import definition

#: Machines that are fewer have no spread.
FEWEST = 3

#: Hours of use a month at which an hour of an owned machine is shown; the last is every hour.
USE_HOURS = (40, 160, 365, billing.HOURS_PER_MONTH)


def tables(
    study: Mapping[str, Any], runs: pd.DataFrame, costs: pd.DataFrame, prices: pd.DataFrame, given: None
) -> dict[str, pd.DataFrame]:
    """Return `card_scaling`, `card_precision`, `card_spread` and `card_use`, as the functions below describe them."""
    machines = study["machines"]
    done = runs[runs["status"] == "done"].dropna(subset="samples_per_second")
    return {
        "card_scaling": scaling(machines, done),
        "card_precision": precision(done),
        "card_spread": spread(done),
        "card_use": use(machines),
    }


def scaling(machines: Mapping[str, Any], runs: pd.DataFrame) -> pd.DataFrame:
    """Return for each machine with several cards its throughput over that of as many single ones (`efficiency`).

    Columns as of `audit.beside_single_cards`. Where a machine has several cells of a workload and precision, as
    software of two dates that no axis names, the one with the most runs is shown.
    """
    found = audit.beside_single_cards(runs, definition.cards(machines))
    order = {name: place for place, name in enumerate(machines)}
    found = found.assign(place=found["hardware"].map(order)).sort_values("runs", ascending=False, kind="stable")
    found = found.drop_duplicates(["workload", "hardware", "precision"])
    works = {name: place for place, name in enumerate(dict.fromkeys(runs["workload"]))}
    found = found.assign(work=found["workload"].map(works)).sort_values(["work", "precision", "place"], kind="stable")
    return found.drop(columns=["place", "work"]).reset_index(drop=True)


def precision(runs: pd.DataFrame) -> pd.DataFrame:
    """Return what each machine does in float16 over float32, each at its own batch size: medians of all its runs.

    Columns: workload, hardware, devices, float32, float16 (samples/s), gain.
    """
    keys = ["workload", "hardware", "devices"]
    # Rows that name a batch size and rows that do not are of different software: never one over the other.
    marked = runs.assign(has_batch_size=runs["batch_size"].notna())
    wide = marked.pivot_table(
        index=[*keys, "has_batch_size"],
        columns="precision",
        values="samples_per_second",
        aggfunc=["median", "count"],
        sort=False,
    )
    if not {"float16", "float32"} <= set(marked["precision"]):
        return pd.DataFrame(columns=[*keys, "float32", "float16", "gain"])
    rows = wide["median"].assign(runs=wide["count"]["float16"]).dropna().reset_index()
    rows = rows.sort_values("runs", ascending=False, kind="stable").drop_duplicates(keys).sort_index()
    rows = rows.assign(gain=rows["float16"] / rows["float32"])
    table: pd.DataFrame = rows[[*keys, "float32", "float16", "gain"]].reset_index(drop=True)
    return table


def spread(runs: pd.DataFrame) -> pd.DataFrame:
    """Return how far machines with the same cards lie apart, for each cell that `FEWEST` of them ran.

    Columns: the cell's, `runs`, `low`, `median` and `high` (samples/s), `spread`: (high - low) / median.
    """
    rates = runs.groupby(CELL, sort=False, dropna=False)["samples_per_second"]
    rows = rates.agg(runs="count", low="min", median="median", high="max", spread=statistics.spread).reset_index()
    return rows[rows["runs"] >= FEWEST].reset_index(drop=True)


def use(machines: Mapping[str, Any]) -> pd.DataFrame:
    """Return what an hour of each owned machine costs by its hours of use a month.

    Columns: hardware, hours, usd_per_hour (USD).
    """
    rows = [
        {"hardware": name, "hours": hours, "usd_per_hour": float(ownership.usd_per_hour(box, hours))}
        for name, about in machines.items()
        if "own" in about
        for box in [ownership.machine(about["own"])]
        for hours in USE_HOURS
    ]
    return pd.DataFrame(rows, columns=["hardware", "hours", "usd_per_hour"])


def readable(derived: Mapping[str, pd.DataFrame]) -> dict[str, pd.DataFrame]:
    """Return those of `tables` that are there as people read them: a column per workload, or per hours of use."""
    shown = {}
    for name, keys, value in (
        ("card_scaling", ["hardware", "precision"], "efficiency"),
        ("card_precision", ["hardware"], "gain"),
        ("card_spread", ["hardware", "precision", "runs"], "spread"),
    ):
        if name in derived:
            table = derived[name].fillna({"precision": "—"})  # a row whose key is missing would be dropped
            wide = table.pivot_table(index=keys, columns="workload", values=value, aggfunc="first", sort=False)
            shown[name] = wide.astype(float).reset_index().rename_axis(columns=None)
    if "card_use" in derived:
        wide = derived["card_use"].pivot_table(index="hardware", columns="hours", values="usd_per_hour", sort=False)
        shown["card_use"] = wide.rename(columns=lambda hours: f"{hours:g} h").reset_index().rename_axis(columns=None)
    return shown
