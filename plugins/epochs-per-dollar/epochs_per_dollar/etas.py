"""What a program itself says of how long it still takes, to be set beside what is worked out."""

from __future__ import annotations

import re

#: One that says so many times more or less than is worked out contradicts it.
APART = 2.0

_CLOCK = r"(?:(?P<days>\d+)\s*days?,\s*)?(?P<clock>\d+(?::\d\d){1,2})\b"
_UNITS = r"(?P<units>(?:\d+(?:\.\d+)?\s*(?:d|h|m|s|days?|hours?|hrs?|min(?:ute)?s?|sec(?:ond)?s?)\b[\s,]*)+)"
_SAID = re.compile(
    rf"(?i)\b(?:eta|remaining(?:[ _]time)?|time[ _]left)\b['\")]?\s*[:=]?\s*['\"(]?\s*(?:{_CLOCK}|{_UNITS})"
)
# tqdm's: `[00:12<01:28, 10.0it/s]`
_BAR = re.compile(r"\[[\d:]+<(?P<clock>\d+(?::\d\d){1,2})")
_PART = re.compile(r"(\d+(?:\.\d+)?)\s*([dhms])")
_SECONDS = {"d": 86_400.0, "h": 3_600.0, "m": 60.0, "s": 1.0}


def read(line: str) -> float | None:
    """Return the seconds that a line says are left, None where it says nothing of them."""
    if "<" in line and (found := _BAR.search(line)):
        return _clock(found["clock"])
    found = _SAID.search(line)
    if not found:
        return None
    if found["clock"]:
        return 86_400.0 * float(found["days"] or 0) + _clock(found["clock"])
    return sum(float(number) * _SECONDS[unit] for number, unit in _PART.findall(found["units"].lower()))


def _clock(text: str) -> float:
    seconds = 0.0
    for part in text.split(":"):
        seconds = 60 * seconds + float(part)
    return seconds


def contradicts(said: float, *worked_out: float) -> bool:
    """Return whether what a program said is far from all that is worked out: of this bar, and of the whole."""
    if said < 10 and min(worked_out) < 10:
        return False  # Seconds before an end are rounded.
    return all(max(said, 1.0) / max(one, 1.0) > APART or max(one, 1.0) / max(said, 1.0) > APART for one in worked_out)
