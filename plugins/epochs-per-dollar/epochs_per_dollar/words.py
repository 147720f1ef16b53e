"""Numbers as people say them."""

from __future__ import annotations

import re
from datetime import date, datetime, timedelta, timezone
from math import prod

#: No time, count or price of a training is as large.
LARGEST = 1e15

_NUMBER = re.compile(r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[-+]?[0-9]+)?", re.IGNORECASE)
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_AMOUNT = re.compile(r"\s*([0-9]+(?:\s*[x*]\s*[0-9]+)*)(?:\s+([A-Za-z]+))?\s*")


def seconds(value: float) -> str:
    """Return a duration in two units: 0.42 s, 8.2 s, 3 min 12 s, 5 h 20 min, 3 d 4 h."""
    if value < 10:
        return f"{value:.2g} s" if value < 1 else f"{value:.1f} s"
    whole = round(value)
    for size, large, small, inner in ((86400, "d", "h", 3600), (3600, "h", "min", 60), (60, "min", "s", 1)):
        if whole >= size:
            rest = (whole % size) // inner
            return f"{whole // size} {large}" + (f" {rest} {small}" if rest else "")
    return f"{whole} s"


def usd(value: float) -> str:
    """Return dollars with three digits that count: 1,230 USD, 12.3 USD, 0.0123 USD."""
    if value >= 100:
        return f"{value:,.0f} USD"
    if value >= 1:
        return f"{value:.2f} USD"
    return f"{value:.3g} USD" if value >= 1e-4 else f"{value:.1e} USD"


def count(value: float) -> str:
    """Return a count: 1,234,567, or 12.5 where it is no whole number."""
    return f"{value:,.0f}" if abs(value - round(value)) < 1e-9 or value >= 1000 else f"{value:.3g}"


def rate(per_second: float, unit: str) -> str:
    """Return a rate, as seconds a unit where that is the larger number: 21.4 steps/s, 3.2 s a step."""
    if per_second >= 1:
        return f"{per_second:,.3g} {plural(unit)}/s" if per_second < 1000 else f"{per_second:,.0f} {plural(unit)}/s"
    return f"{seconds(1 / per_second)} a{'n' if unit[:1] in 'aeiou' else ''} {unit}"


def number(text: str) -> float:
    """Return a number as it is written, and none (NaN) for what Python takes beside: `1_0`, digits of other scripts."""
    return float(text) if _NUMBER.fullmatch(text) else float("nan")


def amount(text: str) -> tuple[float, str] | None:
    """Return how many, and of what, a text such as `12x1024 tokens` says; None for what is no amount above 0."""
    found = _AMOUNT.fullmatch(text)
    each = prod(map(float, re.findall("[0-9]+", found[1]))) if found else 0.0
    return (each, found[2] or "") if found and 0 < each < LARGEST else None


def is_day(text: str) -> bool:
    """Return whether a text is a day as ISO 8601 writes it, in the digits 0 to 9, and not to come anywhere on earth."""
    try:
        tomorrow = datetime.now(timezone.utc).date() + timedelta(days=1)
        return bool(_DAY.fullmatch(text)) and date.fromisoformat(text) <= tomorrow
    except ValueError:
        return False


def harmless(text: str) -> str:
    """Return a text of others as a terminal shows it, and a table does not reckon with it."""
    shown = "".join(sign if sign.isprintable() else "\ufffd" for sign in text)
    return f"'{shown}" if shown.startswith(("=", "+", "-", "@")) else shown


def plural(unit: str) -> str:
    """Return the name of more than one of a unit."""
    return unit if unit.endswith("s") or unit == "percent" else f"{unit}s"
