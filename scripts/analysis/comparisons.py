"""What repeats say of a cell, and what one axis of the grid changes: spread, modes, precisions, devices. Pure."""

from typing import Any

import numpy as np
import pandas as pd

from scripts.analysis import statistics
from scripts.analysis.runs import DISTURBED
from scripts.analysis.verdicts import Judge
from scripts.storage.axes import CELL
from scripts.storage.tables import cells_of, records


def spreads(runs: pd.DataFrame, repeats: int, unstable_above: float) -> list[dict[str, Any]]:
    """Return one row per cell with several runs that are done: how far its times to train lie apart.

    Keys beside the cell's: `seconds` (every run's, in their order), `trimmed` (positions of the fastest and slowest,
    which `mean` leaves out; none below five runs), `median`, `interval` (of the median, None below six runs), `spread`
    ((highest - lowest) / median), `cpu_seconds` and `cpu_spread` (likewise, of the CPU time; None where not known),
    `unstable`, and `measurements`: the median of each, two where the first was unstable.
    """
    rows = []
    is_done = ((runs["status"] == "done") & runs["train_seconds"].notna()).to_numpy(dtype=bool)
    for about, places in cells_of(runs):
        if is_done[places].sum() < 2:
            continue
        every, cell = runs.iloc[places], runs.iloc[places[is_done[places]]]
        seconds = [float(value) for value in cell["train_seconds"]]
        mean, trimmed = statistics.trimmed(seconds)
        # What stands in for a run that was disturbed belongs to that one's measurement.
        stands_in = cell["repeat"].isin(every.loc[every["status"] == DISTURBED, "repeat"] + repeats)
        measurement = ((cell["repeat"] - 1) // repeats).mask(stands_in, 0)
        cpu = cell["cpu_seconds"].dropna()
        rounds = [part["train_seconds"] for _, part in cell.groupby(measurement)]
        rows.append(
            about
            | {
                "seconds": seconds,
                "trimmed": trimmed,
                "mean": mean,
                "median": float(cell["train_seconds"].median()),
                "interval": statistics.median_interval(seconds),
                "spread": statistics.spread(seconds),
                "cpu_seconds": float(cpu.median()) if len(cpu) else None,
                "cpu_spread": statistics.spread(cpu),
                "unstable": any(statistics.is_unstable(part, unstable_above) for part in rounds),
                "measurements": [float(part.median()) for part in rounds],
            }
        )
    return rows


def compare_axis(runs: pd.DataFrame, axis: str, plain: Any, value: str, judge: Judge) -> list[dict[str, Any]]:
    """Return one row per cell off the `plain` value of an axis: its median `value` beside that of the plain cell.

    Compared are cells that differ in that axis alone. Keys beside the cell's: `plain`, `value` (medians),
    `ratio` (value / plain), its 95 % interval `low` to `high`, `mark` (`Comparison.mark`), `runs` and `plain_runs`.
    """
    done = runs[runs["status"] == "done"].dropna(subset=value)
    same = [name for name in CELL if name != axis]
    column = done[value].to_numpy(dtype=float)
    values = {tuple(about[name] for name in (*same, axis)): column[places] for about, places in cells_of(done)}
    rows = []
    for (*others, here), measured in values.items():
        base = values.get((*others, plain))
        if here == plain or base is None:
            continue
        cells = [dict(zip([*same, axis], [*others, value], strict=True)) for value in (here, plain)]
        compared = judge.compare(measured, base, (cells[0]["hardware"], cells[1]["hardware"]))
        rows.append(
            cells[0]
            | {
                "plain": float(np.median(base)),
                "value": float(np.median(measured)),
                "ratio": compared.ratio,
                "low": compared.low,
                "high": compared.high,
                "mark": compared.mark,
                "runs": len(measured),
                "plain_runs": len(base),
            }
        )
    return rows


def matrix(rows: list[dict[str, Any]], axis: str) -> list[dict[str, Any]]:
    """Arrange the rows of `compare_axis`: a table for each value on the axis, a line per workload, a column per cell.

    Keys: `value` (on the axis), `columns` (cells without their workload), `lines` (workload -> rows by column, None
    where there is none).
    """
    tables = []
    for value in dict.fromkeys(row[axis] for row in rows):
        here = [row for row in rows if row[axis] == value]
        names = [name for name in CELL if name not in ("workload", axis)]
        # The batch size differs from workload to workload; a column does not.
        names = (
            names
            if len({(row["workload"], row["batch_size"]) for row in here}) > len({row["workload"] for row in here})
            else [name for name in names if name != "batch_size"]
        )
        columns = list(dict.fromkeys(tuple(row[name] for name in names) for row in here))
        lines = {
            workload: [
                next((r for r in here if r["workload"] == workload and tuple(r[n] for n in names) == column), None)
                for column in columns
            ]
            for workload in dict.fromkeys(row["workload"] for row in here)
        }
        tables.append(
            {
                "value": value,
                "columns": [{"batch_size": None} | dict(zip(names, column, strict=True)) for column in columns],
                "lines": lines,
            }
        )
    return tables


def scaling(runs: pd.DataFrame, judge: Judge) -> list[dict[str, Any]]:
    """Return `compare_axis` one device for each cell on several, with `efficiency`: the ratio per device."""
    rows = compare_axis(runs, "devices", 1, "samples_per_second", judge)
    return [row | {"efficiency": row["ratio"] / row["devices"]} for row in rows]


def counts(rows: list[dict[str, Any]]) -> str:
    """Return in words how many runs stand on each side of the rows of `compare_axis`."""
    found = sorted({row[side] for row in rows for side in ("runs", "plain_runs")})
    return f"{found[0]}" if len(found) == 1 else f"{found[0]} to {found[-1]}"


def settings(runs: pd.DataFrame) -> list[dict[str, Any]]:
    """Return how each framework trained in each mode: framework, mode, settings, and the workloads so trained."""
    recorded = runs.dropna(subset="settings")
    rows = []
    for key, group in recorded.groupby(["framework", "mode", "settings"], sort=False, dropna=False):
        rows.append(
            dict(zip(("framework", "mode", "settings"), key, strict=True))
            | {"workloads": list(dict.fromkeys(group["workload"]))}
        )
    return rows


def warnings(runs: pd.DataFrame) -> dict[str, list[str]]:
    """Return the warnings of each run that has any."""
    return {row["run"]: str(row["warnings"]).splitlines() for row in records(runs.dropna(subset="warnings"))}
