"""What a program itself says of how long it still takes, to be set beside what is worked out."""

from __future__ import annotations

import re
from typing import NamedTuple

#: One that says so many times more or less than is worked out contradicts it.
APART = 2.0

#: More than a hundred years (s) nobody waits.
_MOST = 3.2e9

_CLOCK = r"(?:(?P<days>\d+)\s*days?,\s*)?(?P<clock>\d+(?::\d\d){1,2})\b"
_UNITS = r"(?P<units>(?:\d+(?:\.\d+)?\s*(?:d|h|m|s|days?|hours?|hrs?|min(?:ute)?s?|sec(?:ond)?s?)(?![A-Za-z])[\s,]*)+)"
_SAID = re.compile(
    rf"(?i)\b(?:eta|remaining(?:[ _]time)?|time[ _]left)\b['\")]?\s*[:=]?\s*['\"(]?\s*(?:{_CLOCK}|{_UNITS})"
)
# `2.1 hours left`, `1h 2m remaining`
_BEHIND = re.compile(rf"(?i)(?<![\d.:]){_UNITS}(?:left|remaining)\b")
# tqdm's: `[00:12<01:28, 10.0it/s]`
_BAR = re.compile(r"\[[\d:]+<(?P<clock>\d+(?::\d\d){1,2})")
_PART = re.compile(r"(\d+(?:\.\d+)?)\s*([dhms])")
_SECONDS = {"d": 86_400.0, "h": 3_600.0, "m": 60.0, "s": 1.0}


class Left(NamedTuple):
    """So many seconds or more, and less than `unit` more: what is below the least unit that is printed is cut."""

    seconds: float
    unit: float

    @property
    def middle(self) -> float:
        return self.seconds + self.unit / 2


def read(line: str) -> Left | None:
    """Return what a line says is left, None where it says nothing of it."""
    left = _read(line)
    return left if left and left.seconds < _MOST else None


def _read(line: str) -> Left | None:
    if "<" in line and (found := _BAR.search(line)):
        return Left(_clock(found["clock"]), 1.0)
    found = _SAID.search(line)
    if found and found["clock"]:
        return Left(86_400.0 * float(found["days"] or 0) + _clock(found["clock"]), 1.0)
    if not found and ("left" in line or "remaining" in line):  # else it takes as long as all the rest of a line
        found = _BEHIND.search(line)
    if not found:
        return None
    parts = _PART.findall(found["units"].lower())
    least, unit = parts[-1]
    seconds = sum(float(number) * _SECONDS[name] for number, name in parts)
    return Left(seconds, 0.0 if "." in least else _SECONDS[unit])


def _clock(text: str) -> float:
    seconds = 0.0
    for part in text.split(":"):
        seconds = 60 * seconds + float(part)
    return seconds


def contradicts(said: Left, *worked_out: float) -> bool:
    """Return whether what a program said is far from all that is worked out: of this bar, and of the whole."""
    if said.seconds < 10 and min(worked_out) < 10:
        return False  # Seconds before an end are rounded.
    low, high = max(said.seconds, 1.0), max(said.seconds + said.unit, 1.0)
    return all(low / max(one, 1.0) > APART or max(one, 1.0) / high > APART for one in worked_out)
