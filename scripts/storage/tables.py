"""The tables of a study as files: parquet for programs, CSV for people, columns as documented."""

from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

from scripts.storage.errors import InputError
from scripts.storage.files import replacing, write_text

_COLUMNS = Path(__file__).resolve().parents[2] / "config" / "schemas" / "tables.yaml"


#: What names a cell, in every table of runs.
CELL = ["workload", "hardware", "framework", "batch_size", "mode", "precision", "devices"]


@cache
def _documented() -> dict[str, dict[str, dict[str, str]]]:
    return yaml.safe_load(_COLUMNS.read_text(encoding="utf-8"))


def columns(table: str) -> dict[str, dict[str, str]]:
    """Return the documented columns of `runs`, `epochs` or `costs`: name -> type, unit, meaning."""
    return _documented()[table]


def records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the rows of a small table as mappings from column to value."""
    return [{str(name): value for name, value in row.items()} for row in frame.to_dict("records")]


def known(key: Iterable[Any]) -> tuple[Any, ...]:
    """Return the key of a group with None for what is missing: a missing number equals nothing, not even itself."""
    return tuple(None if pd.isna(value) else value for value in key)


def cell_of(key: Iterable[Any]) -> dict[str, Any]:
    """Return a cell from the key of a group by `CELL`: axis -> value, None for what a log does not tell."""
    return dict(zip(CELL, known(key), strict=True))


def conform(frame: pd.DataFrame, table: str) -> pd.DataFrame:
    """Return `frame` with exactly the documented columns, order and types of `table`.

    Raises KeyError for a column that is missing, ValueError for one that is not documented.
    """
    documented = columns(table)
    unknown = set(frame.columns) - set(documented)
    if unknown:
        raise ValueError(f"table {table}: column {sorted(unknown)[0]} is not documented in {_COLUMNS}")
    return frame[list(documented)].astype({name: about["type"] for name, about in documented.items()})


def write(frame: pd.DataFrame, table: str, path: Path) -> None:
    """Write the table to `path` (.parquet) and, beside it, as .csv."""
    frame = conform(frame, table)
    write_text(path.with_suffix(".csv"), frame.to_csv(index=False, lineterminator="\n"))
    with replacing(path) as temporary:
        frame.to_parquet(temporary, index=False)


def read(path: Path) -> pd.DataFrame:
    """Return a table that `write` wrote. Raises InputError when the file is not one."""
    try:
        return pd.read_parquet(path)
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: not a table: {error}") from error
