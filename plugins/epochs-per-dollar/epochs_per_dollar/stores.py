"""What W&B and MLflow write while a training runs: the file of a run, folders of metrics, a database.

Times are theirs: a file that grows by the block says more than when it grew.
"""

from __future__ import annotations

import json
import os
import sqlite3
import struct
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

#: W&B's file of a run is a LevelDB log: blocks of so many bytes, each record with a checksum, its length and its kind.
_BLOCK_BYTES = 32_768
_HEAD = struct.Struct("<IHB")
_WHOLE, _FIRST, _MIDDLE, _LAST = 1, 2, 3, 4

#: Its own head, and the field of a record that is a row of the history (wandb_internal.proto).
WANDB_HEAD_BYTES = 7
_HISTORY, _ITEM, _KEY, _NESTED_KEY, _VALUE = 3, 1, 1, 2, 16

#: Rows of a database that are read at one look.
_MOST_ROWS = 20_000


class Logged(NamedTuple):
    """A step that was logged: `time.time()` of it, and under which name."""

    at: float
    step: float
    name: str


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


def wandb(data: bytes, offset: int) -> tuple[list[Logged], int]:
    """Return the steps in a part of W&B's file that begins at `offset`, and up to where it is whole."""
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
            found += _history(parts)
            whole = place
    return found, offset + whole


def _fields(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the texts and messages among a message's fields."""
    place = 0
    while place < len(data):
        tag, place = varint(data, place)
        kind = tag & 7
        if kind == 0:
            _, place = varint(data, place)
        elif kind == 2:
            length, place = varint(data, place)
            yield tag >> 3, data[place : place + length]
            place += length
        elif kind in (1, 5):
            place += 8 if kind == 1 else 4
        else:
            raise ValueError("no message")


def _history(record: bytes) -> Iterator[Logged]:
    for number, row in _fields(record):
        if number != _HISTORY:
            continue
        values = {}
        for kind, item in _fields(row):
            if kind == _ITEM:
                named = dict(_fields(item))
                values[named.get(_NESTED_KEY) or named.get(_KEY)] = named.get(_VALUE, b"")
        try:
            yield Logged(float(json.loads(values[b"_timestamp"])), float(json.loads(values[b"_step"])), "W&B")
        except (KeyError, ValueError, TypeError):
            continue


def metric(lines: list[str], name: str) -> Iterator[Logged]:
    """Yield the steps of a file of MLflow's: `milliseconds value step`, one metric a file."""
    for line in lines:
        words = line.split()
        if len(words) == 3:
            yield Logged(float(words[0]) / 1000, float(words[2]), f"MLflow {name}")


def database(path: Path, after: float) -> Iterator[Logged]:
    """Yield the steps that MLflow's database has of times after `after`; none while somebody writes to it."""
    address = f"file:{os.fspath(path)}?mode=ro"
    try:
        with closing(sqlite3.connect(address, uri=True, timeout=0)) as known:
            rows = known.execute(
                "SELECT timestamp, step, key FROM metrics WHERE timestamp > ? AND key NOT LIKE 'system/%' "
                "ORDER BY timestamp LIMIT ?",
                (int(after * 1000), _MOST_ROWS),
            )
            for at, step, key in rows.fetchall():
                yield Logged(at / 1000, float(step), f"MLflow {key}")
    except sqlite3.Error:
        return
