"""Results of MLPerf Training: the table that `logs` of this article writes and `scores` scores."""

from pathlib import Path
from typing import Any

import pandas as pd

from scripts.storage import tables
from scripts.storage.errors import InputError
from scripts.storage.schemas import read_yaml
from scripts.studies.definition import ROOT

#: Columns of the table of results and their types. Text is empty and a number missing where nothing gives it.
COLUMNS = {
    "round": "string",
    "submitter": "string",
    "system": "string",  # as its folder is named; of v0.5 the path of it
    "benchmark": "string",
    "division": "string",  # closed or open
    "availability": "string",  # cloud, on-premise, available, preview or research
    "card": "string",  # a name of config/mlperf/cards.yaml; empty if none fits
    "accelerators": "Int64",
    "nodes": "Int64",
    "cpu": "string",
    "framework": "string",  # as the submitter writes it
    "batch_size": "Int64",  # global
    "factor": "Float64",  # of scaling.json, 1 without one
    "seconds": "string",  # of each run, from run_start to run_stop, parted by blanks; x: it failed
    "init_seconds": "Float64",  # median: what MLPerf's clock leaves out
    "date": "string",  # of the last run
    "logs": "string",  # SHA-256 (first 16 digits) over the SHA-256 of each log, in the order of their names
}

#: What the card of a system without any is called.
CPU = "cpu"

_NUMBERS = [name for name, kind in COLUMNS.items() if kind != "string"]

CARDS = ROOT / "config" / "mlperf" / "cards.yaml"
_SERIES = CARDS.with_name("series.yaml")


def labels() -> dict[str, str]:
    """Return what the cards are called by name."""
    return {name: card["label"] for name, card in read_yaml(CARDS, "mlperf-cards")["cards"].items()}


def series() -> dict[str, Any]:
    """Return the project's own series and rounds."""
    found: dict[str, Any] = read_yaml(_SERIES, "mlperf-series")
    return found


def read(path: Path) -> pd.DataFrame:
    """Return a table of results that was written as CSV. Raises InputError where it is none."""
    try:
        table = pd.read_csv(path, dtype=COLUMNS, keep_default_na=False, na_values={name: [""] for name in _NUMBERS})
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: no table of results: {error}") from error
    if missing := COLUMNS.keys() - set(table):
        raise InputError(f"{path}: column {min(missing)} is missing")
    for name in map(str, table.select_dtypes("string")):
        table[name] = tables.without_apostrophe(table[name])
    return table
