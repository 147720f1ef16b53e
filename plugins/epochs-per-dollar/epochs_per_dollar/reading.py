"""A record as it is read again: keys once, and each field that is read of the kind and size that a session writes."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime
from typing import Any, NamedTuple

from epochs_per_dollar import words


class RecordError(Exception):
    """A record that no session wrote; the text says which key, its value, and what is allowed."""


#: Letters of a text: the path of a file is no longer.
_LONGEST = 4096


class _Kind(NamedTuple):
    allowed: str
    is_one: Callable[[Any], bool]


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and len(value) <= _LONGEST


def _is_time(value: Any) -> bool:
    try:
        return _is_text(value) and words.is_day(value[:10]) and bool(datetime.fromisoformat(value))
    except ValueError:
        return False


def _are_cards(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(one, dict) and _is_text(one.get("name")) for one in value)


def _or_null(kind: _Kind) -> _Kind:
    return _Kind(f"{kind.allowed}, or null", lambda value: value is None or kind.is_one(value))


_TEXT = _Kind(f"a text of at most {_LONGEST:,} letters", _is_text)
_TIME = _Kind("a time (ISO 8601) that is not to come", _is_time)
_TEXTS = _Kind("a list of texts", lambda value: isinstance(value, list) and all(map(_is_text, value)))
_MAPPING = _Kind("a mapping", lambda value: isinstance(value, dict))
_ABOVE_0 = _Kind("a number above 0", lambda value: _is_number(value) and 0 < value < words.LARGEST)
_FROM_0 = _Kind("a number from 0", lambda value: _is_number(value) and 0 <= value < words.LARGEST)
_WHOLE = _Kind("a whole number", lambda value: _is_whole(value) and abs(value) < words.LARGEST)
_COUNT = _Kind("a whole number from 0 to 1,000,000", lambda value: _is_whole(value) and 0 <= value <= 1_000_000)

#: What `epd bill` and `epd estimate` read, a mapping before what is in it.
_FIELDS = {
    "ended_by": _TEXT,
    "exit_code": _or_null(_WHOLE),
    "seconds": _ABOVE_0,
    "promised_seconds": _or_null(_ABOVE_0),
    "measured_seconds": _or_null(_ABOVE_0),
    "usd_per_hour": _or_null(_ABOVE_0),
    "doubts": _or_null(_TEXTS),
    "progress": _or_null(_MAPPING),
    "progress.unit": _TEXT,
    "progress.source": _TEXT,
    "rate": _or_null(_MAPPING),
    "rate.units_per_second": _ABOVE_0,
    "whole": _or_null(_MAPPING),
    "whole.units": _ABOVE_0,
    "whole.seconds": _or_null(_ABOVE_0),
    "whole.process_seconds": _or_null(_ABOVE_0),
    "per_step": _or_null(_MAPPING),
    "per_step.each": _ABOVE_0,
    "per_step.unit": _TEXT,
    "use": _MAPPING,
    "use.cards": _COUNT,
    "use.peak_gpu_memory_mib": _or_null(_FROM_0),
    "machine": _MAPPING,
    "machine.cores": _COUNT,
    "machine.cards": _Kind("a list of cards, each with its name", _are_cards),
    "provenance": _MAPPING,
    "provenance.ended_at": _TIME,
}


def parse(text: bytes | str) -> Any:
    """Return what a text says in JSON that gives no key twice. Raises RecordError, and ValueError for no JSON."""
    return json.loads(text, object_pairs_hook=_unique)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise RecordError(f"{words.harmless(key[:40])}: is given twice")
        found[key] = value
    return found


def check(record: dict[str, Any]) -> None:
    """Raise RecordError for a field that is read, and that no session writes so; one that is missing is none."""
    for path, kind in _FIELDS.items():
        outer, _, key = path.rpartition(".")
        inside = record.get(outer) if outer else record
        if inside and key in inside and not kind.is_one(inside[key]):
            raise RecordError(f"{path}: {_shown(inside[key])} must be {kind.allowed}")
    if record.get("use", {}).get("cards") == 0 and record.get("machine", {}).get("cards"):
        raise RecordError("use.cards: 0 must be 1 or more, for the machine has cards")


def _shown(value: Any) -> str:
    """Return a value as JSON writes it, cut where it is long."""
    if isinstance(value, (list, dict)) and value:
        return "[...]" if isinstance(value, list) else "{...}"
    text = json.dumps(value)
    return text if len(text) <= 40 else f"{text[:40]}..."
