"""Price books: what a provider charged for what, where, on which day, and who says so.

A book is a CSV file of `config/prices/`; docs/pricing.md lists its columns.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import isnan
from pathlib import Path
from typing import Any

import numpy as np

from scripts.costs import books, fields
from scripts.costs.billing import HOURS_PER_MONTH, Rule
from scripts.costs.terms import Exchange, Terms
from scripts.storage.errors import InputError
from scripts.storage.files import read_csv

#: The columns of a book; a row is one price of one piece of one item.
COLUMNS = (
    "provider",
    "item",
    "region",
    "purchase",
    "rate",
    "rate_low",
    "rate_high",
    "currency",
    "per",
    "as_of",
    "source",
    "inferred",
)
KEY = ["provider", "item", "region", "purchase"]
PURCHASES = ("on-demand", "spot", "month", "setup", "premium", "fee")

_HOURS = {"second": 1 / 3600, "minute": 1 / 60, "hour": 1.0, "month": HOURS_PER_MONTH}
#: The rows of price books. No table: a quote looks up a few of them, and loading pandas would take longer.
Rows = Sequence[Mapping[str, Any]]

_PER = {purchase: tuple(_HOURS) for purchase in PURCHASES} | {"setup": ("once",), "premium": ("share",)}


def read(files: Iterable[Path]) -> list[dict[str, Any]]:
    """Return the rows of the books; where two books price the same, the first one counts.

    Keys as in `COLUMNS`, `rate`, `rate_low` and `rate_high` as numbers (NaN where there is no range).
    Raises InputError with file, line, key and value.
    """
    found: dict[tuple[str, ...], dict[str, Any]] = {}
    for file in files:
        rows, seen = [], {}  # type: list[dict[str, Any]], dict[tuple[str, ...], str]
        books.check(file)
        for place, row in read_csv(file, COLUMNS):
            fields.filled(place, row, ("provider", "item", "source"))
            for key in KEY[:3]:
                fields.name(place, key, row[key])
            fields.one_of(place, "purchase", row["purchase"], PURCHASES)
            fields.one_of(place, "per", row["per"], _PER[row["purchase"]])
            fields.day(place, "as_of", row["as_of"])
            fields.currency(place, row["currency"])
            low, rate, high = fields.around(place, row, "rate")
            fields.once(seen, place, tuple(row[key] for key in KEY))
            rows.append(row | {"rate": rate, "rate_low": low, "rate_high": high})
        _check_spot(file, rows)
        for row in rows:
            found.setdefault(tuple(row[key] for key in KEY), row)
    return list(found.values())


def _check_spot(file: Path, rows: list[dict[str, Any]]) -> None:
    """Raise InputError for a spot price above that of the same hour on demand: one of the two is wrong."""
    by_purchase = {tuple(row[key] for key in (*KEY, "currency", "per")): row["rate"] for row in rows}
    for row in rows:
        usual = by_purchase.get((*(row[key] for key in KEY[:3]), "on-demand", row["currency"], row["per"]))
        if row["purchase"] == "spot" and usual is not None and row["rate"] > usual:
            where = " ".join(filter(None, (row["provider"], row["item"], row["region"])))
            raise InputError(f"{file}: {where}: rate: spot {row['rate']:g} is above on-demand {usual:g}")


@dataclass(frozen=True)
class Price:
    """What one hour of a machine costs (USD), with its range, its date, its sources and how it is billed."""

    provider: str
    region: str
    purchase: str
    usd_per_hour: float
    usd_per_hour_low: float
    usd_per_hour_high: float
    rule: Rule
    as_of: str
    source: str
    inferred: str


def _usd_per_hour(row: Mapping[str, Any], worth: Exchange, hours_per_month: float) -> np.ndarray:
    """Return low, rate and high of a row in USD per hour; of a rate that is paid once, in USD."""
    hours = {**_HOURS, "month": hours_per_month, "once": 1.0}[row["per"]]
    return _range(row) * (worth.usd_low, worth.usd, worth.usd_high) / hours


def _range(row: Mapping[str, Any]) -> np.ndarray:
    return np.array([row["rate"] if isnan(row[name]) else row[name] for name in ("rate_low", "rate", "rate_high")])


def _offer(rows: Rows, item: str, purchase: str, region: str) -> Mapping[str, Any] | None:
    """Return the row of an item: that of the region, else that of no region; None without one."""
    offers = [row for row in rows if row["item"] == item and row["purchase"] == purchase]
    if region:
        offers = [row for row in offers if row["region"] == region] or [row for row in offers if not row["region"]]
    if len(offers) > 1:
        raise InputError(_ambiguous(offers[0]["provider"], item, offers))
    return offers[0] if offers else None


def _ambiguous(provider: str, items: str, offers: Rows) -> str:
    regions = ", ".join(sorted({row["region"] for row in offers} - {""}))
    return f"price of {provider} {items}: region: must be given: there are {regions}"


def rent(
    rows: Rows,
    terms: Terms,
    provider: str,
    items: Mapping[str, float],
    purchase: str,
    region: str = "",
    premium: str = "",
    fee: str = "",
    hours_per_month: float = HOURS_PER_MONTH,
    months: float = 1.0,
    sustained_use: bool = False,
) -> Price | None:
    """Return the price of a machine made of `items` (name -> pieces: a host and what is added to it).

    The sum of all pieces in USD. A `premium` is a share of the host's price, the first item's, on top; a
    monthly `fee` is spread over `hours_per_month`, a set-up over `months` of them. Without a region, an
    item's only row counts.
    With `sustained_use` each item costs what it does on average of `hours_per_month`, if that discount reaches it.
    None when an item has no such row: the machine is not offered so. `as_of` is that of the oldest price.
    Raises InputError where a region must be given.
    """
    book = [row for row in rows if row["provider"] == provider]
    parts: list[tuple[Mapping[str, Any], float]] = []
    for item, pieces in items.items():
        offer = _offer(book, item, purchase, region)
        if offer is None:
            return None
        parts.append((offer, pieces))
        setup = _offer(book, item, "setup", offer["region"]) if purchase == "month" else None
        if setup is not None:
            parts.append((setup, pieces / (hours_per_month * months)))
    flat = _offer(book, fee, "fee", region) if fee else None
    if fee and flat is None:
        return None
    if flat:
        parts.append((flat, 1))
    on_top = _offer(book, premium, "premium", region) if premium else None
    if premium and on_top is None:
        return None
    used = [row for row, _ in parts] + ([on_top] if on_top else [])
    regions = {row["region"] for row in used} - {""}
    if len(regions) > 1:
        raise InputError(_ambiguous(provider, " + ".join(items), used))
    paid = [(row, pieces, terms.exchange(row["currency"], row["as_of"])) for row, pieces in parts]
    shares = [
        terms.sustained_use_share(provider, row["item"], hours_per_month) if sustained_use else 1.0 for row, _ in parts
    ]
    hourly = np.array(
        [
            _usd_per_hour(row, worth, hours_per_month) * pieces * share
            for (row, pieces, worth), share in zip(paid, shares, strict=True)
        ]
    )
    low, rate, high = map(float, hourly.sum(axis=0) + (hourly[0] * _range(on_top) if on_top else 0.0))
    as_of = min(row["as_of"] for row in used)
    sources = [row["source"] for row in used] + [worth.source for row, _, worth in paid if row["currency"] != "USD"]
    notes = [(row["item"], row["inferred"]) for row in used] + [
        (row["currency"], worth.inferred) for row, _, worth in paid
    ]
    return Price(
        provider=provider,
        region="".join(regions),
        purchase=purchase,
        usd_per_hour=rate,
        usd_per_hour_low=low,
        usd_per_hour_high=high,
        rule=terms.rule(provider, as_of),
        as_of=as_of,
        source="; ".join(dict.fromkeys(sources)),
        inferred="; ".join(dict.fromkeys(f"{name}: {how}" for name, how in notes if how)),
    )
