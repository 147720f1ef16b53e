"""By how much items became cheaper, from one price book to another."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from scripts.costs import book
from scripts.storage.errors import InputError


def _rate(cut: Mapping[str, Any], name: str, rows: book.Rows, purchase: str) -> float:
    """Return an item's hourly rate in a price book. Raises InputError if it has none, or several."""
    wanted = {"provider": cut["provider"], "item": cut["item"], "purchase": purchase, "per": "hour"}
    rates = [row["rate"] for row in rows if wanted.items() <= row.items()]
    if len(rates) != 1:
        raise InputError(f"price_cuts: {cut['item']!r}: book {name} has {len(rates)} {purchase} rates, not one")
    return float(rates[0])


def tables(
    study: Mapping[str, Any],
    runs: pd.DataFrame,
    costs: pd.DataFrame,
    prices: pd.DataFrame,
    given: Mapping[str, book.Rows],
) -> dict[str, pd.DataFrame]:
    """Return no table: a cut is a figure."""
    return {}


def figures(
    study: Mapping[str, Any], derived: Mapping[str, pd.DataFrame], given: Mapping[str, book.Rows]
) -> dict[str, float]:
    """Return the part by which each item's rate fell."""
    found = {}
    for name, cut in study["price_cuts"].items():
        before = _rate(cut, cut["before"], given[cut["before"]], "on-demand")
        after = _rate(cut, cut["after"], given[cut["after"]], cut.get("after_purchase", "on-demand"))
        found[f"price_cut_{name}"] = 1 - after / before
    return found
