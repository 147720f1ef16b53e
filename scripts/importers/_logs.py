"""What all importers share: finding the logs, knowing their machine, refusing one without losing the others."""

import hashlib
import json
import re
import struct
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from math import isfinite
from pathlib import Path, PurePosixPath
from statistics import median
from typing import Any

import pandas as pd

from scripts.importers import COLUMNS, EPOCHS, Imported, Layout, Problem, _devices, _seconds, naming
from scripts.storage import numbers, schemas
from scripts.storage.axes import IN_LOGS, NAME, NAME_WORDS
from scripts.storage.errors import InputError
from scripts.storage.files import MOST_BYTES
from scripts.storage.tables import bounds, in_words

_NUMBER = re.compile(r"[+-]?(?:(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?|nan|inf|infinity)", re.ASCII | re.IGNORECASE)

#: What names of files and folders say of the precision -> as the runs table calls it.
_PRECISIONS = {"fp32": "float32", "tf32": "tf32", "fp16": "float16", "bf16": "bfloat16"}
_PRECISION = re.compile(rf"(?<![a-z0-9])({'|'.join(_PRECISIONS)})(?![a-z0-9])")

#: No count of a log is larger; beyond, a number is a fault.
_LARGEST_COUNT = 10**12

#: Digits of a whole number that may be too large.
_MAY_BE_TOO_LARGE = re.compile(rf"\d{{{len(str(numbers.LARGEST_WHOLE))}}}")

#: A file of settings beside a log is no larger (bytes).
_LARGEST_BESIDE = 1 << 20


class Refused(ValueError):
    """A log, or one run of it, that is not taken over, and the line (from 1) that shows why."""

    def __init__(self, message: str, line: int | None = None) -> None:
        super().__init__(message)
        self.line = line


#: Columns of each run of a log. `said`, if it is there, is what the log says of the time (`_seconds.Said`).
Runs = Iterable[dict[str, Any] | Refused]

#: Path of a log and its text -> its runs. Raised, `Refused` refuses the log; as an item, one run.
Parse = Callable[[PurePosixPath, str], Runs]


@dataclass(frozen=True)
class Log:
    """A file that is read: its name below the folder, and its bytes."""

    folder: Path
    name: PurePosixPath
    data: bytes

    @property
    def path(self) -> Path:
        return self.folder / self.name

    @property
    def text(self) -> str:
        """The log as text. Raises Refused for what is none."""
        return text_of(self.data)


#: Name of a log, what is given of it, and what reads its runs -> these.
Keep = Callable[[PurePosixPath, str, Callable[[], list[dict[str, Any] | Refused]]], list[dict[str, Any] | Refused]]

#: A log -> its runs, for those that look at the files beside it, or are no text.
ParseLog = Callable[[Log], Runs]


def number(text: str) -> float | None:
    """Return the number that `text` writes, nan and inf included; None if it writes none."""
    text = text.strip()
    return float(text) if _NUMBER.fullmatch(text) else None


def finite(value: Any) -> float | None:
    """Return `value` if it is a finite number, else None (a table holds no nan). What overflowed is none either."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if abs(value) <= numbers.LARGEST_WHOLE else None


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
        value = json.loads(text)
    except json.JSONDecodeError as error:
        raise Refused(f"broken JSON: {error.msg}", line + error.lineno - 1) from error
    except (ValueError, RecursionError) as error:
        raise Refused(f"broken JSON: {error}", line) from error
    check_whole(value, text, line)
    return value


def check_whole(value: Any, text: str, line: int) -> None:
    """Raise Refused for a whole number within the JSON value of a text that is too large."""
    if not _MAY_BE_TOO_LARGE.search(text):  # a long log is not walked through
        return
    try:
        schemas.check_whole(value, "JSON")
    except InputError as error:
        raise Refused(str(error).removeprefix("JSON: "), line) from error
    except RecursionError as error:
        raise Refused("broken JSON: nested too deep", line) from error


def from_yaml(text: str, name: str) -> Any:
    """Return what the YAML of a log says. Raises Refused for what is none, or a few lines that stand for millions."""
    try:
        return schemas.plain_yaml(text, name)
    except InputError as error:
        raise Refused(str(error).removeprefix(f"{name}: ")) from error


def beside(path: Path) -> dict[str, Any]:
    """Return the mapping that a small file beside a log holds, YAML or JSON by its name; none where there is none.

    A file that is none, a pipe or a device, is not waited for.
    """
    try:
        if not path.is_file() or path.stat().st_size > _LARGEST_BESIDE:
            return {}
        text = path.read_text(encoding="utf-8")
        found = from_yaml(text, path.name) if path.suffix in (".yaml", ".yml") else from_json(text)
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def read(folder: Path, layout: Layout, suffixes: tuple[str, ...], parse: Parse, lenient: bool = False) -> Imported:
    """Return the runs of all logs below `folder` with one of `suffixes`; hidden files are none.

    `lenient`: bytes that are no text are passed over, as they stand in lines beside those that are read. Raises
    InputError if there is no such folder.
    """

    def parse_log(log: Log) -> Runs:
        return parse(log.name, text_of(log.data, lenient))

    return read_logs(folder, layout, suffixes, parse_log)


def read_logs(folder: Path, layout: Layout, suffixes: tuple[str, ...], parse: ParseLog) -> Imported:
    """Return the runs of all logs below `folder` with one of `suffixes`, as `read` does."""
    check(folder)
    return read_each(folder, layout, [(name, parse) for name in log_names(folder, suffixes)], ", ".join(suffixes))


def check(folder: Path) -> None:
    """Raise InputError if there is no such folder."""
    if not folder.is_dir():
        raise InputError(f"{folder}: no such folder")


def read_each(
    folder: Path,
    layout: Layout,
    logs: Sequence[tuple[PurePosixPath, ParseLog]],
    what: str = "of any kind",
    keep: Keep = lambda name, given, read_log: read_log(),
) -> Imported:
    """Return the runs of some logs below `folder`, each read in its own way; `what` says which ones are looked for.

    `keep` may know the runs of a log from before: of its name, and what the study says of its time and its names.
    """
    rows: list[dict[str, Any]] = []
    problems: list[Problem] = []
    machines, frameworks = _by_path(layout.hardware), _by_path(layout.framework)
    seconds, epoch_seconds = _by_path(layout.seconds), _by_path(layout.seconds_per_epoch)
    strangers: set[str] = set()
    used: set[PurePosixPath] = set()
    first: dict[tuple[str, ...], str] = {}
    for name, parse in logs:
        place, machine = _nearest(name, machines)
        if place is None:
            strangers.add(str(name.parent))
            continue
        framework_place, framework = _nearest(name, frameworks)
        used |= {place} | ({framework_place} if framework_place else set())
        given = {"hardware": machine, "framework": framework, "workload": layout.workload}
        time = _seconds.Given(
            _nearest(name, seconds)[1],
            _nearest(name, epoch_seconds)[1],
            _times_of_files(folder / name) if layout.times == "files" else None,
        )
        found = keep(name, f"{given} {time}", partial(_runs, folder, name, parse, given, time))
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
        Problem(str(place), None, f"is in the mapping, but holds no log ({what})")
        for place in sorted((machines.keys() | frameworks.keys()) - used)
    ]
    naming.distinguish(rows)
    _name(rows)
    return Imported(_table(rows), problems, _epochs(rows))


def log_names(folder: Path, suffixes: tuple[str, ...]) -> list[PurePosixPath]:
    """Return the paths of the logs below `folder`, sorted."""
    paths = (path for path in folder.rglob("*") if path.suffix.lower() in suffixes and not path.is_dir())
    names = (PurePosixPath(path.relative_to(folder).as_posix()) for path in paths)
    return sorted(name for name in names if not any(part.startswith(".") for part in name.parts))


def _times_of_files(log: Path) -> tuple[float, float] | None:
    """Return when the oldest and the newest file of a log's folder were written: the first when it began."""
    times = [path.stat().st_mtime for path in log.parent.iterdir() if path.is_file()]
    return (min(times), max(times)) if times else None


def _by_path(mapping: Mapping[str, Any]) -> dict[PurePosixPath, Any]:
    return {PurePosixPath(key): value for key, value in mapping.items()}


def _nearest(name: PurePosixPath, mapping: Mapping[PurePosixPath, Any]) -> tuple[PurePosixPath | None, Any]:
    """Return the longest key that names the log, without its suffix, or a folder above it, and its value."""
    for place in (name.with_suffix(""), *name.parents):
        if place in mapping:
            return place, mapping[place]
    return None, None


def _runs(
    folder: Path, name: PurePosixPath, parse: ParseLog, given: Mapping[str, str | None], time: _seconds.Given
) -> list[dict[str, Any] | Refused]:
    """Return the runs of one log, or what refuses one of them, or all."""
    try:
        return _read(folder, name, parse, given, time)
    except Refused as refused:
        return [refused]
    # A text of hundreds of digits, a field of another kind, brackets without end: the other logs are read all the same.
    except (OverflowError, ValueError, TypeError, AttributeError, LookupError, RecursionError, struct.error) as error:
        return [Refused(f"cannot be read: {error}")]


def _read(
    folder: Path, name: PurePosixPath, parse: ParseLog, given: Mapping[str, str | None], time: _seconds.Given
) -> list[dict[str, Any] | Refused]:
    path = folder / name
    if _printable(name) != str(name):
        raise Refused("the name is not UTF-8")
    if not path.is_file():  # a pipe would wait for ever
        raise Refused("not a file")
    if (size := path.stat().st_size) > MOST_BYTES:
        raise Refused(f"has {size:,} bytes: at most {MOST_BYTES:,} are read")
    try:
        data = path.read_bytes()
    except OSError as error:
        raise Refused(f"cannot be read: {error.strerror}") from error
    log = {"sha256": hashlib.sha256(data).hexdigest(), "hardware": given["hardware"]}
    runs = parse(Log(folder, name, data))
    return [
        log | _completed(_timed(_devices.counted(run, folder, name), time), given) if isinstance(run, dict) else run
        for run in runs
    ]


def _timed(run: dict[str, Any], time: _seconds.Given) -> dict[str, Any]:
    """Return `run` with its seconds, by the one rule for all formats where it says what it knows of its time."""
    if "said" not in run:
        return run
    found = _seconds.find(run["said"], time)
    remarks = [*run.get("notes", ()), *found.remarks]
    each = list(run["said"].epoch_seconds)
    by_epoch = {
        "first_epoch_seconds": each[0] if each else None,
        "median_epoch_seconds": median(each[1:]) if len(each) > 1 else None,
    }
    timed = {"train_seconds": found.seconds, "seconds_from": found.source, "remarks": "; ".join(remarks) or None}
    return by_epoch | {key: value for key, value in run.items() if key not in ("said", "notes")} | timed


def _printable(name: PurePosixPath) -> str:
    return str(name).encode("utf-8", "backslashreplace").decode("utf-8")


def text_of(data: bytes, lenient: bool = False) -> str:
    """Return the text of a log. Raises Refused for what is none; `lenient` passes over bytes that are no text."""
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
