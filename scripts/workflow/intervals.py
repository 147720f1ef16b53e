"""How often something is repeated: `every` as people write it, and as cron and systemd want it."""

import re
from dataclasses import dataclass

from scripts.storage.errors import InputError

#: Unit -> its seconds, and how many of it make the next one: what divides that comes at the same times every day.
_UNITS = {"m": (60, 60), "h": (3_600, 24), "d": (86_400, 1), "w": (604_800, 1)}


@dataclass(frozen=True)
class Interval:
    """An interval as it was typed, in seconds, as five fields of cron, and as systemd's OnCalendar."""

    text: str
    seconds: int
    cron: str
    calendar: str


def interval(text: str) -> Interval:
    """Return the interval of minutes that divide 60 (5m), hours that divide 24 (6h), 1d or 1w. Raises InputError."""
    found = re.fullmatch(r"([1-9]\d?)([mhdw])", text, re.ASCII)
    number, unit = (int(found[1]), found[2]) if found else (0, "")
    seconds, most = _UNITS.get(unit, (0, 1))
    if not number or most % number or (unit in "mh" and number == most):
        raise InputError(f"every: {text!r}: must be minutes that divide 60 (5m), hours that divide 24 (6h), 1d or 1w")
    step = "*" if number == 1 else f"*/{number}"
    cron, calendar = {
        "m": (f"{step} * * * *", f"*:0/{number}"),
        "h": (f"0 {step} * * *", f"0/{number}:00"),
        "d": ("0 0 * * *", "*-*-* 00:00:00"),
        "w": ("0 0 * * 0", "Sun *-*-* 00:00:00"),
    }[unit]
    return Interval(text, number * seconds, cron, calendar)
