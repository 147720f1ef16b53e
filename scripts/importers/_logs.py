"""What all importers share: finding the logs, knowing their machine, refusing one without losing the others."""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from math import isfinite
from pathlib import Path, PurePosixPath
from typing import Any

import pandas as pd

from scripts.importers import COLUMNS, EPOCHS, Imported, Layout, Problem
from scripts.storage.axes import IN_LOGS, NAME, NAME_WORDS
from scripts.storage.errors import InputError
from scripts.storage.tables import bounds, in_words

_NUMBER = re.compile(r"[+-]?(?:(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?|nan|inf|infinity)", re.ASCII | re.IGNORECASE)

#: What names of files and folders say of the precision -> as the runs table calls it.
_PRECISIONS = {"fp32": "float32", "tf32": "tf32", "fp16": "float16", "bf16": "bfloat16"}
_PRECISION = re.compile(rf"(?<![a-z0-9])({'|'.join(_PRECISIONS)})(?![a-z0-9])")

#: No count of a log is larger; beyond, a number is a fault.
_LARGEST_COUNT = 10**12


class Refused(ValueError):
    """A log, or one run of it, that is not taken over, and the line (from 1) that shows why."""

    def __init__(self, message: str, line: int | None = None) -> None:
        super().__init__(message)
        self.line = line


#: Path of a log and its text -> columns of each run. Raised, `Refused` refuses the log; as an item, one run.
Parse = Callable[[PurePosixPath, str], Iterable[dict[str, Any] | Refused]]


def number(text: str) -> float | None:
    """Return the number that `text` writes, nan and inf included; None if it writes none."""
    text = text.strip()
    return float(text) if _NUMBER.fullmatch(text) else None


def finite(value: Any) -> float | None:
    """Return `value` if it is a finite number, else None (a table holds no nan)."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return float(value) if isfinite(value) else None
    except OverflowError:
        return None


def count(value: Any) -> int | None:
    """Return `value` as a count of samples, batches or epochs; None if it is none."""
    as_float = finite(value)
    if as_float is None or as_float != int(as_float) or not 0 < as_float <= _LARGEST_COUNT:
        return None
    return int(as_float)


def shown(text: str) -> str:
    """Return a piece of a log for a message: quoted, in one line, not too long."""
    return repr(text if len(text) <= 40 else text[:40] + "...")


def precision_of(name: PurePosixPath) -> str | None:
    """Return the precision that the path of a log names, the part nearest the log first; None if it names none."""
    for part in (name.stem, *reversed(name.parts[:-1])):
        if found := _PRECISION.search(part):
            return _PRECISIONS[found[1]]
    return None


def from_json(text: str, line: int = 1) -> Any:
    """Return the JSON value that begins in `line`. Raises Refused with the line of a fault."""
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise Refused(f"broken JSON: {error.msg}", line + error.lineno - 1) from error
    except (ValueError, RecursionError) as error:
        raise Refused(f"broken JSON: {error}", line) from error


def read(folder: Path, layout: Layout, suffixes: tuple[str, ...], parse: Parse, lenient: bool = False) -> Imported:
    """Return the runs of all logs below `folder` with one of `suffixes`; hidden files are none.

    `lenient`: bytes that are no text are passed over, as they stand in lines beside those that are read. Raises
    InputError if there is no such folder.
    """
    if not folder.is_dir():
        raise InputError(f"{folder}: no such folder")
    rows: list[dict[str, Any]] = []
    problems: list[Problem] = []
    machines, frameworks = _by_path(layout.hardware), _by_path(layout.framework)
    strangers: set[str] = set()
    used: set[PurePosixPath] = set()
    first: dict[tuple[str, ...], str] = {}
    for name in _names(folder, suffixes):
        place, machine = _nearest(name, machines)
        if place is None:
            strangers.add(str(name.parent))
            continue
        framework_place, framework = _nearest(name, frameworks)
        used |= {place} | ({framework_place} if framework_place else set())
        given = {"hardware": machine, "framework": framework, "workload": layout.workload}
        try:
            found = _runs(folder, name, parse, given, lenient)
        except Refused as refused:
            found = [refused]
        # A log that was copied beside itself is no second measurement.
        keys = ("sha256", "workload", "hardware", "framework")
        whose = [tuple(item[key] for key in keys) for item in found if isinstance(item, dict)]
        if whose and first.setdefault(whose[0], str(name)) != str(name):
            problems.append(Problem(_printable(name), None, f"the same bytes as {first[whose[0]]}: counted once"))
            continue
        several = len(found) > 1
        for index, item in enumerate(found, start=1):
            if isinstance(item, Refused):
                problems.append(Problem(_printable(name), item.line, str(item)))
            else:
                rows.append({"run": f"#{index}" if several else "", "file": str(name), **item})
    known = ", ".join(sorted(layout.hardware)) or "none"
    problems += [
        Problem(place, None, f"holds logs, but is not in the mapping of folders to machines; known are {known}")
        for place in sorted(strangers)
    ]
    problems += [
        Problem(str(place), None, f"is in the mapping, but holds no log ({', '.join(suffixes)})")
        for place in sorted((machines.keys() | frameworks.keys()) - used)
    ]
    _name(rows)
    return Imported(_table(rows), problems, _epochs(rows))


def _names(folder: Path, suffixes: tuple[str, ...]) -> list[PurePosixPath]:
    """Return the paths of the logs below `folder`, sorted."""
    paths = (path for path in folder.rglob("*") if path.suffix.lower() in suffixes and not path.is_dir())
    names = (PurePosixPath(path.relative_to(folder).as_posix()) for path in paths)
    return sorted(name for name in names if not any(part.startswith(".") for part in name.parts))


def _by_path(mapping: Mapping[str, str]) -> dict[PurePosixPath, str]:
    return {PurePosixPath(key): value for key, value in mapping.items()}


def _nearest(name: PurePosixPath, mapping: Mapping[PurePosixPath, str]) -> tuple[PurePosixPath | None, str | None]:
    """Return the longest key that names the log, without its suffix, or a folder above it, and its value."""
    for place in (name.with_suffix(""), *name.parents):
        if place in mapping:
            return place, mapping[place]
    return None, None


def _runs(
    folder: Path, name: PurePosixPath, parse: Parse, given: Mapping[str, str | None], lenient: bool
) -> list[dict[str, Any] | Refused]:
    """Return the runs of one log, or what refuses one of them. Raises Refused for the whole log."""
    path = folder / name
    if _printable(name) != str(name):
        raise Refused("the name is not UTF-8")
    if not path.is_file():  # a pipe would wait for ever
        raise Refused("not a file")
    try:
        data = path.read_bytes()
    except OSError as error:
        raise Refused(f"cannot be read: {error.strerror}") from error
    log = {"sha256": hashlib.sha256(data).hexdigest(), "hardware": given["hardware"]}
    return [log | _completed(run, given) if isinstance(run, dict) else run for run in parse(name, _text(data, lenient))]


def _printable(name: PurePosixPath) -> str:
    return str(name).encode("utf-8", "backslashreplace").decode("utf-8")


def _text(data: bytes, lenient: bool) -> str:
    if not data.strip():
        raise Refused("the file is empty", 1)
    if lenient:
        return data.decode("utf-8-sig", errors="replace").replace("\0", "\ufffd")
    if b"\0" in data:
        raise Refused("binary, not text", data.count(b"\n", 0, data.index(b"\0")) + 1)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise Refused(f"not UTF-8: byte 0x{data[error.start]:02x}", line) from error


def _completed(run: dict[str, Any], given: Mapping[str, str | None]) -> dict[str, Any]:
    """Return `run` with workload and framework. Raises Refused where neither log nor layout give one."""
    names = {
        "workload": run.get("workload") or given["workload"],
        "framework": given["framework"] or run.get("framework"),
    }
    for key, name in names.items():
        if name is None:
            raise Refused(f"the log names no {key}, so the import must")
        if not re.fullmatch(NAME, name):
            raise Refused(f"{key}: {shown(name)} is not {NAME_WORDS}")
    for column, value in run.items():
        if COLUMNS.get(column) in ("Int64", "Float64") and value is not None:
            least, most = bounds(column)
            if not (isfinite(value) and least <= value <= most):
                raise Refused(f"{column}: {value:g} must be {in_words(least, most)}")
    started = run.get("started_at")
    return run | names | {"started_at": started if started and _is_time(started) else None}


def _is_time(text: str) -> bool:
    try:
        return bool(datetime.fromisoformat(text))
    except ValueError:
        return False


def _name(rows: list[dict[str, Any]]) -> None:
    """Give every run its name: the path of its log without the suffix, unless two logs share that."""
    stems = {row["file"]: str(PurePosixPath(row["file"]).with_suffix("")) for row in rows}
    twice = {stem for stem, files in Counter(stems.values()).items() if files > 1}
    for row in rows:
        stem = stems[row["file"]]
        row["run"] = (row["file"] if stem in twice else stem) + row["run"]


def _epochs(rows: list[dict[str, Any]]) -> pd.DataFrame:
    epochs = [{"run": row["run"]} | epoch for row in rows for epoch in row.get("epochs", [])]
    return pd.DataFrame(epochs, columns=list(EPOCHS)).astype(EPOCHS)


def _table(rows: list[dict[str, Any]]) -> pd.DataFrame:
    defaults = {"missing_columns": "", "status": "done"}
    runs = pd.DataFrame([defaults | row for row in rows], columns=list(COLUMNS))
    runs["repeat"] = runs.groupby(IN_LOGS, dropna=False).cumcount() + 1
    return runs.astype(COLUMNS)
