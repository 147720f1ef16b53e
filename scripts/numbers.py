"""How numbers are written for people."""

from math import floor, log10

import pandas as pd


def number(value: float | None, digits: int = 3) -> str:
    """Return `value` with `digits` significant digits, thousands parted, no exponent; an em dash for nothing."""
    if value is None or pd.isna(value):
        return "—"
    decimals = digits if value == 0 else max(0, digits - 1 - floor(log10(abs(value))))
    return f"{value:,.{decimals}f}"
