"""What can be rented today, one row an offer: the table that the recorder of any command carries with it."""

from collections.abc import Iterable, Mapping
from typing import Any

from scripts.costs.book import Rows
from scripts.costs.terms import Terms

COLUMNS = (
    "provider",
    "item",
    "card",
    "cards",
    "cores",
    "region",
    "purchase",
    "usd_per_hour",
    "as_of",
    "increment_seconds",
    "minimum_seconds",
)

_PURCHASES = ("on-demand", "spot")


def newest(rows: Rows, machines: Iterable[Mapping[str, str]], terms: Terms) -> list[dict[str, Any]]:
    """Return the newest price of each of `machines` (provider, item, card, cards, cores), by region and purchase.

    Rows are those of price books, in any order. A machine of two items, as a host and a card that is attached to it
    (`n1-standard-8 + nvidia-tesla-v100`), costs what both cost, and its price is as old as the older one.
    """
    last: dict[tuple[str, ...], Mapping[str, Any]] = {}
    for row in sorted(rows, key=lambda row: row["as_of"]):
        if row["purchase"] in _PURCHASES and row["per"] == "hour" and row["currency"] == "USD":
            last[row["provider"], row["item"], row["region"], row["purchase"]] = row
    found = []
    for machine in machines:
        first, *others = machine["item"].split(" + ")
        for provider, item, region, purchase in sorted(last):
            if (provider, item) != (machine["provider"], first):
                continue
            pieces = [last.get((provider, piece, region, purchase)) for piece in (first, *others)]
            if None in pieces:
                continue
            priced = [piece for piece in pieces if piece is not None]
            as_of = min(piece["as_of"] for piece in priced)
            rule = terms.rule(provider, as_of)
            found.append(
                {
                    **machine,
                    "region": region,
                    "purchase": purchase,
                    "usd_per_hour": round(sum(piece["rate"] for piece in priced), 6),
                    "as_of": as_of,
                    "increment_seconds": rule.increment_seconds,
                    "minimum_seconds": rule.minimum_seconds,
                }
            )
    return found
