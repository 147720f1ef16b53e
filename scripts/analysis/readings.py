"""How words of articles are read: one table for all studies, written before the figures are looked at. Pure.

A word says by how much one value is above or below another. "More than twice" and "at least 10 %" say that themselves
and are no part of it: such a claim has its own `factor`.
"""

from collections.abc import Mapping
from math import inf, nextafter
from typing import Any

#: Word -> (least, most): how many times the larger value is the smaller one.
WORDS: dict[str, tuple[float, float]] = {
    "same": (1, 1.05),
    "similar": (1, 1.1),
    "slightly": (1, 1.1),
    "significantly": (1.1, inf),
    "much": (1.5, inf),
    "much, much": (3, inf),
}

#: Twice, half, 3 x, "about 5 x", "almost twice": so far on both sides, as a share.
TIMES = 0.125

#: Often: in this share of the cases.
OFTEN = 0.5


def limits(claim: Mapping[str, Any]) -> tuple[float, float] | None:
    """Return between which ratios of cell over than a claim holds, None where any difference does."""
    if "between" in claim:
        return tuple(claim["between"])
    if "times" in claim:
        least, most = claim["times"] * (1 - TIMES), claim["times"] * (1 + TIMES)
    elif "word" in claim:
        least, most = WORDS[claim["word"]]
    elif "factor" in claim:
        least, most = nextafter(claim["factor"], inf), inf  # more than
    else:
        return None
    if claim["check"] in ("more", "less"):
        least = max(least, nextafter(1, inf))  # equal is neither
    if claim["check"] == "more":
        return least, most
    if claim["check"] == "less":
        return 1 / most, 1 / least
    return 1 / most, most


def words(claim: Mapping[str, Any]) -> str:
    """Return in words how those of a claim are read; empty where they need no reading."""
    said = []
    if "times" in claim:
        low, high = (claim["times"] * (1 + side) for side in (-TIMES, TIMES))
        said.append(f"{claim['times']:g} times is read as {low:.3g} to {high:.3g}")
    if "word" in claim:
        least, most = WORDS[claim["word"]]
        if most < inf:
            reading = f"no more than {100 * (most - 1):.0f} % apart"
        else:
            reading = f"at least {least:g} times" if least >= 2 else f"by at least {100 * (least - 1):.0f} %"
        said.append(f"{claim['word']} is read as {reading}")
    if claim.get("check") == "alike":
        said.append("a similar pattern is read as the same side of the base, one by one")
    if claim.get("often"):
        said.append(f"often is read as in {100 * OFTEN:.0f} % of the cases")
    if claim.get("by") == "seconds_usd":
        said.append("the winner is read as the least time × cost")
    return "; ".join(said)
