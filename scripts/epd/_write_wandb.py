"""What a run cost, in the summary of W&B's offline run: a record of its file, where `wandb sync` finds it.

The file is a log of records with checksums. It is written anew with one record more, before that of the run's end, and
takes the place of the old one in one step. It is left alone where the records, written as they were read, are not the
same bytes: then it is not as we know it.
"""

import json
from pathlib import Path

from scripts.importers._recorder import stores
from scripts.importers.formats.mlflow import COST
from scripts.storage.files import write_bytes

#: Fields of a record, and of its summary (wandb_internal.proto).
_NUMBER, _SUMMARY, _EXIT = 1, 3, 18
_UPDATE, _KEY, _VALUE = 1, 1, 16

#: What `wandb sync` leaves beside a file that it has sent, or has begun to.
_SENT = (".synced", ".syncstate")


class LeftAlone(Exception):
    """A file that is not written to, and why."""


def write(path: Path, cost: float) -> bool:
    """Write the dollars of a run, and return whether they were others. Raises LeftAlone where it must not be."""
    if any(path.with_name(path.name + ending).exists() for ending in _SENT):
        raise LeftAlone("wandb sync has sent it, or a part of it, and sends nothing twice")
    data = path.read_bytes()
    head, body = data[: stores.WANDB_HEAD_BYTES], data[stores.WANDB_HEAD_BYTES :]
    try:
        records, _ = stores.wandb_records(body, len(head))
        kinds = [{number for number, _ in stores.fields(record)} for record in records]
    except (ValueError, IndexError) as fault:
        raise LeftAlone("it is no file of W&B's") from fault
    if stores.wandb_file(head, records) != data:
        raise LeftAlone("it ends within a record, or has other checksums than are known")
    ends = [index for index, fields in enumerate(kinds) if _EXIT in fields]
    if not ends:
        raise LeftAlone("its run has no end yet")
    before = [record for record in records[: ends[0]] if not _is_ours(record)]
    number = _number(before[-1]) if before else 0
    ours = _numbered(_message(_SUMMARY, _message(_UPDATE, _message(_KEY, COST.encode()) + _value(cost))), number + 1)
    after = [_numbered(record, number + 2 + index) for index, record in enumerate(records[ends[0] :])]
    new = stores.wandb_file(head, [*before, ours, *after])
    if new == data:
        return False
    write_bytes(path, new)
    return True


def _is_ours(record: bytes) -> bool:
    """Return whether a record was written by us: a number and a summary of one key, and none of W&B's own marks."""
    fields = dict(stores.fields(record))
    if fields.keys() != {_NUMBER, _SUMMARY}:
        return False
    updates = [dict(stores.fields(update)) for _, update in stores.fields(fields[_SUMMARY])]
    return [update.get(_KEY) for update in updates] == [COST.encode()]


def _value(cost: float) -> bytes:
    return _message(_VALUE, json.dumps(float(f"{cost:.6g}")).encode())


def _number(record: bytes) -> int:
    return int(dict(stores.fields(record)).get(_NUMBER, 0))


def _numbered(record: bytes, number: int) -> bytes:
    """Return a record with another number, which stands at its beginning, or with one."""
    rest = record
    if record[:1] == bytes([_NUMBER << 3]):
        _, place = stores.varint(record, 1)
        rest = record[place:]
    return b"".join((bytes([_NUMBER << 3]), stores.to_varint(number), rest))


def _message(field: int, content: bytes) -> bytes:
    return b"".join((stores.to_varint(field << 3 | 2), stores.to_varint(len(content)), content))
