"""What can be rented today, one row an offer: the table that the recorder of any command carries with it."""

import re
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


#: A region of Vast: a place, if one is known, the code of its country, and that of its continent.
_OF_VAST = re.compile("(.*), ([A-Z]{2}), [A-Z]{2}")

#: Countries whose machines stand in no place that is known.
_COUNTRIES = {"CA": "Canada", "CN": "China", "US": "the United States"}


def region_name(region: str) -> str:
    """Return a region as people call it: `Vietnam, VN, AS` is Vietnam; of others it is their own name."""
    found = _OF_VAST.fullmatch(region)
    return (found[1] or _COUNTRIES.get(found[2], found[2])) if found else region


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
