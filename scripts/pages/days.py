"""Of which days prices are, in words: a price of years ago is none of now."""

from collections.abc import Iterable

from scripts.costs.card_history import KNOWN_DAYS, day_of


def when(as_of: str, newest: str) -> str:
    """Return `now` for a price of at most a year before the `newest` one that a page knows, else of when it is."""
    is_old = bool(as_of and newest) and (day_of(newest) - day_of(as_of)).days > KNOWN_DAYS
    return months([as_of]) if is_old else "now"


def months(days: Iterable[str]) -> str:
    """Return the months of days (YYYY, YYYY-MM or YYYY-MM-DD), the first and the last of several: May to July 2026."""
    ends = sorted(set(days))
    first, last = (f"{day_of(day):%B %Y}" if len(day) > len("YYYY") else day for day in (ends[0], ends[-1]))
    if first == last:
        return first
    month, _, year = first.partition(" ")
    return f"{month if last.endswith(f' {year}') else first} to {last}"
