"""The noise of the project's own repeated runs."""

from pathlib import Path

import numpy as np
import pandas as pd
import yaml

from scripts.analysis import noise, scale_ups
from scripts.records import known_noise
from scripts.storage import tables

ROOT = Path(__file__).resolve().parents[2]

#: These runs: of a study that was measured anew since, twice, and of the one that took its place.
MEASURED = (
    "reports/noise/two-cores-2026-11-21.csv",
    "reports/noise/two-cores-2026-11-22.csv",
    "reports/published/tables/two-cores/runs.csv",
)

#: Scale-ups that `tests.bench.scale_ups` measured; there once somebody has.
SCALED_UP = ROOT / "reports" / "noise" / "scale-ups.csv"

_NOISE = """\
# How much two runs of one cell differ, by kind of machine: the variance of the logarithm of time, and the degrees of
# freedom by which it holds for a cell (scripts/analysis/noise.py). `make docs` writes that of shared cores from this
# project's own runs; the others are derived once, by the command of their source.
"""


def measured() -> dict[str, pd.DataFrame]:
    """Return the project's own repeated runs that are done, by the file they are in."""
    found = {}
    for file in MEASURED:
        path = ROOT / file
        runs = tables.read_csv("runs", path) if path.name == "runs.csv" else pd.read_csv(path).assign(status="done")
        found[file] = runs[runs["status"] == "done"].dropna(subset="train_seconds")
    return found


def noise_file() -> str:
    """Return what is known of noise (YAML), with that of the project's own repeated runs made anew."""
    known = yaml.safe_load(known_noise.FILE.read_text(encoding="utf-8"))
    own_runs = measured().values()
    found = noise.pooled((np.exp(cell) for cell in noise.of_tables(own_runs)), "")
    assert found is not None
    runs = pd.concat(own_runs)
    months = sorted({started[:7] for started in runs["started_at"]})
    when = " to ".join(dict.fromkeys((months[0], months[-1])))
    machines = ", ".join(sorted(set(runs["cpu_model"])))
    own = {
        "variance": round(found.variance, 8),
        "degrees": round(found.degrees, 4),
        "runs": found.runs,
        "cells": found.cells,
        "of": f"runs of this project's own on two cores ({machines}, {when})",
        "source": list(MEASURED),
    }
    if SCALED_UP.is_file():
        known[noise.SCALE_UPS] = scale_ups.entry(pd.read_csv(SCALED_UP)) | {"source": "reports/noise/scale-ups.csv"}
    return _NOISE + yaml.safe_dump(known | {noise.SHARED_CORES: own}, sort_keys=False)
