"""The table of facts as a file: one row per run of somebody's logs, columns as `scripts.importers.COLUMNS`."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from scripts.importers import COLUMNS
from scripts.storage import tables
from scripts.storage.errors import InputError
from scripts.storage.files import read_csv, write_text
from scripts.storage.numbers import written
from scripts.storage.words import escaped

#: Columns that older facts lack.
_ADDED = (
    *("precision", "devices", "seconds_from", "cards", "remarks", "read_as", "name", "steps_done", "best", "best_of"),
)

#: Columns that are written where a log was read by the rule of `_seconds`, or says so.
_OF_THE_RULE = ("seconds_from", "cards", "remarks", "read_as", "name", "steps_done", "best", "best_of")

#: Texts that may be missing.
_TEXTS = ("precision", "started_at", "seconds_from", "cards", "remarks", "read_as", "name", "best_of")

#: Facts that may be below 0.
_LOSSES = ("loss", "val_loss", "best")


def _number(place: str, key: str, value: str, whole: bool) -> float | None:
    """Return a finite number, None for nothing."""
    if not value:
        return None
    number = written(value)
    if number is not None and (number.is_integer() or not whole) and (number >= 0 or key in _LOSSES):
        return number
    least = "" if key in _LOSSES else " >= 0"
    raise InputError(f"{place}: {key}: {value!r} must be a {'whole ' if whole else ''}number{least}")


def read(path: Path) -> pd.DataFrame:
    """Return the facts of a CSV file, also of one from before they had a precision or a number of devices.

    Raises InputError with file, line and what is wrong with it.
    """
    header = path.open(encoding="utf-8", errors="replace").readline() if path.is_file() else ""
    there = header.strip().split(",")
    expected = [name for name in COLUMNS if name in there or name not in _ADDED]
    rows = [(place, dict.fromkeys(_ADDED, "") | row) for place, row in read_csv(path, expected, cut=False)]
    table = pd.DataFrame([row for _, row in rows], columns=list(COLUMNS), dtype="string")
    for name, kind in COLUMNS.items():
        if kind == "string":
            table = table.assign(**{name: tables.without_apostrophe(table[name])})
        else:
            numbers = [_number(place, name, row[name], kind == "Int64") for place, row in rows]
            table = table.assign(**{name: pd.Series(numbers, dtype="Float64")}).astype({name: kind})
    table = table.assign(**{name: table[name].replace("", pd.NA) for name in _TEXTS})
    for name in ("workload", "hardware", "framework", "status"):
        if missing := [place for place, row in rows if not row[name]]:
            raise InputError(f"{missing[0]}: {name} is empty")
    tables.check(table, path)
    return table


def runs_of(table: pd.DataFrame) -> pd.DataFrame:
    """Return the runs table of a table of facts: what no log holds stays empty.

    Throughput that a log does not hold is all its samples over its time to train.
    """
    whole = (table["train_samples"] * table["epochs_done"]).astype("Float64") / table["train_seconds"].astype("Float64")
    rate = table["samples_per_second"].astype("Float64").fillna(whole)
    known = {
        "epochs": table["epochs_done"],
        "samples_per_second": rate,
        "global_batch_size": table["batch_size"] * table["devices"],
    }
    return table.assign(**known).reindex(columns=list(tables.columns("runs")))


def write(facts: pd.DataFrame, path: Path) -> None:
    """Write the facts, the same bytes for the same facts: twelve digits at most, no trailing zeros.

    Names of others are `escaped`: a terminal that shows the file obeys nothing in it.
    """
    columns = [name for name in COLUMNS if name not in _OF_THE_RULE or facts.empty or facts[name].notna().any()]
    texts = {name: facts[name].map(escaped, na_action="ignore") for name in columns if COLUMNS[name] == "string"}
    write_text(path, tables.to_csv(facts[columns].assign(**texts).round(9), float_format="%.12g"))


def in_order(facts: pd.DataFrame, study: Mapping[str, Any]) -> pd.DataFrame:
    """Return the facts with workloads in the order of the study's import, and machines in that of its machines."""
    workloads = list(dict.fromkeys([*study["import"].get("workloads", []), *facts["workload"]]))
    machines = list(dict.fromkeys([*study["machines"], *facts["hardware"]]))
    return facts.sort_values(
        ["workload", "hardware", "framework", "repeat"],
        key=lambda column: column.map(
            {"workload": workloads.index, "hardware": machines.index}.get(str(column.name), lambda value: value)
        ),
        ignore_index=True,
    )
