"""Tables of throughput: one row per machine, one column per workload, samples a second in the cells.

As Lambda publishes them (github.com/lambdal/deeplearning-benchmark, `pytorch/*.csv`): `<any>throughput<any>.csv`,
and beside it the same name with `bs` for `throughput`, the batch size of each cell over all cards. The first column
names the machine, `num_gpu` or a `4x` in that name its cards. The layout's `columns` name the workload of a column;
others are not read. What counts as a sample differs by column: an image, a sequence, a token. 0 is no measurement. The
precision is that in the file's name.

Keys of the layout's `hardware` are paths as for all logs, of a row that of its table and the row's name:
`tables/throughput-fp16/RTX 3090`; here `*` stands for any text. Rows of one machine are its repeats.
"""

import csv
import io
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from typing import Any

from scripts.importers import Imported, Layout, Problem, _logs
from scripts.importers._logs import Refused, count, finite, number, shown

HELP = "tables of throughput, <...>throughput<...>.csv: a row per machine, a column per workload (Lambda's benchmarks)"

_BATCH_SIZES = re.compile(r"(?<![a-z0-9])bs(?![a-z0-9])")
_CARDS = re.compile(r"(?<![a-zA-Z0-9])(\d{1,3})x ?(?=[A-Z0-9])", re.ASCII)


def read(folder: Path, layout: Layout) -> Imported:
    """Return the runs of the tables below `folder`. Raises InputError if there is no such folder."""
    tables = [PurePosixPath(path.relative_to(folder).as_posix()) for path in folder.rglob("*.csv")]
    used = {key for table in tables for key in _fitting(table.with_suffix(""), layout.hardware)}

    def parse(name: PurePosixPath, text: str) -> Iterator[dict[str, Any] | Refused]:
        table = name.with_name(_BATCH_SIZES.sub("throughput", name.name))
        if table != name and (folder / table).is_file():
            return iter(())  # it is read with the table whose batch sizes it holds
        return _parse(name, text, _batch_sizes(folder, name), layout, used)

    # Each row has a machine of its own, so no file is without one.
    every = replace(layout, hardware={".": ""} if layout.hardware else {})
    imported = _logs.read(folder, every, (".csv",), parse)
    unused = [
        Problem(key, None, "is in the mapping, but no row has such a name")
        for key in sorted(set(layout.hardware) - used)
    ]
    return replace(imported, problems=imported.problems + unused)


def _parse(
    name: PurePosixPath, text: str, batch_sizes: Mapping[tuple[str, str], int], layout: Layout, used: set[str]
) -> Iterator[dict[str, Any] | Refused]:
    """Yield the runs of one table; names of the layout that a row has are added to `used`."""
    header, rows = _rows(text)
    columns = {column: workload for column, workload in layout.columns.items() if column in header[1:]}
    if not columns:
        raise Refused(f"no column is known; known are {', '.join(layout.columns) or 'none'}", 1)
    precision = _logs.precision_of(name)
    empty = True
    for line, row in rows:
        machine = row[header[0]]
        cards = _cards(machine, row, line)
        fitting = _fitting(name.with_suffix("") / machine, layout.hardware)
        if not fitting:
            empty = False
            yield Refused(f"{shown(machine)} is not in the mapping of rows to machines", line)
            continue
        used.add(longest := max(fitting, key=len))
        for column, workload in columns.items():
            rate = finite(number(row[column]))
            empty = empty and rate == 0
            if rate is None or rate < 0:
                yield Refused(f"{column}: {shown(row[column])} is not a number of samples a second", line)
            elif rate > 0:
                size = batch_sizes.get((machine, column))
                yield {
                    "run": f"#{machine}/{column}",
                    "workload": workload,
                    "hardware": layout.hardware[longest],
                    "batch_size": size and count(size / cards),
                    "precision": precision,
                    "devices": cards,
                    "samples_per_second": rate,
                }
    if empty:
        raise Refused("no row has a rate in a column that is known")


def _rows(text: str) -> tuple[list[str], list[tuple[int, dict[str, str]]]]:
    """Return the header and (line, column -> cell) of each row. Raises Refused for what is no such table."""
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        header = [cell.strip() for cell in next(reader, [])]
        if len(set(header)) < len(header):
            raise Refused("a column is given twice", 1)
        rows: list[tuple[int, dict[str, str]]] = []
        for cells in filter(None, reader):
            if len(cells) != len(header):
                raise Refused(f"{len(cells)} cells, but the header has {len(header)}", reader.line_num)
            rows.append((reader.line_num, dict(zip(header, map(str.strip, cells), strict=True))))
    except csv.Error as error:
        raise Refused(f"not CSV: {error}", reader.line_num) from error
    names: set[str] = set()
    for line, row in rows:
        if (machine := row[header[0]]) in names:
            raise Refused(f"{shown(machine)} is given twice", line)
        names.add(machine)
    return header, rows


def _cards(machine: str, row: Mapping[str, str], line: int) -> int:
    """Return how many cards a row's machine has: 1 where neither a column nor its name says it."""
    if "num_gpu" not in row:
        found = _CARDS.findall(machine)
        stated = found[-1] if found else "1"  # LambdaOD_8x_Texas_1xH100: one of eight
    else:
        stated = row["num_gpu"]
    cards = count(number(stated))
    if cards is None:
        raise Refused(f"num_gpu: {shown(stated)} is no count", line)
    return cards


def _fitting(path: PurePosixPath, hardware: Mapping[str, str]) -> set[str]:
    """Return the keys of `hardware` that name a path or a folder above it."""
    places = [str(place) for place in (path, *path.parents)]
    return {key for key in hardware if any(fnmatchcase(place, str(PurePosixPath(key))) for place in places)}


def _batch_sizes(folder: Path, name: PurePosixPath) -> dict[tuple[str, str], int]:
    """Return the batch sizes (samples) by row and column, none without a table of them beside that of `name`."""
    path = folder / name.with_name(name.name.replace("throughput", "bs"))
    if path.name == name.name or not path.is_file():
        return {}
    try:
        header, rows = _rows(path.read_text(encoding="utf-8-sig"))
    except (OSError, UnicodeDecodeError) as error:
        raise Refused(f"{path.name}, its batch sizes, cannot be read: {error}") from error
    except Refused as refused:
        raise Refused(f"{path.name}, its batch sizes, line {refused.line}: {refused}") from refused
    sizes = {(row[header[0]], column): count(number(row[column])) for _, row in rows for column in header[1:]}
    return {cell: size for cell, size in sizes.items() if size is not None}
