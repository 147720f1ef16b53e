"""What `compare` says of two states of a study whose days are known: false words, and steps that are found.

    python -m tests.simulation.states      (about five minutes; `make simulate` runs it too)

A state is measured in one sitting, or in several on different days: twelve cells, six runs in each sitting, tables of
runs through `states.compare`. A sitting changes each cell by itself, all of them together, or both, as in
tests/simulation/trends.py. Nothing changed between the states, or all cells became 50 % slower.
"""

import json
from datetime import UTC, datetime, timedelta
from math import log
from pathlib import Path

import numpy as np
import pandas as pd
from rich.progress import track

from scripts.analysis import noise, states
from scripts.analysis.states import State
from scripts.document import noise as known_noise
from scripts.storage import tables
from scripts.storage.axes import CELL
from scripts.storage.files import write_text

ROOT = Path(__file__).resolve().parents[2]
OUTPUT = ROOT / "reports" / "states.json"

CELLS, RUNS, STEP = 12, 6, log(1.5)
SITTINGS = (1, 5)

#: Standard deviations of what a sitting does to a cell by itself, and to all cells together.
KINDS = {
    "0 %": (0.0, 0.0),
    "5 % a configuration": (0.05, 0.0),
    "5 % all together": (0.0, 0.05),
    "10 % a configuration": (0.1, 0.0),
}

_START = datetime(2026, 1, 1, tzinfo=UTC)


def state(rng: np.random.Generator, kind: str, sittings: int, first: int, step: float = 0.0) -> State:
    """Return a state of cells of the project's own noise, all as fast, `step` slower, from the day `first` on."""
    alone, together = KINDS[kind]
    known = noise.project()
    scales = np.sqrt(known.degrees * known.variance / rng.chisquare(known.degrees, CELLS))
    of_day = alone * rng.standard_normal((sittings, CELLS)) + together * rng.standard_normal((sittings, 1))
    about = {"workload": "made", "hardware": "machine", "framework": "jax", "mode": "stock", "precision": "float32"}
    about |= {"devices": 1, "status": "done", "cpu_model": "two cores", "epochs": 1}
    rows = [
        about
        | {
            "batch_size": cell + 1,
            "repeat": sitting * RUNS + run + 1,
            "run": f"b{cell + 1}/r{sitting * RUNS + run + 1}",
            "train_seconds": float(np.exp(of_day[sitting, cell] + scales[cell] * rng.standard_normal() + step)),
            "started_at": (_START + timedelta(days=first + sitting, minutes=run * CELLS + cell)).isoformat(),
        }
        for sitting in range(sittings)
        for run in range(RUNS)
        for cell in range(CELLS)
    ]
    nothing = tables.conform(pd.DataFrame(columns=list(tables.columns("costs"))), "costs")
    return State("made", tables.conform(pd.DataFrame(rows, columns=list(tables.columns("runs"))), "runs"), nothing)


def words(rng: np.random.Generator, kind: str, sittings: int, step: float) -> float:
    """Return the share of cells that are said to be slower or faster."""
    found = states.compare(state(rng, kind, sittings, 0), state(rng, kind, sittings, sittings, step))
    return sum(bool(row["time"]["word"]) for row in found["cells"]) / len(found["cells"])


def shares(kind: str, sittings: int, pairs: int, step: float = 0.0, seed: int = 0) -> float:
    """Return the share of cells that are said to have changed, over pairs of states."""
    rng = np.random.default_rng(seed)
    return float(np.mean([words(rng, kind, sittings, step) for _ in range(pairs)]))


def halves() -> dict[str, int]:
    """Return how many cells of `two-cores` are said to have changed from its first sitting to its second.

    The longest time without a run lies between the two.
    """
    runs = tables.read_csv("runs", ROOT / known_noise.MEASURED[-1]).sort_values("started_at")
    second = pd.to_datetime(runs["started_at"]).diff().argmax()
    costs = tables.conform(pd.DataFrame(columns=list(tables.columns("costs"))), "costs")
    old, new = (State("two-cores", part, costs) for part in (runs.iloc[:second], runs.iloc[second:]))
    found = states.compare(old, new)["cells"]
    cells = runs[CELL].drop_duplicates()
    return {"cells": len(cells), "compared": len(found), "changed": sum(bool(row["time"]["word"]) for row in found)}


def main(pairs: int = 300) -> None:
    rows = [
        {
            "kind": kind,
            "sittings": sittings,
            "false": shares(kind, sittings, pairs),
            "found": shares(kind, sittings, pairs // 3, STEP, seed=1),
        }
        for kind in track(KINDS, "states")
        for sittings in SITTINGS
    ]
    write_text(OUTPUT, json.dumps({"pairs": pairs, "rows": rows, "halves": halves()}, indent=1) + "\n")


if __name__ == "__main__":
    main()
