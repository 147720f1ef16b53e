"""What the tables of a study say: cells from runs, the best of each workload, what was learned. Pure."""

from typing import Any

import pandas as pd

from scripts import workloads

CELL = ["workload", "hardware", "framework", "batch_size"]

_MEDIANS = ["train_seconds", "first_step_seconds", "samples_per_second", "peak_memory_mib"]


def cost_column(option: str) -> str:
    """Return the column of `cells` that holds the cost per million samples (USD) at a purchase option."""
    return f"usd_per_million_samples, {option}"


def cells(runs: pd.DataFrame, costs: pd.DataFrame) -> pd.DataFrame:
    """Return one row per cell, in the order of the runs.

    Columns: the cell's, `status` and `reason` of its last run, `runs` and `runs_done`, medians over the
    runs that are done of times (s), throughput and memory, and one cost column per purchase option.
    """
    last = runs.drop_duplicates(CELL, keep="last")[[*CELL, "status", "reason"]]
    table = runs.groupby(CELL, sort=False, dropna=False).size().rename("runs").reset_index().merge(last, on=CELL)
    done = runs[runs["status"] == "done"].groupby(CELL, dropna=False)
    table = table.merge(done[_MEDIANS].median().reset_index(), on=CELL, how="left")
    table = table.merge(done.size().rename("runs_done").reset_index(), on=CELL, how="left")
    for option, priced in costs.groupby("price_option"):
        price = priced.groupby(CELL, dropna=False)["usd_per_million_samples"].median()
        table = table.merge(price.rename(cost_column(str(option))).reset_index(), on=CELL, how="left")
    return table.fillna({"runs_done": 0})


def best(table: pd.DataFrame, column: str) -> dict[str, dict[str, Any] | None]:
    """Return for each workload the row of `cells` with the smallest value in `column`, None without one."""
    found: dict[str, dict[str, Any] | None] = {}
    for workload, group in table.groupby("workload", sort=False):
        rows = group.dropna(subset=column) if column in group else group.iloc[:0]
        first = rows.sort_values(column).iloc[0] if len(rows) else None
        found[str(workload)] = None if first is None else {str(name): value for name, value in first.items()}
    return found


def versus(table: pd.DataFrame, base_hardware: str, column: str) -> dict[str, tuple[int, int]]:
    """Return for each other machine (cells with a smaller value than the base machine's, cells compared).

    Compared are cells of the same workload, framework and batch size that have a value on both.
    """
    if column not in table:
        return {}
    keys = ["workload", "framework", "batch_size"]
    values = table.dropna(subset=column)
    base = values.loc[values["hardware"] == base_hardware, [*keys, column]]
    pairs = values[values["hardware"] != base_hardware].merge(base, on=keys, suffixes=("", "_base"))
    return {
        str(hardware): (int((group[column] < group[f"{column}_base"]).sum()), len(group))
        for hardware, group in pairs.groupby("hardware", sort=False)
    }


def part_of_data(runs: pd.DataFrame) -> pd.Series:
    """Return the fraction (0 to 1] of the official training samples that each run trained on."""
    return runs["samples_fraction"] * runs["data_fraction"]


def is_reduced(runs: pd.DataFrame) -> bool:
    """Say whether any run had fewer samples or epochs than published."""
    epochs = runs["workload"].map({name: workloads.workload(name).EPOCHS for name in set(runs["workload"])})
    return bool(((part_of_data(runs) < 1) | (runs["epochs"] < epochs)).any())


def learned(runs: pd.DataFrame) -> list[dict[str, Any]]:
    """Return one row per cell that is done: its result beside the published one after as many samples.

    `value` is the median over the cell's runs. `published` is None where there is nothing to compare
    with: synthetic data, or less than one published epoch of samples. Samples, not epochs, are what
    is held equal: 20 epochs of a fifth of the data are compared with 4 published ones.
    """
    rows = []
    for key, group in runs[runs["status"] == "done"].groupby(CELL, sort=False):
        cell = dict(zip(CELL, key, strict=True))
        reference = workloads.workload(str(cell["workload"])).REFERENCE
        last = group.iloc[-1]
        part = float(part_of_data(group).iloc[-1])
        published = reference.after(last["epochs_done"] * part) if last["data"] == "real" else None
        rows.append(
            cell
            | {
                "metric": reference.metric,
                "value": float(group[reference.metric].median()),
                "runs": len(group),
                "epochs": int(last["epochs_done"]),
                "part": part,
                "published_epochs": published and published[0],
                "published": published and published[1],
                "source": reference.source,
            }
        )
    return rows
