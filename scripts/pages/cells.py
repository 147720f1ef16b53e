"""All cells of a study, and how far the runs of each lie apart."""

import shlex
from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

import pandas as pd

from scripts.analysis import comparisons, money, summary
from scripts.analysis.names import cell_name
from scripts.pages.inputs import Inputs
from scripts.records.stored import LOG_LINE
from scripts.storage import tables
from scripts.storage.axes import CELL
from scripts.storage.numbers import number
from scripts.studies import definition


def context(inputs: Inputs) -> dict[str, Any]:
    """Return the rows of the cells and the names of their columns; a column without a value is not shown.

    What this project trained is shown per million samples, and its accuracy by itself; what others published is shown
    as they do, by the run and over the base cell.
    """
    table, runs = inputs.cells, inputs.runs
    options = sorted(set(inputs.costs["price_option"]), key=lambda option: (option != inputs.price, option))
    used = table[table["utilisation"].notna()]
    peaks = {f"{inputs.labels[name]}: {inputs.machines[name]['peak_tflops']['source']}" for name in used["hardware"]}
    rows = _with_more(inputs) if inputs.trained else _with_relatives(inputs)
    rows = [row | {"is_ranked": inputs.is_ranked(row)} for row in rows]
    filled = [name for name in ("train_seconds", "val_acc", "samples_per_second") if table[name].notna().any()]
    return {
        "cells": rows,
        "filled": filled,
        "noun": definition.unit(inputs.study),
        "paid_options": []
        if inputs.trained
        else [option for option in inputs.study["prices"] if any(not pd.isna(row["costs"][option]) for row in rows)],
        "computed": bool(peaks),
        "peaks": sorted(peaks),
        "counted": inputs.trained or bool((table["runs"] > 1).any()),
        "first_steps": inputs.trained or bool(table["first_step_seconds"].notna().any()),
        "memory": inputs.trained or bool(table["peak_memory_mib"].notna().any()),
        "cost_columns": {option: summary.cost_column(option) for option in options} if inputs.trained else {},
        "base_name": _base_name(inputs),
        "short_runs": "" if inputs.trained else money.short_runs(inputs.price, inputs.costs),
        "spreads": comparisons.spreads(runs, _repeats(inputs), inputs.study["unstable_above"]),
    }


def _with_more(inputs: Inputs) -> list[dict[str, Any]]:
    """Return the cells with `about`: its clocks, warnings, versions and log, and what trains it again, a line each."""
    groups: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for run in tables.records(inputs.runs):
        groups.setdefault(tables.known(run[axis] for axis in CELL), []).append(run)
    warned = comparisons.warnings(inputs.runs)
    rows = tables.records(inputs.cells)
    return [row | {"about": _about(inputs, groups[tables.known(row[axis] for axis in CELL)], warned)} for row in rows]


def _about(inputs: Inputs, runs: Sequence[Mapping[str, Any]], warned: Mapping[str, list[str]]) -> list[str]:
    clocks = []
    for name, column, unit in (
        ("steady", "samples_per_second", "samples/s"),
        ("training, with the first step", "train_seconds", "s"),
        ("process, start to exit", "total_seconds", "s"),
        ("observed, of that", "observed_seconds", "s"),
    ):
        values = [float(run[column]) for run in runs if run["status"] == "done" and not pd.isna(run[column])]
        if values:
            clocks.append(f"{name}: {number(median(values))} {unit}")
    doubts = [f"{run['run'].rpartition('/')[2]}: {line}" for run in runs for line in warned.get(run["run"], [])]
    versions = [str(runs[-1][name]) for name in ("settings", "packages") if not pd.isna(runs[-1][name])]
    log = "" if pd.isna(runs[-1]["log_tail"]) else runs[-1]["log_tail"]
    ends = [f"log of {runs[-1]['run'].rpartition('/')[2]}: {line}" for line in log.split(LOG_LINE) if line]
    asked = f"study={shlex.quote(inputs.path or inputs.name)}{' tables=' * bool(inputs.study.get('tables'))}"
    record = f"results/{inputs.name}/{runs[-1]['run']}/run.json"
    again = f"again: snakemake --profile profiles/local --config {asked} -R {record}"
    return [*clocks, *doubts[:5], *versions, *ends, again]


def _repeats(inputs: Inputs) -> int:
    """Return how many runs of a cell are one measurement: all of them in logs, which nobody measured once more."""
    return inputs.study["repeats"] if inputs.trained else int(inputs.runs["repeat"].max() if len(inputs.runs) else 1)


def _base_name(inputs: Inputs) -> str:
    if inputs.trained or not inputs.base:
        return ""
    one_framework = inputs.runs["framework"].nunique() == 1
    return cell_name({**inputs.base, "batch_size": None}, inputs.labels, None, one_framework)


def _with_relatives(inputs: Inputs) -> list[dict[str, Any]]:
    """Return the cells with `relative_time`, and by price option `costs` (USD a run) and `relative_costs`."""
    columns = {option: summary.cost_column(option, summary.PER_RUN) for option in inputs.study["prices"]}
    # An option under which nothing is offered has no column.
    table = inputs.cells.reindex(columns=list(dict.fromkeys([*inputs.cells, *columns.values()])))
    times = summary.relative(table, inputs.base, "train_seconds")
    costs = {option: summary.relative(table, inputs.base, column) for option, column in columns.items()}
    return [
        row
        | {
            "about": [],
            "relative_time": times[place],
            "costs": {option: row[column] for option, column in columns.items()},
            "relative_costs": {option: ratios[place] for option, ratios in costs.items()},
        }
        for place, row in enumerate(tables.records(table))
    ]
