"""The cells that a claim compares: their values, which it chooses, which pairs they form, and their names. Pure."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from scripts.analysis.names import FRAMEWORK_NAMES
from scripts.storage.axes import CELL
from scripts.storage.errors import InputError

COSTS = ("cost_usd", "billed_usd", "usd_per_million_samples", "usd_per_hour")

#: What the charts of these names show: a cell's value over that of the study's base cell in the same workload.
RELATIVE = {"relative_time": "train_seconds", "relative_cost": "cost_usd"}

#: Time and cost in one figure, in which a percent of either weighs alike: seconds x dollars of a training.
BALANCE = "seconds_usd"


def values(by: str, price: str, runs: pd.DataFrame, costs: pd.DataFrame) -> pd.DataFrame:
    """Return one row per cell with `value`, the median of `by` over its runs, and `points`, those of the runs.

    `by` is a column of costs or runs, or `BALANCE`. Cells without a value are left out.
    """
    of_cost = by in COSTS or by == BALANCE
    rows = costs[costs["price_option"] == price] if of_cost else runs[runs["status"] == "done"]
    if by == BALANCE:
        rows = rows.assign(**{BALANCE: rows["useful_seconds"] * rows["cost_usd"]})
    if by not in rows or not pd.api.types.is_numeric_dtype(rows[by]):
        known = ", ".join([*COSTS, BALANCE, *RELATIVE])
        raise InputError(f"claims: by: {by!r} is unknown: it is one of {known}, or a column of runs")
    runs_of = rows.dropna(subset=by).groupby(CELL, sort=False, dropna=False)[by]
    cells = runs_of.agg(value="median", points=list).reset_index()
    return cells.dropna(subset="value").reset_index(drop=True)


def over_base(by: str, price: str, study: Mapping[str, Any], runs: pd.DataFrame, costs: pd.DataFrame) -> pd.DataFrame:
    """Return `values` of a name of `RELATIVE`, over the base cell's; `base_points` are that cell's over its median.

    The base cell itself is left out, and so is a workload without one, or whose base is free.
    """
    if "base" not in study:
        raise InputError(f"claims: by: {by!r} is over the base configuration, and the study has no base")
    cells = values(RELATIVE[by], price, runs, costs)
    base = select(cells[cells["value"] > 0], study["base"]).drop_duplicates("workload")
    both = cells[~cells.index.isin(base.index)].merge(base, on="workload", suffixes=("", "_base"))
    for name in ("points", "points_base"):
        both[name] = [
            [float(point) / over for point in points]
            for points, over in zip(both[name], both["value_base"].astype(float), strict=True)
        ]
    both["value"] = both["value"].astype(float) / both["value_base"].astype(float)
    return both.rename(columns={"points_base": "base_points"})[[*cells, "base_points"]]


def listed(names: Any) -> list[Any]:
    """Return one name or several as a list."""
    return names if isinstance(names, list) else [names]


def select(cells: pd.DataFrame, where: Mapping[str, Any]) -> pd.DataFrame:
    """Return the cells that have, on each axis of `where`, one of its names."""
    chosen = pd.Series(True, index=cells.index)
    for axis, names in where.items():
        chosen &= cells[axis].isin(listed(names))
    return cells[chosen]


def cell_words(row: Mapping[str, Any], labels: Mapping[str, str]) -> str:
    """Return the name of a cell as people say it: machine, framework, and what is not plain."""
    words = [labels.get(row["hardware"], row["hardware"]), FRAMEWORK_NAMES.get(row["framework"], row["framework"])]
    words += [
        row[axis]
        for axis, plain in (("mode", "stock"), ("precision", "float32"))
        if pd.notna(row[axis]) and row[axis] != plain
    ]
    return " ".join(words)


def sides(pair: Mapping[str, Any], theirs: Mapping[str, Any], labels: Mapping[str, str]) -> tuple[str, str]:
    """Return the names of two cells, with the batch sizes and devices in which they differ."""
    names = [cell_words(cell, labels) for cell in (pair, theirs)]
    for axis, words in (("batch_size", "batch {}"), ("devices", "{} devices")):
        if pair[axis] != theirs[axis] and pd.notna(pair[axis]) and pd.notna(theirs[axis]):
            names = [f"{name} {words.format(cell[axis])}" for name, cell in zip(names, (pair, theirs), strict=True)]
    return names[0], names[1]


def across(claim: Mapping[str, Any]) -> bool:
    """Return whether a claim compares one workload with another."""
    return all("workload" in claim.get(side, {}) for side in ("cell", "than"))


def pairs(claim: Mapping[str, Any], left: pd.DataFrame, right: pd.DataFrame) -> pd.DataFrame:
    """Return a row for each pair of a claim: cells alike in all that neither selection names; `_than` the second."""
    if "pairs" in claim:
        machines = pd.DataFrame(claim["pairs"], columns=["hardware", "hardware_than"])
        both = left.merge(right, on=[axis for axis in CELL if axis != "hardware"], suffixes=("", "_than"))
        return both.merge(machines, on=["hardware", "hardware_than"])
    if across(claim):  # each workload has a batch size of its own
        return left.merge(
            right, on=[axis for axis in CELL if axis not in ("workload", "batch_size")], suffixes=("", "_than")
        )
    named = {*claim["cell"], *claim["than"]} if "than" in claim else set()
    same = [axis for axis in CELL if axis == "workload" or axis not in named]
    return left.merge(right, on=same, suffixes=("", "_than"))
