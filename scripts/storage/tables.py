"""The tables of a study as files: parquet for programs, CSV for people, columns as documented."""

import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import yaml
from pyarrow import compute

from scripts.storage.axes import CELL
from scripts.storage.errors import InputError
from scripts.storage.files import replacing

#: Columns that tables have since the first step is part of the time to train.
_SINCE_2026_11 = {"spawn_seconds", "exit_seconds", "published_samples", "published_seconds"}

#: What a spreadsheet would take for a formula, as the first character of a text: an apostrophe is put before it.
_FORMULA = re.compile(r"^('*[=+\-@\t\r])")

_RETURN = re.compile(r"\r\n?")
_TO_QUOTE = re.compile(r'[,"\n]')

#: Of a table of millions of rows, so many are in memory as text.
_ROWS_AT_ONCE = 50_000

_COLUMNS = Path(__file__).resolve().parents[2] / "config" / "schemas" / "tables.yaml"


@cache
def _documented() -> dict[str, dict[str, dict[str, str]]]:
    # Every verb reads it: the loader in C takes a tenth of the time.
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    return loader(_COLUMNS.read_text(encoding="utf-8")).get_single_data()


def columns(table: str) -> dict[str, dict[str, str]]:
    """Return the documented columns of `runs`, `epochs` or `costs`: name -> type, unit, meaning, when added."""
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


def cells_of(frame: pd.DataFrame) -> list[tuple[dict[str, Any], np.ndarray]]:
    """Return the cells of a table in order of appearance (`cell_of`), each with the places of its rows.

    What iterates over `groupby` makes a frame for each group, which takes longer than what is asked of a few runs.
    """
    if frame.empty:
        return []
    codes = frame.groupby(CELL, sort=False, dropna=False).ngroup().to_numpy()
    order = np.argsort(codes, kind="stable")
    places = np.split(order, np.flatnonzero(np.diff(codes[order])) + 1)
    places.sort(key=lambda some: some[0])
    keys = frame[CELL].iloc[[some[0] for some in places]].itertuples(index=False, name=None)
    return [(cell_of(key), some) for key, some in zip(keys, places, strict=True)]


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
    with replacing(path.with_suffix(".csv")) as temporary, temporary.open("wb") as file:
        file.write(f"{','.join(frame.columns)}\n".encode())
        for start in range(0, len(frame), _ROWS_AT_ONCE):
            file.write(lines(frame.iloc[start : start + _ROWS_AT_ONCE]))
    with replacing(path) as temporary:
        frame.to_parquet(temporary, index=False)


def lines(frame: pd.DataFrame) -> pa.Buffer:
    """Return rows as lines of CSV (UTF-8), as `DataFrame.to_csv` writes them, in a twentieth of its time."""
    columns = [_texts(column.combine_chunks()) for column in pa.Table.from_pandas(frame, preserve_index=False).columns]
    rows = compute.binary_join_element_wise(*columns, ",", null_handling="replace")
    return compute.binary_join_element_wise(rows, "", "\n").buffers()[2]


def _texts(column: pa.Array) -> pa.Array:
    """Return the values of a column as they are written; missing ones stay missing."""
    if not pa.types.is_floating(column.type):
        return _each_once(column)
    # Between these Arrow writes what Python writes, in a fifth of its time, but for whole numbers, which it cuts.
    size = compute.abs(column)
    plain = compute.and_(compute.greater_equal(size, 1e-4), compute.less(size, 1e10))
    plain = compute.and_(plain, compute.not_equal(column, compute.floor(column)))
    others = compute.fill_null(compute.invert(plain), False)
    return compute.replace_with_mask(column.cast(pa.string()), others, _each_once(column.filter(others)))


def _each_once(column: pa.Array) -> pa.Array:
    """Return the values of a column as they are written, each worked out once: most are met many times."""
    coded = column.dictionary_encode()
    return pa.array(map(_text, coded.dictionary.to_pylist()), pa.string()).take(coded.indices)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        return "" if value != value else str(value)
    value = _FORMULA.sub(r"'\1", _RETURN.sub("\n", value))
    return '"' + value.replace('"', '""') + '"' if _TO_QUOTE.search(value) else value


def read(path: Path) -> pd.DataFrame:
    """Return a table that `write` wrote. Raises InputError when the file is not one."""
    try:
        return pd.read_parquet(path)
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: not a table: {error}") from error


def read_csv(table: str, path: Path) -> pd.DataFrame:
    """Return a table from a CSV as `write` wrote it, of whatever date: a column that was `added` since may be missing.

    Raises InputError that names the file and what is wrong.
    """
    try:
        types = {name: about["type"] for name, about in columns(table).items()}
        frame = pd.read_csv(path, dtype=types, keep_default_na=False, na_values=[""])
        for text in map(str, frame.select_dtypes("string")):
            frame[text] = frame[text].str.replace(r"^'('*[=+\-@\t\r])", r"\1", regex=True)
        if {"train_seconds", "first_step_seconds"} <= set(frame) and not _SINCE_2026_11 & set(frame):
            # Until 2026-11 the time to train had no first step.
            frame["train_seconds"] = frame["train_seconds"] + frame["first_step_seconds"].fillna(0.0)
        for name, about in columns(table).items():
            if "added" in about and name not in frame:
                frame[name] = pd.NA
        return conform(frame, table)
    except KeyError as error:
        raise InputError(f"{path}: {error.args[0]}; the columns are those of docs/tables.md") from error
    except (OSError, ValueError, TypeError) as error:
        raise InputError(f"{path}: not the table {table}: {error}") from error
