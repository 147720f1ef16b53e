"""What TensorBoard, W&B and MLflow write while a training runs: events, a run's file, metrics, a database.

Times are theirs: a file that grows by the block says more than when it grew. `epd run` reads the last step of these
files while they grow, `epd import` the values of what has ended.
"""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import struct
import tempfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from math import nan
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

#: W&B's file of a run is a LevelDB log: blocks of so many bytes, each record with a checksum, its length and its kind.
_BLOCK_BYTES = 32_768
_HEAD = struct.Struct("<IHB")
_WHOLE, _FIRST, _MIDDLE, _LAST = 1, 2, 3, 4

#: Its own head, and the field of a record that is a row of the history (wandb_internal.proto).
WANDB_HEAD_BYTES = 7
_HISTORY, _ITEM, _KEY, _NESTED_KEY, _VALUE = 3, 1, 1, 2, 16
#: Records of a run and of its configuration, and the latter within the former.
_RUN, _CONFIG, _CONFIG_OF_RUN = 17, 5, 4
#: The record of the machine: the name of its cards, their number, and a message for each card, with its own name.
_ENVIRONMENT, _GPU, _GPU_COUNT, _APPLE, _NVIDIA, _AMD, _TPU = 26, 18, 19, 23, 24, 26, 29
_NAME, _AMD_MODEL, _TPU_COUNT = 1, 9, 4

#: More than a machine has.
_MOST_CARDS = 10_000

#: Letters of a column's default: MLflow's own have less.
_LONGEST_DEFAULT = 100

#: Rows of a database that are read at one look.
_MOST_ROWS = 20_000


#: TensorBoard's: of an event, of its summary, and of a value in it (tensorflow/core/framework/summary.proto).
_SUMMARY, _SCALAR, _TAG, _SIMPLE_VALUE, _TENSOR = 5, 1, 1, 2, 8
#: Of a tensor: numbers as bytes, as floats, as doubles (tensor.proto), and of its kind: float, double.
_CONTENT, _FLOATS, _DOUBLES = 4, 5, 6


class Logged(NamedTuple):
    """A step that was logged: `time.time()` of it, under which name, and the numbers that were logged with it."""

    at: float
    step: float
    name: str
    values: dict[str, float]


def varint(data: bytes, place: int) -> tuple[int, int]:
    """Return a number of protobuf, and where it ends. Raises ValueError or IndexError for none."""
    value = shift = 0
    while True:
        byte = data[place]
        value |= (byte & 0x7F) << shift
        place, shift = place + 1, shift + 7
        if byte < 0x80:
            return value, place
        if shift > 63:
            raise ValueError("no number")


def to_varint(number: int) -> bytes:
    """Return a number as protobuf writes it."""
    found = bytearray()
    while number >= 0x80:
        found.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*found, number])


def wandb(data: bytes, offset: int) -> tuple[list[Logged], int]:
    """Return the steps in a part of W&B's file that begins at `offset`, and up to where it is whole."""
    records, whole = wandb_records(data, offset)
    return [row for record in records for row in _history(record)], whole


def wandb_config(data: bytes) -> dict[str, Any]:
    """Return the configuration in W&B's file after its head: what a run began with, and what was changed since."""
    found: dict[str, Any] = {}
    for record in wandb_records(data, WANDB_HEAD_BYTES)[0]:
        for number, content in fields(record):
            parts = fields(content) if number == _RUN else [(_CONFIG_OF_RUN, content)] if number == _CONFIG else []
            for texts in (_texts(part) for place, part in parts if place == _CONFIG_OF_RUN):
                for key, text in texts.items():
                    try:
                        found[key.decode("utf-8")] = json.loads(text)
                    except (ValueError, TypeError, AttributeError, RecursionError):
                        continue
    return found


def wandb_machine(data: bytes) -> dict[str, Any]:
    """Return the cards in W&B's file after its head, by the words of `wandb-metadata.json`: gpu, gpu_count, gpu_nvidia.

    An offline run of 0.31 has them in a record, and no such file.
    """
    found: dict[str, Any] = {}
    for record in wandb_records(data, WANDB_HEAD_BYTES)[0]:
        for about in (content for number, content in fields(record) if number == _ENVIRONMENT):
            cards = []
            for number, content in fields(about):
                if number == _GPU:
                    found["gpu"] = _text(content)
                elif number == _GPU_COUNT:
                    found["gpu_count"] = content
                elif number in (_NVIDIA, _AMD, _APPLE, _TPU):
                    parts = dict(fields(content))
                    name = _text(parts.get(_AMD_MODEL if number == _AMD else _NAME, b""))
                    count = parts.get(_TPU_COUNT, 1) if number == _TPU else 1
                    if count not in range(_MOST_CARDS + 1):
                        raise ValueError(f"a machine of {str(count)[:20]} cards")
                    cards += [{"name": name}] * count
            found |= {"gpu_nvidia": cards} if cards else {}
    return found


def _text(content: Any) -> str:
    """Return the text of a field. Raises ValueError for a field of another kind."""
    if not isinstance(content, bytes):
        raise ValueError("a number where a text must be")
    return content.decode("utf-8", "replace")


def wandb_file(head: bytes, records: Iterable[bytes]) -> bytes:
    """Return W&B's file of some records, as its own program writes it: the inverse of `wandb_records`."""
    found = bytearray(head)
    for record in records:
        rest, is_first = record, True
        while is_first or rest:
            left = _BLOCK_BYTES - len(found) % _BLOCK_BYTES
            if left < _HEAD.size:
                found += bytes(left)
                left = _BLOCK_BYTES
            part, rest = rest[: left - _HEAD.size], rest[left - _HEAD.size :]
            kind = (_FIRST if rest else _WHOLE) if is_first else (_MIDDLE if rest else _LAST)
            found += _HEAD.pack(zlib.crc32(bytes([kind]) + part), len(part), kind) + part
            is_first = False
    return bytes(found)


def wandb_records(data: bytes, offset: int) -> tuple[list[bytes], int]:
    """Return the records in a part of W&B's file, and up to where it is whole. Raises ValueError for what is none."""
    found, place, whole, parts = [], 0, 0, b""
    while place + _HEAD.size <= len(data):
        left = _BLOCK_BYTES - (offset + place) % _BLOCK_BYTES
        if left < _HEAD.size:
            place += left  # No record begins in the last bytes of a block.
            continue
        _, length, kind = _HEAD.unpack_from(data, place)
        end = place + _HEAD.size + length
        if kind not in (_WHOLE, _FIRST, _MIDDLE, _LAST) or length > left:
            raise ValueError("no record")
        if end > len(data):
            break
        part = data[place + _HEAD.size : end]
        parts = part if kind in (_WHOLE, _FIRST) else parts + part
        place = end
        if kind in (_WHOLE, _LAST):
            found.append(parts)
            whole = place
    return found, offset + whole


def fields(data: bytes) -> Iterator[tuple[int, Any]]:
    """Yield number and content of a message's fields: an int, or bytes."""
    place = 0
    while place < len(data):
        tag, place = varint(data, place)
        kind = tag & 7
        if kind == 0:
            value, place = varint(data, place)
            yield tag >> 3, value
        elif kind == 2:
            length, place = varint(data, place)
            yield tag >> 3, data[place : place + length]
            place += length
        elif kind in (1, 5):
            length = 8 if kind == 1 else 4
            yield tag >> 3, data[place : place + length]
            place += length
        else:
            raise ValueError("no message")


def _history(record: bytes) -> Iterator[Logged]:
    for number, row in fields(record):
        if number != _HISTORY or isinstance(row, int):
            continue
        values = dict(_numbers(_texts(row)))
        try:
            yield Logged(values["_timestamp"], values["_step"], "W&B", values)
        except KeyError:
            continue


def _texts(row: bytes) -> dict[Any, bytes]:
    """Return the names and texts (JSON) of a row, or of a configuration."""
    found = {}
    for kind, item in fields(row):
        if kind == _ITEM and not isinstance(item, int):
            named = dict(fields(item))
            found[named.get(_NESTED_KEY) or named.get(_KEY)] = named.get(_VALUE, b"")
    return found


def _numbers(texts: dict[Any, bytes]) -> Iterator[tuple[str, float]]:
    for key, text in texts.items():
        try:
            yield key.decode("utf-8"), float(json.loads(text))
        except (ValueError, TypeError, AttributeError, OverflowError, RecursionError):
            continue  # No number, or none that a float holds: a picture, a table, a text.


def events(data: bytes) -> tuple[list[Logged], int]:
    """Return the events in a part of TensorBoard's file, and up to where it is whole."""
    found, place = [], 0
    # Each record: its length, a checksum of that, the event, a checksum of it (TensorFlow's TFRecord).
    while place + 12 <= len(data):
        (length,) = struct.unpack_from("<Q", data, place)
        end = place + 12 + length + 4
        if end > len(data):
            break
        event = _event(data[place + 12 : end - 4])
        found += [event] if event else []
        place = end
    return found, place


def _event(data: bytes) -> Logged | None:
    """Return wall time, step and scalars of an event (tensorflow/core/util/event.proto)."""
    wall, step, values = None, 0, {}  # type: float | None, int, dict[str, float]
    for number, content in fields(data):
        if number == 1:
            (wall,) = struct.unpack("<d", content)
        elif number == 2:
            step = content
        elif number == _SUMMARY:
            values = dict(_scalars(content))
    return None if wall is None else Logged(wall, float(step), "TensorBoard", values)


def _scalars(summary: bytes) -> Iterator[tuple[str, float]]:
    for number, one in fields(summary):
        value = dict(fields(one)) if number == _SCALAR else {}
        if _TAG in value and _SIMPLE_VALUE in value:
            yield _text(value[_TAG]), struct.unpack("<f", value[_SIMPLE_VALUE])[0]
        elif _TAG in value and _TENSOR in value:
            tensor = dict(fields(value[_TENSOR]))
            content = tensor.get(_FLOATS) or tensor.get(_DOUBLES) or tensor.get(_CONTENT) or b""
            if len(content) in (4, 8):  # A number; what has more is a picture, a text, a histogram.
                kind = "<f" if len(content) == 4 else "<d"
                yield _text(value[_TAG]), struct.unpack(kind, content)[0]


def metric(lines: Iterable[str], name: str) -> Iterator[Logged]:
    """Yield the steps of a file of MLflow's: `milliseconds value step`, one metric a file; old ones have no step."""
    for line in lines:
        words = line.split()
        if len(words) >= 2:
            step = float(words[2]) if len(words) > 2 else 0.0
            yield Logged(float(words[0]) / 1000, step, f"MLflow {name}", {name: float(words[1])})


#: What of MLflow's metrics are rows: SQLite lets any column hold any type.
METRIC = (
    "typeof(key) = 'text' AND typeof(timestamp) IN ('integer', 'real') AND typeof(step) IN ('integer', 'real') "
    "AND typeof(value) IN ('integer', 'real')"
)


def database(path: Path, after: float, run: str = "", most: int = _MOST_ROWS) -> Iterator[Logged]:
    """Yield the steps that MLflow's database has of times after `after`, of a run or all; none while it is written."""
    try:
        with closing(connect(path)) as known:
            named = {name for (name,) in known.execute("SELECT name FROM pragma_table_info('metrics')")}
            # A value that is no number is kept as 0, with that beside it.
            no_number = "is_nan" if "is_nan" in named else "0"
            asked = (
                f"SELECT timestamp, step, key, value, {no_number} FROM metrics WHERE timestamp > ? "  # noqa: S608
                "AND key NOT LIKE 'system/%' "
                f"AND (? = '' OR run_uuid = ?) AND {METRIC} ORDER BY timestamp LIMIT ?"
            )
            rows = known.execute(asked, (int(after * 1000), run, run, most))
            for at, step, key, value, is_none in rows.fetchall():
                yield Logged(at / 1000, float(step), f"MLflow {key}", {key: nan if is_none else float(value)})
    except sqlite3.Error:
        return


def connect(path: Path) -> sqlite3.Connection:
    """Return a connection to a database that is only read, and never waited for.

    Raises sqlite3.Error where it holds views or the like, whose rows may have no end: what MLflow writes are tables.
    """
    # To read in this mode SQLite would make files beside it, even where nobody writes.
    how = "immutable=1" if _has_log(path) and not _log_bytes(path) else "mode=ro"
    known = sqlite3.connect(f"file:{quote(os.fspath(path))}?{how}", uri=True, timeout=0)
    try:
        check_tables(known, "view")
    except sqlite3.Error:
        known.close()
        raise
    return known


def check_tables(known: sqlite3.Connection, *kinds: str) -> None:
    """Raise sqlite3.Error where a database holds what is of one of some kinds, or is worked out as it is read.

    MLflow writes tables that hold their rows, and indices.
    """
    for name, kind, made in known.execute("SELECT name, type, sql FROM sqlite_master").fetchall():
        if kind in kinds:
            raise sqlite3.DatabaseError(f"{name!r} is a {kind}, and no table")
        if kind != "table":
            continue
        if str(made).upper().startswith("CREATE VIRTUAL"):
            raise sqlite3.DatabaseError(f"{name!r} is a virtual table")
        for column, hidden, default in known.execute(
            "SELECT name, hidden, length(dflt_value) FROM pragma_table_xinfo(?)", (name,)
        ).fetchall():
            if hidden:
                raise sqlite3.DatabaseError(f"column {column!r} of {name!r} is generated")
            if (default or 0) > _LONGEST_DEFAULT:  # it is kept once, and read of each row
                raise sqlite3.DatabaseError(f"column {column!r} of {name!r} has a default of {default:,} letters")


@contextmanager
def at_rest(path: Path) -> Iterator[Path]:
    """Yield where a database can be read with nothing written beside it: a copy where its newest rows are in a log."""
    log = _log(path)
    if not _has_log(path) or not _log_bytes(path):
        yield path
        return
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder, path.name)
        for source, place in ((path, copy), (log, _log(copy))):
            shutil.copyfile(source, place)
        yield copy


def _log(path: Path) -> Path:
    return path.with_name(f"{path.name}-wal")


def _log_bytes(path: Path) -> int:
    """Return the length of a database's log beside it; 0 for none, and for what is no file."""
    log = _log(path)
    return log.stat().st_size if log.is_file() else 0


def _has_log(path: Path) -> bool:
    """Return whether a database is written by way of a log (WAL), by its head."""
    try:
        with path.open("rb") as file:
            return file.read(20)[18:] == b"\2\2"
    except OSError:
        return False
