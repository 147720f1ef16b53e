"""How numbers are written for people."""

from math import floor, log10

import pandas as pd

#: Relative gap below which two measurements are not told apart: what MLCommons' results pages say remains of
#: the noise of most benchmarks.
TIE = 0.05


def is_tie(ratio: float) -> bool:
    """Return whether two measurements of this ratio are a tie."""
    return 1 - TIE < ratio < 1 + TIE


def number(value: float | None, digits: int = 3) -> str:
    """Return `value` with `digits` significant digits, thousands parted, no exponent; an em dash for nothing."""
    if value is None or pd.isna(value):
        return "—"
    rounded = float(f"{value:.{digits - 1}e}")  # 9.996 has the decimals of 10.0
    decimals = digits if rounded == 0 else max(0, digits - 1 - floor(log10(abs(rounded))))
    return f"{value:,.{decimals}f}"
