"""What is known of the noise of machines, and the project's own repeated runs that show it."""

from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

from scripts.storage import tables

_ROOT = Path(__file__).resolve().parents[2]

#: What is known of the noise of machines, by their kind; `make docs` writes that of the project's own runs.
FILE = _ROOT / "config" / "noise.yaml"

#: These runs: of a study on a loaded machine that was measured anew since, and of the one that took its place.
MEASURED = ("reports/noise/two-cores-2026-11-21.csv", "reports/published/tables/two-cores/runs.csv")

#: Scale-ups that `tests.bench.scale_ups` measured; there once somebody has.
SCALED_UP = _ROOT / "reports" / "noise" / "scale-ups.csv"


@cache
def by_kind() -> dict[str, Any]:
    """Return what is known of machines by their kind (`config/noise.yaml`)."""
    found: dict[str, Any] = yaml.safe_load(FILE.read_text(encoding="utf-8"))
    return found


def measured() -> dict[str, pd.DataFrame]:
    """Return the project's own repeated runs that are done, by the file they are in."""
    found = {}
    for file in MEASURED:
        path = _ROOT / file
        runs = tables.read_csv("runs", path) if path.name == "runs.csv" else pd.read_csv(path).assign(status="done")
        found[file] = runs[runs["status"] == "done"].dropna(subset="train_seconds")
    return found
