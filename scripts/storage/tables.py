"""The tables of a study as files: parquet for programs, CSV for people, columns as documented."""

import csv
import io
import re
from collections.abc import Callable, Iterable
from functools import cache
from math import inf, nextafter
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import yaml
from pyarrow import compute, parquet

from scripts.storage.axes import CELL, NAME, NAME_WORDS
from scripts.storage.errors import InputError
from scripts.storage.files import read_text, replacing
from scripts.storage.numbers import written

#: Columns that tables have since the first step is part of the time to train.
_SINCE_2026_11 = {"spawn_seconds", "exit_seconds", "published_samples", "published_seconds", "is_training"}

#: What a spreadsheet would take for a formula, as the first character of a text: an apostrophe is put before it.
_FORMULA = re.compile(r"^('*[=+\-@\t\r])")

_RETURN = re.compile(r"\r\n?")
_TO_QUOTE = re.compile(r'[,"\n]')

#: Of a table of millions of rows, so many are in memory as text.
_ROWS_AT_ONCE = 50_000

#: How a run may have ended.
STATUSES = (
    *("done", "disturbed", "diverged", "learned_nothing", "out_of_memory", "killed", "failed", "timed_out"),
    *("preempted", "quota", "no_capacity", "unread"),
)


def _one_of(*words: str) -> tuple[str, str]:
    return "|".join(words), f"one of {', '.join(words)}"


#: What a column of any table may hold: a pattern, and that in words.
_ALLOWED = {
    **dict.fromkeys(("workload", "hardware", "framework"), (NAME, NAME_WORDS)),
    "price_option": ("[a-z0-9][a-z0-9-]*", "a name: small letters, digits and -"),
    "mode": _one_of("stock", "tuned", "sparse", "plain_lstm", "tuned, not compiled", "sparse, not compiled"),
    "precision": _one_of("float32", "tf32", "bfloat16", "float16", "fp8", "mxfp8", "nvfp4"),
    "data": _one_of("real", "synthetic", "own"),
    "status": _one_of(*STATUSES),
}

#: Numbers that may be infinite: of a training that diverges, and of a machine that is never saved.
_BOUNDLESS = {"loss", "val_loss", "checkpoint_seconds"}

#: What no row lacks.
_NEEDED = ("run", "workload", "hardware", "framework", "status", "price_option")

#: The least and the most that a column of numbers may hold, where it is not 0 and anything.
_RANGES = {
    **dict.fromkeys(("loss", "val_loss", "best", "seed", "gpu_temperature_c"), (-inf, inf)),
    **dict.fromkeys(("acc", "val_acc"), (0, 1)),
    **dict.fromkeys(("samples_fraction", "data_fraction"), (nextafter(0, 1), 1)),
    **dict.fromkeys(("batch_size", "global_batch_size", "devices", "repeat", "epochs", "attempt", "cores"), (1, inf)),
    **dict.fromkeys(("gpu_percent", "gpu_throttle_percent", "cpu_pressure_percent"), (0, 100)),
}

#: How far differences of two readings of a clock may lie below 0 (s).
_SLACK_SECONDS = 0.5

#: What a column of each type holds, in words, and whether a type of Arrow is of that kind.
_KINDS: dict[str, tuple[str, Callable[[pa.DataType], bool]]] = {
    "string": ("text", lambda kind: pa.types.is_string(_values(kind)) or pa.types.is_large_string(_values(kind))),
    "boolean": ("true or false", pa.types.is_boolean),
    **dict.fromkeys(
        ("Int64", "Float64"), ("numbers", lambda kind: pa.types.is_integer(kind) or pa.types.is_floating(kind))
    ),
}

#: More than any study has: a few bytes of parquet may stand for more than any memory holds.
_MOST_ROWS = 10_000_000

_COLUMNS = Path(__file__).resolve().parents[2] / "config" / "schemas" / "tables.yaml"


def _values(kind: pa.DataType) -> pa.DataType:
    """Return the type of a column's values, of texts that are stored once each too."""
    return kind.value_type if pa.types.is_dictionary(kind) else kind


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
    """Return a cell from the key of a group by `CELL`: axis -> value, None for what a log does not record."""
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


def to_csv(frame: pd.DataFrame, float_format: str | None = None) -> str:
    """Return a table of any columns as the text of a CSV: no text in it is a formula for a spreadsheet."""
    texts = frame.select_dtypes(["object", "string", "category"])
    plain: dict[str, Any] = {str(name): texts[name].map(_no_formula).astype(object) for name in texts}
    frame = frame.assign(**plain).rename(columns=_no_formula)
    return frame.to_csv(index=False, lineterminator="\n", float_format=float_format)


def _no_formula(value: Any) -> Any:
    return _FORMULA.sub(r"'\1", value) if isinstance(value, str) else value


def without_apostrophe(column: "pd.Series[str]") -> "pd.Series[str]":
    """Return texts of a CSV as they were before an apostrophe kept them from being formulas."""
    return column.str.replace(r"^'('*[=+\-@\t\r])", r"\1", regex=True)


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
    value = _no_formula(_RETURN.sub("\n", value))
    return '"' + value.replace('"', '""') + '"' if _TO_QUOTE.search(value) else value


def check(frame: pd.DataFrame, source: str | Path) -> None:
    """Raise InputError for what a column cannot hold: a name, a word, a number that is not finite or out of its range.

    Tables come from others too: what their names are, paths and ids are made of. What has a status is a table of runs,
    a row each.
    """
    for name in map(str, frame.columns):
        if name in _NEEDED and frame[name].isna().any():
            raise InputError(f"{source}: {name}: is empty in row {int(frame[name].isna().to_numpy().argmax()) + 1}")
        if name in _ALLOWED:
            pattern, words = _ALLOWED[name]
            for value in frame[name].dropna().unique():
                if not isinstance(value, str) or not re.fullmatch(pattern, value):
                    raise InputError(f"{source}: {name}: {value!r} is not {words}")
        elif pd.api.types.is_numeric_dtype(frame[name].dtype) and not pd.api.types.is_bool_dtype(frame[name].dtype):
            values = frame[name].dropna().to_numpy(dtype=float)
            if name not in _BOUNDLESS and not np.isfinite(values).all():
                raise InputError(f"{source}: {name}: {values[~np.isfinite(values)][0]} is not a finite number")
            least, most = bounds(name)
            if (outside := values[(values < least) | (values > most)]).size:
                raise InputError(f"{source}: {name}: {outside[0]:g} must be {in_words(least, most)}")
    if {"run", "status"} <= set(frame) and (again := frame["run"].duplicated()).any():
        name = frame["run"][again].iloc[0]
        first, second, *_ = (number for number, one in enumerate(frame["run"], 1) if one == name)
        raise InputError(f"{source}: run: {name!r} is there twice, in rows {first} and {second}")


def bounds(name: str) -> tuple[float, float]:
    """Return the least and the most that a column of numbers may hold."""
    return _RANGES.get(name, (-_SLACK_SECONDS if name.endswith("_seconds") else 0, inf))


def in_words(least: float, most: float) -> str:
    """Return the bounds of a column in words."""
    return f"{max(0, round(least, 9)):g} or more" if most == inf else f"from {max(0, round(least, 9)):g} to {most:g}"


def read(path: Path) -> pd.DataFrame:
    """Return a table that `write` wrote, named by its file; one of another name is read as it is.

    Raises InputError when the file is not one.
    """
    if path.exists() and not path.is_file():  # a pipe would never end
        raise InputError(f"{path}: is not a file")
    try:
        if (rows := parquet.read_metadata(path).num_rows) > _MOST_ROWS:
            raise InputError(f"{path}: {rows:,} rows are more than a study has")
        _check_kinds(path)
        frame = pd.read_parquet(path)
        if path.stem in _documented():
            frame = conform(_completed(frame, path.stem), path.stem)
    except KeyError as error:
        raise InputError(f"{path}: {error.args[0]}; the columns are those of docs/tables.md") from error
    except (OSError, ValueError, TypeError, OverflowError, NotImplementedError, pa.ArrowException) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{path}: not a table: {error}") from error
    check(frame, path)
    return frame


def _check_kinds(path: Path) -> None:
    """Raise InputError where a column of a documented table (.parquet) is of another kind: texts where numbers belong.

    pandas would make texts of numbers and of lists. A column without a value may be of any kind.
    """
    documented = _documented().get(path.stem, {})
    for column in parquet.read_schema(path):
        about = documented.get(column.name)
        if about and not _KINDS[about["type"]][1](column.type) and not pa.types.is_null(column.type):
            raise InputError(f"{path}: {column.name}: holds {column.type}, must hold {_KINDS[about['type']][0]}")


def _completed(frame: pd.DataFrame, table: str) -> pd.DataFrame:
    """Return a table with the columns that were `added` since it was written."""
    lacking = [name for name, about in columns(table).items() if "added" in about and name not in frame]
    return frame.reindex(columns=[*frame.columns, *lacking]) if lacking else frame


def _whole(path: Path, numbers: set[str]) -> str:
    """Return the text of a CSV file.

    Raises InputError where a column is there twice, a part of a row is missing, or a value of `numbers` is no number:
    pandas would take it for one that is not known.
    """
    text = read_text(path).removeprefix("\ufeff")
    if not text:
        raise InputError(f"{path}: is empty")
    if not text.endswith("\n"):
        raise InputError(f"{path}: ends within its last row: it was cut")
    rows = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        header = next(rows)
        if twice := [name for name in header if header.count(name) > 1]:
            raise InputError(f"{path}: column {twice[0]} is there twice")
        for row in rows:
            if row and len(row) != len(header):
                raise InputError(f"{path}:{rows.line_num}: this row does not have {len(header)} values")
            for name, value in zip(header, row, strict=False):
                if value and name in numbers and written(value) is None and not _is_infinite(name, value):
                    raise InputError(f"{path}:{rows.line_num}: {name}: {value!r} is not a number")
    except csv.Error as error:
        raise InputError(f"{path}:{rows.line_num}: not CSV: {error}") from error
    return text


def _is_infinite(name: str, value: str) -> bool:
    return name in _BOUNDLESS and value in ("inf", "-inf")


def read_csv(table: str, path: Path) -> pd.DataFrame:
    """Return a table from a CSV as `write` wrote it, of whatever date: a column that was `added` since may be missing.

    Raises InputError that names the file and what is wrong.
    """
    types = {name: about["type"] for name, about in columns(table).items()}
    text = _whole(path, {name for name, kind in types.items() if kind in ("Int64", "Float64")})
    try:
        frame = pd.read_csv(io.StringIO(text), dtype=types, keep_default_na=False, na_values=[""])
        for name in map(str, frame.select_dtypes("string")):
            frame[name] = without_apostrophe(frame[name])
        if {"train_seconds", "first_step_seconds"} <= set(frame) and not _SINCE_2026_11 & set(frame):
            # Until 2026-11 the time to train had no first step.
            frame["train_seconds"] = frame["train_seconds"] + frame["first_step_seconds"].fillna(0.0)
        frame = conform(_completed(frame, table), table)
    except KeyError as error:
        raise InputError(f"{path}: {error.args[0]}; the columns are those of docs/tables.md") from error
    except (OSError, ValueError, TypeError, OverflowError) as error:
        raise InputError(f"{path}: not the table {table}: {error}") from error
    check(frame, path)
    return frame
