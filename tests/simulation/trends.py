"""What the chart of a history does on days whose effects are known: false marks, and steps that are found.

    python -m tests.simulation.trends      (about ten minutes; `make simulate` runs it too)

A history is that of a study of `CELLS` cells, one repetition a day. Its marks come from `trends.days` and its
`changes`, which is what a page has from `trends.judge` and `trends.cells` (a test holds the two to each other), without
the tables that take a hundred times as long. A day changes each cell by itself, all of them together, or both; one day
is like the one before by the correlation. Stable histories of a month are asked for marks, of cells and of all
together; in others one cell is 10 % slower after that month, and found is a mark of it as slower that the month had
not, on the page of the fifth such day; placed is one that is at most two days off.
"""

import json
from math import log
from pathlib import Path

import numpy as np
import pandas as pd
from rich.progress import track

from scripts.analysis import trends
from scripts.analysis.trends import Repetition
from scripts.storage import tables
from scripts.storage.files import write_text

ROOT = Path(__file__).resolve().parents[2]
OUTPUT = ROOT / "reports" / "trends.json"

CELLS, DAYS, WITHIN = 12, 30, 5
STEP = log(1.1)

#: What one run adds to what its day does.
RUN = 0.01

#: Standard deviations of what a day does to a cell by itself, and to all cells together.
KINDS = {
    "1 % a configuration": (0.01, 0.0),
    "5 % a configuration": (0.05, 0.0),
    "5 % all together": (0.0, 0.05),
    "3.5 % a configuration, 3.5 % all together": (0.035, 0.035),
    "5 % a configuration, heavy tails": (0.05, 0.0),
}
CORRELATIONS = (0.0, 0.3, 0.7)


def effects(rng: np.random.Generator, shape: tuple[int, int], correlation: float, has_tails: bool) -> np.ndarray:
    """Return what days do, of unit variance: series x days, each day as correlated with the one before."""
    shocks = rng.standard_t(4, shape) / 2**0.5 if has_tails else rng.standard_normal(shape)
    found = np.empty(shape)
    found[:, 0] = shocks[:, 0]
    for day in range(1, shape[1]):
        found[:, day] = correlation * found[:, day - 1] + (1 - correlation**2) ** 0.5 * shocks[:, day]
    return found


def history(
    rng: np.random.Generator, kind: str, correlation: float, days: int, cells: int = CELLS, runs: int = 1
) -> np.ndarray:
    """Return the logarithms of the times of a stable history: cells x days x runs."""
    alone, together = KINDS[kind]
    tails = "tails" in kind
    of_day = alone * effects(rng, (cells, days), correlation, tails)
    of_day = of_day + together * effects(rng, (1, days), correlation, tails)
    level = rng.standard_normal((cells, 1))
    return (level + of_day)[..., None] + RUN * rng.standard_normal((cells, days, runs))


def repetitions(logs: np.ndarray) -> list[Repetition]:
    """Return a history as the page reads it, without prices."""
    cells, days, runs = logs.shape
    nothing = tables.conform(pd.DataFrame(columns=list(tables.columns("costs"))), "costs")
    about = {"workload": "made", "hardware": "machine", "framework": "jax", "mode": "stock", "precision": "float32"}
    about |= {"devices": 1, "status": "done", "cpu_model": "two cores", "epochs": 1}
    rows = [about | {"batch_size": cell + 1, "repeat": run + 1, "run": f"b{cell + 1}/r{run + 1}"}
            for cell in range(cells) for run in range(runs)]  # fmt: skip
    frame = tables.conform(pd.DataFrame(rows, columns=list(tables.columns("runs"))), "runs")
    return [
        Repetition(f"day {day:03}", frame.assign(train_seconds=np.exp(logs[:, day]).ravel()), nothing, nothing)
        for day in range(days)
    ]


def marks(logs: np.ndarray) -> list[tuple[int, int, str]]:
    """Return the marks of a history: cell (-1: all together), day, word."""
    medians = np.median(logs, axis=2)
    found = trends.days(medians)
    series = [(cell, found.changes(one - found.common)) for cell, one in enumerate(medians)]
    if found.common.any():
        series.append((-1, trends.days(found.common[None]).changes(found.common)))
    return [(cell, one.at, "slower" if one.ratio > 1 else "faster") for cell, changes in series for one in changes]


def marks_of_page(logs: np.ndarray) -> list[tuple[int, int, str]]:
    """Return `marks` as a page has them, from tables of runs."""
    found = repetitions(logs)
    judged = trends.judge(found)
    of_cells = [
        (cell["batch_size"] - 1, one["place"], one["word"])
        for cell in trends.cells(found, judged)
        for one in cell["changes"]
    ]
    return of_cells + [(-1, one["place"], one["word"]) for one in trends.of_all(found, judged)]


def tried(
    kind: str, correlation: float, histories: int, cells: int = CELLS, seed: int = 0
) -> tuple[float, float, float]:
    """Return the false marks a month, and the shares of histories in which the step of one cell is found and placed."""
    rng = np.random.default_rng(seed)
    false = found = placed = 0
    for _ in range(histories):
        false += len(marks(history(rng, kind, correlation, DAYS, cells)))
        logs = history(rng, kind, correlation, DAYS + WITHIN, cells)
        logs[0, DAYS:] += STEP
        new = {*marks(logs)} - {*marks(logs[:, :DAYS])}
        days = [day for cell, day, word in new if cell == 0 and word == "slower"]
        found += bool(days)
        placed += any(abs(day - DAYS) <= 2 for day in days)
    return false / histories, found / histories, placed / histories


def main(histories: int = 1000) -> None:
    rows = []
    for kind in track(KINDS, "histories"):
        for correlation in CORRELATIONS:
            false, found, placed = tried(kind, correlation, histories, seed=7)
            about = {"kind": kind, "correlation": correlation}
            rows.append(about | {"false_marks": false, "found": found, "placed": placed})
    write_text(OUTPUT, json.dumps({"histories": histories, "cells": CELLS, "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
