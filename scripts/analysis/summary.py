"""What the tables of a study say: cells from runs, the best of each workload, what was learned. Pure."""

from collections.abc import Iterable, Mapping
from math import nan
from typing import Any

import pandas as pd

from scripts.analysis.verdicts import LESS, Judge, undecided
from scripts.records import about
from scripts.records.cell import Cell
from scripts.records.reference import Reference
from scripts.storage.axes import CELL
from scripts.storage.tables import cells_of, records

_MEDIANS = [
    "train_seconds",
    "first_step_seconds",
    "samples_per_second",
    "flops_per_sample",
    "peak_memory_mib",
    "val_acc",
]

#: What a run may be judged by (`measure`).
_RESULTS = ["val_acc", "val_loss", "acc", "loss"]

#: The time of a cell whose logs have a rate alone: a column of `cells`.
SECONDS_PER_MILLION = "seconds_per_million_samples"

#: What a cell costs, by its work and by its run; the column names of the costs table.
PER_MILLION, PER_RUN = "usd_per_million_samples", "cost_usd"

#: After the name of a column of medians: that of the values which they are the medians of.
_OF_RUNS = " of the runs"


def cost_column(option: str, cost: str = PER_MILLION) -> str:
    """Return the column of `cells` that holds a cost (USD) at a price option: `PER_MILLION` samples, or `PER_RUN`."""
    return f"{cost}, {option}"


def cost_that_is_known(costs: pd.DataFrame) -> str:
    """Return by which cost the cells of a study are compared: `PER_MILLION` where each priced run records its samples.

    Logs by epoch do not record them: their cells are compared `PER_RUN`. `costs` are those of one price option.
    """
    paid = costs.dropna(subset=PER_RUN)
    return PER_RUN if paid[PER_MILLION].isna().any() else PER_MILLION


def rated_alone(runs: pd.DataFrame) -> set[str]:
    """Return the workloads of which rates alone are known: speed tests, and logs that have no time to train.

    What costs something there is a million samples.
    """
    done = runs[runs["status"] == "done"]
    is_training = done["is_training"].fillna(done["train_seconds"].notna()).astype(bool)
    trained = set(done.loc[is_training, "workload"])
    return {str(workload) for workload in done["workload"] if workload not in trained}


def reference(workload: str) -> Reference | None:
    """Return what is published of a workload; None for one that is not the project's, as in the logs of others."""
    return about.workload(workload).reference if workload in about.workloads() else None


def cells(runs: pd.DataFrame, costs: pd.DataFrame) -> pd.DataFrame:
    """Return one row per cell, in the order of the runs.

    Columns: the cell's, `status` and `reason` of its last run, `runs` and `runs_done`, medians over the
    runs that are done of times (s; `SECONDS_PER_MILLION` samples too), throughput, memory and accuracy, and two cost
    columns per price option (`cost_column`); for these two times and the costs also the lists of what the medians are
    of.
    """
    last = runs.drop_duplicates(CELL, keep="last")[[*CELL, "status", "reason"]]
    table = runs.groupby(CELL, sort=False, dropna=False).size().rename("runs").reset_index().merge(last, on=CELL)
    done = runs[runs["status"] == "done"].groupby(CELL, dropna=False)
    table = table.merge(done[_MEDIANS].median().reset_index(), on=CELL, how="left")
    timed = runs[runs["status"] == "done"].dropna(subset="train_seconds").groupby(CELL, dropna=False)
    table = table.merge(_of_runs(timed["train_seconds"], "train_seconds"), on=CELL, how="left")
    rated = runs[runs["status"] == "done"].dropna(subset="samples_per_second")
    rated = rated.assign(seconds=1e6 / rated["samples_per_second"].astype(float))
    seconds = rated.groupby(CELL, dropna=False)["seconds"]
    table = table.merge(seconds.median().rename(SECONDS_PER_MILLION).reset_index(), on=CELL, how="left")
    table = table.merge(_of_runs(seconds, SECONDS_PER_MILLION), on=CELL, how="left")
    table = table.merge(done.size().rename("runs_done").reset_index(), on=CELL, how="left")
    for option, priced in costs.groupby("price_option"):
        for cost in (PER_MILLION, PER_RUN):
            paid = priced.dropna(subset=cost).groupby(CELL, dropna=False)[cost]
            column = cost_column(str(option), cost)
            table = table.merge(paid.median().rename(column).reset_index(), on=CELL, how="left")
            table = table.merge(_of_runs(paid, column), on=CELL, how="left")
    return table.fillna({"runs_done": 0})


def computing(table: pd.DataFrame, machines: Mapping[str, Any]) -> pd.DataFrame:
    """Return `cells` with `model_gflops` (10^9 model FLOP/s) and `utilisation` (of the GPUs' peak, 0 to 1).

    Utilisation is missing where the machine's entry has no peak for the precision.
    """
    rate = table["samples_per_second"].astype(float) * table["flops_per_sample"].astype(float)
    peaks = [_peak(machines.get(cell["hardware"], {}).get("peak_tflops", {}), cell) for cell in records(table)]
    return table.assign(model_gflops=rate / 1e9, utilisation=rate / (1e12 * pd.Series(peaks, table.index, dtype=float)))


def _peak(tflops: Mapping[str, Any], cell: Mapping[str, Any]) -> float:
    """Return what the devices of a cell do at most (TFLOP/s); logs do not say how many there were."""
    if pd.isna(cell["precision"]) or pd.isna(cell["devices"]):
        return nan
    return float(tflops.get(cell["precision"], nan) * cell["devices"])


def _of_runs(groups: Any, column: str) -> pd.DataFrame:
    table: pd.DataFrame = groups.agg(list).rename(column + _OF_RUNS).reset_index()
    return table


def best(table: pd.DataFrame, column: str, judge: Judge) -> dict[str, dict[str, Any] | None]:
    """Return for each workload the row of `cells` with the smallest value in `column`, None without one.

    `near` in it are the others that are not clearly different: without any it has won; `flattered` is by which
    share chance makes the smallest of several look too small; `compared` how many cells there are.
    """
    found: dict[str, dict[str, Any] | None] = dict.fromkeys(map(str, table["workload"].unique()))
    of_workload: dict[str, list[dict[str, Any]]] = {}
    if column in table:
        # Of those that cost the same, as where all are billed the least that there is, the shortest comes first.
        order = [column, *(one for one in ("train_seconds", SECONDS_PER_MILLION) if one in table and one != column)]
        for row in records(table.dropna(subset=column).sort_values(order, kind="stable")):
            of_workload.setdefault(str(row["workload"]), []).append(row)
    for workload, ordered in of_workload.items():
        first = ordered[0]
        of_runs = [row[column + _OF_RUNS] for row in ordered]
        machines = [row["hardware"] for row in ordered]
        first["near"] = [ordered[1 + i] for i in undecided(judge, of_runs[0], of_runs[1:], machines)]
        first["flattered"], first["compared"] = judge.flattered(of_runs, machines), len(ordered)
        found[workload] = first
    return found


def count_wins(table: pd.DataFrame, base_hardware: str, column: str, judge: Judge) -> dict[str, tuple[int, int, int]]:
    """Return for each other machine (cells with a smaller value than the base machine's, undecided, compared).

    Compared are cells that differ in the machine alone and have a value on both.
    """
    if column not in table:
        return {}
    keys = [axis for axis in CELL if axis != "hardware"]
    values = table.dropna(subset=column)
    base = values.loc[values["hardware"] == base_hardware, [*keys, column, column + _OF_RUNS]]
    pairs = values[values["hardware"] != base_hardware].merge(base, on=keys, suffixes=("", "_base"))
    found = {}
    for hardware, group in pairs.groupby("hardware", sort=False):
        of_runs = zip(group[column + _OF_RUNS], group[f"{column}{_OF_RUNS}_base"], strict=True)
        compared = [judge.compare(ours, theirs, (str(hardware), base_hardware)) for ours, theirs in of_runs]
        less = sum(one.word == LESS for one in compared)
        found[str(hardware)] = (less, sum(not one.is_clear for one in compared), len(group))
    return found


def relative(table: pd.DataFrame, base: Mapping[str, Any], column: str) -> list[float | None]:
    """Return for each row of `cells` its value in `column` over that of its workload's base cell; None without either.

    The base cell of a workload is its first that has all that `base` names.
    """
    named = {axis: value for axis, value in base.items() if axis in table}
    of_base = table[(table[list(named)] == pd.Series(named)).all(axis=1)] if named else table.iloc[:0]
    values = of_base.drop_duplicates("workload").set_index("workload")[column]
    pairs = [(row[column], values.get(row["workload"])) for row in records(table)]
    return [
        None if pd.isna(value) or pd.isna(plain) or not plain else float(value) / float(plain) for value, plain in pairs
    ]


def part_of_data(runs: pd.DataFrame) -> pd.Series:
    """Return the fraction (0 to 1] of the official training samples that each run trained on."""
    return runs["samples_fraction"] * runs["data_fraction"]


def is_reduced(runs: pd.DataFrame) -> bool:
    """Return whether any run had fewer samples or epochs than published, as far as it is known."""
    known = set(runs["workload"]) & set(about.workloads())
    epochs = runs["workload"].map({name: about.workload(name).epochs for name in known}).astype("Int64")
    return bool(((part_of_data(runs) < 1) | (runs["epochs"] < epochs)).any())


def learned(runs: pd.DataFrame) -> list[dict[str, Any]]:
    """Return one row per cell that is done and records its data, unless synthetic: its result beside the published.

    `value` is the median over the cell's runs. `published` is that after as many samples; None where there is nothing
    to compare with: less than one published epoch of samples. Samples, not epochs, are what is held
    equal: 20 epochs of a fifth of the data are compared with 4 published ones.
    """
    rows = []
    done = runs[(runs["status"] == "done") & part_of_data(runs).notna() & (runs["data"] != "synthetic")]
    parts, results = part_of_data(done).to_numpy(), done[_RESULTS]
    epochs, ends = (done[name].to_numpy() for name in ("epochs_done", "convergence"))
    for cell, places in cells_of(done):
        known = reference(cell["workload"])
        group = results.iloc[places]
        metric = measure(known, group)
        if group[metric].isna().all():
            continue
        last = places[-1]
        part = float(parts[last])
        published = known.after(epochs[last] * part) if known else None
        rows.append(
            cell
            | {
                "metric": metric,
                "value": float(group[metric].median()),
                "runs": len(group),
                "epochs": int(epochs[last]),
                "part": part,
                "published_epochs": published and published[0],
                "published": published and published[1],
                "source": known and known.source,
                "verdict": ", ".join(dict.fromkeys(end for end in ends[places] if not pd.isna(end))),
            }
        )
    return rows


def measure(known: Reference | None, runs: pd.DataFrame) -> str:
    """Return what a workload is judged by: the reference's metric, or without one what its runs have."""
    if known:
        return known.metric
    return "val_acc" if runs["val_acc"].notna().any() else "loss"


def interrupted(attempts: pd.DataFrame, spent: pd.DataFrame) -> list[dict[str, Any]]:
    """Return one row per run of several attempts: run, attempts, how those before the last ended, seconds, usd.

    `spent` is from `scripts.costs.prices.spent`; seconds are used_seconds, useful_seconds and lost_seconds.
    """
    rows = []
    usd = spent.set_index("run")["usd"]
    for run, tries in attempts.groupby("run", sort=False):
        if len(tries) > 1:
            seconds = {name: float(tries[name].sum()) for name in ("used_seconds", "useful_seconds", "lost_seconds")}
            ended = [str(end) for end in tries["ended"].iloc[:-1]]
            counts = {end: ended.count(end) for end in dict.fromkeys(ended)}
            rows.append({"run": run, "attempts": len(tries), "ended": counts, "usd": float(usd[run])} | seconds)
    return rows


def untrained(planned: Iterable[Cell], runs: pd.DataFrame) -> list[dict[str, Any]]:
    """Return one row per configuration (workload, framework, variant) of which machines have no run.

    Keys: workload, framework, variant, hardware (the machines without one), failed (machines on which nothing but
    failures came of it).
    """
    paths = runs["run"].map(lambda run: run.rpartition("/")[0])
    there = {path: set(statuses) for path, statuses in runs["status"].groupby(paths)}
    rows: dict[tuple[str, str, str], dict[str, Any]] = {}
    for cell in planned:
        configuration = (cell.workload, cell.framework, cell.variant)
        row = rows.setdefault(configuration, {"hardware": [], "failed": []})
        if cell.path not in there:
            row["hardware"].append(cell.hardware)
        elif there[cell.path] == {"failed"}:
            row["failed"].append(cell.hardware)
    keys = ("workload", "framework", "variant")
    return [dict(zip(keys, of, strict=True)) | row for of, row in rows.items() if row["hardware"]]
