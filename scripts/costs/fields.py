"""Fields of the tables that people keep by hand: each is checked with its file, line, key and value."""

import re
from collections.abc import Iterable
from datetime import date

from scripts.storage.errors import InputError
from scripts.storage.numbers import written

NAME = re.compile(r"[A-Za-z0-9 .,_+/()-]{0,100}")
_DATE = re.compile(r"[0-9]{4}(-[0-9]{2}(-[0-9]{2})?)?")  # a source may give no more than its month or year


def number(place: str, key: str, value: str, *, optional: bool = False) -> float:
    """Return a finite number >= 0; NaN for an empty value that is optional."""
    if optional and not value:
        return float("nan")
    number = written(value)
    if number is None or number < 0:
        raise InputError(f"{place}: {key}: {value!r} must be a number >= 0")
    return number


def one_of(place: str, key: str, value: str, allowed: Iterable[str]) -> str:
    if value not in allowed:
        raise InputError(f"{place}: {key}: {value!r} is not allowed: it is one of {', '.join(allowed)}")
    return value


def day(place: str, key: str, value: str) -> str:
    try:
        if not _DATE.fullmatch(value):
            raise ValueError
        date.fromisoformat(value + "YYYY-01-01"[len(value) :])
    except ValueError:
        raise InputError(f"{place}: {key}: {value!r} is not a date (YYYY-MM-DD, YYYY-MM or YYYY)") from None
    if value > date.today().isoformat()[: len(value)]:
        raise InputError(f"{place}: {key}: {value} is in the future")
    return value


def filled(place: str, row: dict[str, str], keys: Iterable[str]) -> None:
    for key in keys:
        if not row[key]:
            raise InputError(f"{place}: {key}: is empty")


def name(place: str, key: str, value: str) -> str:
    """Return a name of a provider, an item or a region: it stands in pages, commands and messages as it is."""
    if not NAME.fullmatch(value):
        raise InputError(
            f"{place}: {key}: {value!r} is not a name: letters, digits, spaces and . , _ + / ( ) - in a line"
        )
    return value


def currency(place: str, value: str) -> str:
    if not re.fullmatch("[A-Z]{3}", value):
        raise InputError(f"{place}: currency: {value!r} is not an ISO 4217 code such as USD")
    return value


def around(place: str, row: dict[str, str], key: str) -> tuple[float, float, float]:
    """Return low, value and high of a key and its range, NaN for a range that is empty."""
    names = (f"{key}_low", f"{key}_high")
    value, (low, high) = number(place, key, row[key]), (number(place, n, row[n], optional=True) for n in names)
    if (low != low) != (high != high) or low > value or high < value:  # NaN is not itself
        given = f"{row[names[0]]!r}, {row[names[1]]!r}"
        raise InputError(f"{place}: {', '.join(names)}: {given} must be empty, or lie around {key} {value:g}")
    return low, value, high


def once(seen: dict[tuple[str, ...], str], place: str, key: tuple[str, ...]) -> None:
    if key in seen:
        raise InputError(f"{place}: {' '.join(filter(None, key))}: is given in line {seen[key].rpartition(':')[2]} too")
    seen[key] = place
