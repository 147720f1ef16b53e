"""The table of facts as a file: one row per run of somebody's logs, columns as `scripts.importers.COLUMNS`."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from scripts.errors import InputError
from scripts.files import write_text
from scripts.importers import COLUMNS


def read(path: Path) -> pd.DataFrame:
    """Return the facts of a CSV file. Raises InputError with the file and what is wrong with it."""
    try:
        table = pd.read_csv(path, dtype="string", keep_default_na=False)
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: not a table of facts: {error}") from error
    if list(table.columns) != list(COLUMNS):
        raise InputError(f"{path}:1: the columns must be {','.join(COLUMNS)}")
    for name, kind in COLUMNS.items():
        if kind == "string":
            continue
        cells = table[name].replace("", pd.NA)
        numbers = pd.to_numeric(cells, errors="coerce")
        bad = numbers.isna() & cells.notna()
        if bad.any():
            row = int(bad.to_numpy().argmax())
            raise InputError(f"{path}:{row + 2}: {name}: {cells.iloc[row]!r} is not a number")
        table = table.assign(**{name: numbers}).astype({name: kind})
    table["started_at"] = table["started_at"].replace("", pd.NA)
    return table


def write(facts: pd.DataFrame, path: Path) -> None:
    """Write the facts, the same bytes for the same facts: seconds to the nanosecond, no trailing zeros."""
    rounded = facts[list(COLUMNS)].round(9)
    write_text(path, rounded.to_csv(index=False, lineterminator="\n", float_format="%.12g"))


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
