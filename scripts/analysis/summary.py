"""What the tables of a study say: cells from runs, the best of each workload, what was learned. Pure."""

from collections.abc import Iterable, Mapping
from math import inf, isfinite, nan
from typing import Any

import pandas as pd

from scripts import workloads
from scripts.analysis import statistics
from scripts.costs import outcomes, ownership, uncertainty
from scripts.measurement.cell import Cell
from scripts.storage.tables import CELL, records

_MEDIANS = ["train_seconds", "first_step_seconds", "samples_per_second", "flops_per_sample", "peak_memory_mib"]

#: After the name of a column of medians: that of the values which they are the medians of.
_OF_RUNS = " of the runs"


def cost_column(option: str) -> str:
    """Return the column of `cells` that holds the cost per million samples (USD) at a purchase option."""
    return f"usd_per_million_samples, {option}"


def cells(runs: pd.DataFrame, costs: pd.DataFrame) -> pd.DataFrame:
    """Return one row per cell, in the order of the runs.

    Columns: the cell's, `status` and `reason` of its last run, `runs` and `runs_done`, medians over the
    runs that are done of times (s), throughput and memory, and one cost column per purchase option; for the
    time to train and the costs also the lists of what the medians are of.
    """
    last = runs.drop_duplicates(CELL, keep="last")[[*CELL, "status", "reason"]]
    table = runs.groupby(CELL, sort=False, dropna=False).size().rename("runs").reset_index().merge(last, on=CELL)
    done = runs[runs["status"] == "done"].groupby(CELL, dropna=False)
    table = table.merge(done[_MEDIANS].median().reset_index(), on=CELL, how="left")
    timed = runs[runs["status"] == "done"].dropna(subset="train_seconds").groupby(CELL, dropna=False)
    table = table.merge(_of_runs(timed["train_seconds"], "train_seconds"), on=CELL, how="left")
    table = table.merge(done.size().rename("runs_done").reset_index(), on=CELL, how="left")
    for option, priced in costs.groupby("price_option"):
        known = priced.dropna(subset="usd_per_million_samples").groupby(CELL, dropna=False)
        column, prices = cost_column(str(option)), known["usd_per_million_samples"]
        table = table.merge(prices.median().rename(column).reset_index(), on=CELL, how="left")
        table = table.merge(_of_runs(prices, column), on=CELL, how="left")
    return table.fillna({"runs_done": 0})


def computing(table: pd.DataFrame, machines: Mapping[str, Any]) -> pd.DataFrame:
    """Return `cells` with `model_gflops` (10^9 model FLOP/s) and `utilisation` (of the GPUs' peak, 0 to 1).

    Utilisation is missing where the machine's entry tells no peak for the precision.
    """
    rate = table["samples_per_second"].astype(float) * table["flops_per_sample"].astype(float)
    peaks = [
        machines[cell["hardware"]].get("peak_tflops", {}).get(cell["precision"], nan) * cell["devices"]
        for cell in records(table)
    ]
    return table.assign(model_gflops=rate / 1e9, utilisation=rate / (1e12 * pd.Series(peaks, table.index, dtype=float)))


def _of_runs(groups: Any, column: str) -> pd.DataFrame:
    return groups.agg(list).rename(column + _OF_RUNS).reset_index()


def best(table: pd.DataFrame, column: str) -> dict[str, dict[str, Any] | None]:
    """Return for each workload the row of `cells` with the smallest value in `column`, None without one.

    `ties` in it are the rows whose runs are not told apart from those of the smallest.
    """
    found: dict[str, dict[str, Any] | None] = {}
    for workload, group in table.groupby("workload", sort=False):
        rows = group.dropna(subset=column) if column in group else group.iloc[:0]
        ordered = records(rows.sort_values(column)) if len(rows) else []
        first = ordered[0] if ordered else None
        if first is not None:
            its_runs = first[column + _OF_RUNS]
            first["ties"] = [row for row in ordered[1:] if statistics.tie(row[column + _OF_RUNS], its_runs)]
        found[str(workload)] = first
    return found


def versus(table: pd.DataFrame, base_hardware: str, column: str) -> dict[str, tuple[int, int, int]]:
    """Return for each other machine (cells with a smaller value than the base machine's, ties, cells compared).

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
        ratios = group[column].astype(float) / group[f"{column}_base"].astype(float)
        of_runs = zip(group[column + _OF_RUNS], group[f"{column}{_OF_RUNS}_base"], strict=True)
        ties = pd.Series([statistics.tie(ours, theirs) for ours, theirs in of_runs], index=group.index, dtype=bool)
        found[str(hardware)] = (int(((ratios < 1) & ~ties).sum()), int(ties.sum()), len(group))
    return found


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
        metric = measure(reference, group)
        last = group.iloc[-1]
        part = float(part_of_data(group).iloc[-1])
        published = reference.after(last["epochs_done"] * part) if reference and last["data"] != "synthetic" else None
        rows.append(
            cell
            | {
                "metric": metric,
                "value": float(group[metric].median()),
                "runs": len(group),
                "epochs": int(last["epochs_done"]),
                "part": part,
                "published_epochs": published and published[0],
                "published": published and published[1],
                "source": reference and reference.source,
                "verdict": ", ".join(dict.fromkeys(group["convergence"].dropna())),
            }
        )
    return rows


def measure(reference: workloads.Reference | None, runs: pd.DataFrame) -> str:
    """Return what a workload is judged by: the reference's metric, or without one what its runs have."""
    if reference:
        return reference.metric
    return "val_acc" if runs["val_acc"].notna().any() else "loss"


def money(costs: pd.DataFrame, base: dict[str, Any]) -> list[dict[str, Any]]:
    """Return one row per cell: what a run costs (USD), between which ends, and how that compares with the base cell.

    `costs` are those of one price option. Keys beside the cell's: `cost_usd` (median), `low` and `high` (observed
    ends: fastest run at the lowest price, slowest at the highest), `interval` (low, high and
    coverage of a distribution-free interval of the median at the price; None below six runs), `runs`, `ratio` to
    the base cell's median,
    `cheaper` (the probability that a run of it costs less than one of the base cell: the share of their `pairs`;
    None below two runs on a side, and for the base itself), `billed_usd` (a run alone), `samples_per_usd`, and
    `front` (no cell of the workload is both faster and cheaper).
    """
    rows: list[dict[str, Any]] = []
    # What is not known of a run is NaN, and leaves its cell out of what would need it.
    figures = ("useful_seconds", "used_seconds", "cost_usd", "billed_usd", "samples_per_usd")
    costs = costs.astype(dict.fromkeys(figures, float))
    for _, group in costs.groupby("workload", sort=False):
        cells = [(dict(zip(CELL, key, strict=True)), cell) for key, cell in group.groupby(CELL, sort=False)]
        of_base = next((cell for about, cell in cells if all(about[key] == base[key] for key in base)), None)
        front = outcomes.pareto_front(
            [float(cell["useful_seconds"].median()) for _, cell in cells],
            [float(cell["cost_usd"].median()) for _, cell in cells],
        )
        for (about, cell), on_front in zip(cells, front, strict=True):
            cheaper = ratio = None
            if of_base is not None:
                ratio = float(cell["cost_usd"].median() / of_base["cost_usd"].median())
                if cell is not of_base and min(len(cell), len(of_base)) > 1:
                    cheaper = _probability_cheaper(cell, of_base)
            seconds, hourly = cell["used_seconds"].astype(float), cell.iloc[0]
            rates = [float(hourly[f"usd_per_hour{end}"]) for end in ("_low", "", "_high")]
            low, cost, high = uncertainty.cost_range(seconds, *rates)
            rows.append(
                about
                | {
                    "cost_usd": cost,
                    "low": low,
                    "high": high,
                    "interval": statistics.median_interval(cell["cost_usd"]),
                    "runs": len(cell),
                    "ratio": ratio,
                    "cheaper": cheaper,
                    "pairs": 0 if of_base is None else len(cell) * len(of_base),
                    "billed_usd": float(cell["billed_usd"].median()),
                    "samples_per_usd": float(cell["samples_per_usd"].median()),
                    "front": bool(on_front),
                }
            )
    return rows


def _probability_cheaper(cell: pd.DataFrame, base: pd.DataFrame) -> float:
    """Return the probability that a run of a cell costs less than one of the base, price ranges counted."""
    one, other = cell.iloc[0], base.iloc[0]
    if one["hardware"] == other["hardware"]:  # the same machine has one price for both, wherever in its range
        return uncertainty.probability_cheaper(cell["used_seconds"], base["used_seconds"])
    return uncertainty.probability_cheaper_with_prices(
        cell["used_seconds"],
        float(one["usd_per_hour_low"]),
        float(one["usd_per_hour_high"]),
        base["used_seconds"],
        float(other["usd_per_hour_low"]),
        float(other["usd_per_hour_high"]),
    )


def rent_or_own(machines: dict[str, Any], prices: pd.DataFrame) -> list[dict[str, Any]]:
    """Return for each machine that has both prices from how many days of use a month owning is cheaper.

    Keys: hardware, price_option, rented (USD/h), owned (USD/h at the use of its entry), days (24 h each; inf: never).
    """
    rows = []
    owned = prices[prices["purchase"] == "owned"].set_index("hardware")["usd_per_hour"]
    for row in records(prices[prices["purchase"] != "owned"]):
        if row["hardware"] not in owned.index:
            continue
        box = ownership.machine(machines[row["hardware"]]["own"])
        hours = float(ownership.break_even_hours_per_month(box, float(row["usd_per_hour"])))
        rows.append(
            {
                "hardware": row["hardware"],
                "price_option": row["price_option"],
                "rented": float(row["usd_per_hour"]),
                "owned": float(owned[row["hardware"]]),
                "days": hours / 24,
            }
        )
    return rows


def interrupted(attempts: pd.DataFrame, spent: pd.DataFrame) -> list[dict[str, Any]]:
    """Return one row per run of several attempts: run, attempts, how those before the last ended, seconds, usd.

    `spent` is from `scripts.costs.budget.spent`; seconds are used_seconds, useful_seconds and lost_seconds.
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
    paths = runs["run"].str.rpartition("/")[0]
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


def to_targets(
    runs: pd.DataFrame, epochs: pd.DataFrame, costs: pd.DataFrame, targets: dict[str, float]
) -> list[dict[str, Any]]:
    """Return one row per cell of a workload with a target: when its runs first reached it, and at what cost.

    The time is that of whole epochs with their validation and, in the first one, the first step. Keys beside
    the cell's: target, metric, runs, reached (runs that did), seconds and cost_usd: medians over all runs, one that
    did not reach it counting as infinite (AlgoPerf); None where half of them did not.
    `costs` are those of one price option.
    """
    rows = []
    hourly = costs.drop_duplicates("hardware").set_index("hardware")["usd_per_hour"]
    for workload, target in targets.items():
        of_workload = epochs[epochs["workload"] == workload]
        if of_workload.empty:
            continue
        metric = measure(workloads.workload(workload).REFERENCE, of_workload)
        # A run that was taken up again has two starts in its time.
        resumed = of_workload["cut"].fillna(0).gt(0) | (
            of_workload["epoch"].gt(0) & of_workload["first_step_seconds"].fillna(0).gt(0)
        )
        left_out = of_workload.loc[resumed, "run"]
        of_workload = of_workload[~of_workload["run"].isin(left_out)]
        reached = outcomes.to_target(of_workload, metric, target, higher_is_better=metric == "val_acc")
        seconds = runs[runs["workload"].eq(workload) & ~runs["run"].isin(left_out)].assign(
            seconds=lambda frame: frame["run"].map(reached["seconds"])  # noqa: B023, used at once
        )
        for key, cell in seconds.groupby(CELL, sort=False):
            about = dict(zip(CELL, key, strict=True))
            times = cell["seconds"].astype(float).fillna(inf)
            median = float(times.median())
            time = median if isfinite(median) else None
            price = hourly.get(about["hardware"])
            rows.append(
                about
                | {
                    "metric": metric,
                    "target": target,
                    "runs": len(cell),
                    "reached": int(times.lt(inf).sum()),
                    "seconds": time,
                    "cost_usd": None if time is None or price is None else time * float(price) / 3600,
                }
            )
    return rows
