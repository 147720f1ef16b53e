"""How numbers are written for people, and which texts are numbers."""

import re
from math import floor, isfinite, isinf, log10
from typing import SupportsFloat

#: Relative gap below which two measurements are the same: what MLCommons' results pages say remains of
#: the noise of most benchmarks.
TIE = 0.05


_WRITTEN = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.ASCII | re.IGNORECASE)


def written(text: str) -> float | None:
    """Return the finite number that a text writes; None where it writes none.

    Not `1_000`, nor the digits of other scripts, which Python takes for numbers too.
    """
    value = float(text) if _WRITTEN.fullmatch(text) else None
    return value if value is not None and isfinite(value) else None


#: No whole number of a file is larger: a float holds it, and its sums and products with others.
LARGEST_WHOLE = 10**100

#: Nor one of a file that a schema describes: columns of whole numbers hold it and its sums, a float all its digits.
LARGEST_COUNT = 2**53


#: What parts the values in a list or a mapping of YAML.
_BETWEEN = re.compile(r"[\[\]{}(),:=\s'\"]+")


def foreign(text: str) -> str | None:
    """Return the first number in digits of another script in a text, which Python, and so Snakemake, takes for one."""
    for one in _BETWEEN.split(text):
        if not one.isascii():
            try:
                float(one)
            except ValueError:
                continue
            return one
    return None


def _is_missing(value: float | None) -> bool:
    """Return whether a value is None, NaN or pandas' NA, without pandas: what shows progress is to start at once."""
    return not isinstance(value, SupportsFloat) or value != value


def number(value: float | None, digits: int = 3) -> str:
    """Return `value` with `digits` significant digits, thousands parted, no exponent; an em dash for nothing."""
    if _is_missing(value):
        return "—"
    rounded = float(f"{value:.{digits - 1}e}")  # 9.996 has the decimals of 10.0
    if isinf(rounded):
        return "∞" if rounded > 0 else "-∞"
    decimals = digits if rounded == 0 else max(0, digits - 1 - floor(log10(abs(rounded))))
    return f"{value:,.{decimals}f}"


#: Counts that have a name.
_NAMED = {10**6: "a million", 10**9: "a billion", 10**12: "a trillion"}


def named(count: int) -> str:
    """Return a count in words where it has a name, else with thousands parted."""
    return _NAMED.get(count, f"{count:,}")


def rounded(value: float | None, digits: int = 3) -> str:
    """Return `value` with `digits` significant digits, zeros for the rest of a large one; an em dash for nothing."""
    if _is_missing(value):
        return "—"
    return number(float(f"{value:.{digits - 1}e}"), digits)


def between(low: float, high: float, digits: int = 3) -> str:
    """Return between which numbers something lies, one where both ends read the same."""
    return " to ".join(dict.fromkeys(rounded(end, digits) for end in (low, high)))


def duration(seconds: float, digits: int = 3) -> str:
    """Return a time in the largest unit that leaves at least two of it: days, hours, minutes or seconds."""
    for unit, size in (("days", 86_400.0), ("h", 3_600.0), ("min", 60.0)):
        if seconds >= 2 * size:
            return f"{number(seconds / size, digits)} {unit}"
    return f"{number(seconds, digits)} s"
