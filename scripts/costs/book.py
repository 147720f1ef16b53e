"""Price books: what a provider charged for what, where, on which day, and who says so.

A book is a CSV file of `config/prices/`; docs/pricing.md tells its columns.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from math import isfinite
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from scripts.costs.billing import HOURS_PER_MONTH, Rule
from scripts.storage.errors import InputError
from scripts.storage.files import read_csv
from scripts.storage.tables import records

FOLDER = Path(__file__).resolve().parents[2] / "config" / "prices"

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
_PER = {purchase: tuple(_HOURS) for purchase in PURCHASES} | {"setup": ("once",), "premium": ("share",)}
_DATE = re.compile(r"\d{4}(-\d{2}(-\d{2})?)?")  # a source may tell no more than its month or year


def path(name: str) -> Path:
    """Return the file of a book: `name` is one of `config/prices/`, or the path of a .csv file."""
    return Path(name) if name.endswith(".csv") else FOLDER / f"{name}.csv"


def files(names: str | Iterable[str]) -> list[Path]:
    """Return the files of a config's `book`: one name, or several. Raises InputError for one that is not there."""
    found = [path(name) for name in ([names] if isinstance(names, str) else names)]
    for file in found:
        _there(file)
    return found


def _there(file: Path) -> None:
    if not file.is_file():
        known = ", ".join(sorted(book.stem for book in FOLDER.glob("*.csv") if book.stem not in _TABLES))
        raise InputError(f"price book {file}: there is no such file; config/prices/ has {known}")


def _number(place: str, key: str, value: str, *, optional: bool = False) -> float:
    """Return a finite number >= 0; NaN for an empty value that is optional."""
    if optional and not value:
        return float("nan")
    try:
        number = float(value)
    except ValueError:
        number = -1.0
    if not isfinite(number) or number < 0:
        raise InputError(f"{place}: {key}: {value!r} is not a number from 0")
    return number


def _one_of(place: str, key: str, value: str, allowed: Iterable[str]) -> str:
    if value not in allowed:
        raise InputError(f"{place}: {key}: {value!r} is not allowed: it is one of {', '.join(allowed)}")
    return value


def _date(place: str, key: str, value: str) -> str:
    try:
        if not _DATE.fullmatch(value):
            raise ValueError
        date.fromisoformat(value + "YYYY-01-01"[len(value) :])
    except ValueError:
        raise InputError(f"{place}: {key}: {value!r} is not a date (YYYY-MM-DD, YYYY-MM or YYYY)") from None
    return value


def _filled(place: str, row: dict[str, str], keys: Iterable[str]) -> None:
    for key in keys:
        if not row[key]:
            raise InputError(f"{place}: {key}: is empty")


def _currency(place: str, value: str) -> str:
    if not re.fullmatch("[A-Z]{3}", value):
        raise InputError(f"{place}: currency: {value!r} is not an ISO 4217 code such as USD")
    return value


def _around(place: str, row: dict[str, str], key: str) -> tuple[float, float, float]:
    """Return low, value and high of a key and its range, NaN for a range that is empty."""
    names = (f"{key}_low", f"{key}_high")
    value, (low, high) = _number(place, key, row[key]), (_number(place, n, row[n], optional=True) for n in names)
    if (low != low) != (high != high) or low > value or high < value:  # NaN is not itself
        given = f"{row[names[0]]!r}, {row[names[1]]!r}"
        raise InputError(f"{place}: {', '.join(names)}: {given} must be empty, or lie around {key} {value:g}")
    return low, value, high


def _once(seen: dict[tuple[str, ...], str], place: str, key: tuple[str, ...]) -> None:
    if key in seen:
        raise InputError(f"{place}: {' '.join(filter(None, key))}: is given in line {seen[key].rpartition(':')[2]} too")
    seen[key] = place


def read(files: Iterable[Path]) -> pd.DataFrame:
    """Return the rows of the books; where two books price the same, the first one counts.

    Columns as in `COLUMNS`, `rate`, `rate_low` and `rate_high` as numbers (NaN where there is no range).
    Raises InputError with file, line, key and value.
    """
    books = []
    for file in files:
        rows, seen = [], {}  # type: list[dict[str, Any]], dict[tuple[str, ...], str]
        _there(file)
        for place, row in read_csv(file, COLUMNS):
            _filled(place, row, ("provider", "item", "source"))
            _one_of(place, "purchase", row["purchase"], PURCHASES)
            _one_of(place, "per", row["per"], _PER[row["purchase"]])
            _date(place, "as_of", row["as_of"])
            _currency(place, row["currency"])
            low, rate, high = _around(place, row, "rate")
            _once(seen, place, tuple(row[key] for key in KEY))
            rows.append(row | {"rate": rate, "rate_low": low, "rate_high": high})
        books.append(pd.DataFrame(rows, columns=list(COLUMNS)))
    return pd.concat(books, ignore_index=True).drop_duplicates(KEY, ignore_index=True)


_BILLING = ("provider", "from", "increment_seconds", "minimum_seconds", "source")
_CURRENCIES = ("currency", "as_of", "usd", "usd_low", "usd_high", "source", "inferred")
_TABLES = ("billing", "currencies")
_RULE = _BILLING[:4]


class Exchange(NamedTuple):
    """What one unit of a currency is worth in USD, with its range, who says so, and how it was inferred."""

    usd_low: float
    usd: float
    usd_high: float
    source: str
    inferred: str


@dataclass(frozen=True)
class Terms:
    """How providers round what they bill, and what currencies are worth, each by date."""

    rules: pd.DataFrame
    currencies: pd.DataFrame

    def rule(self, provider: str, on: str) -> Rule:
        """Return the billing rule of a provider at a date (YYYY, YYYY-MM or YYYY-MM-DD)."""
        rows = self.rules[(self.rules["provider"] == provider) & (self.rules["from"] <= on)]
        if rows.empty:
            raise InputError(f"{FOLDER / 'billing.csv'}: provider {provider!r} has no rule for {on}")
        last = rows.sort_values("from").iloc[-1]
        return Rule(last["increment_seconds"], last["minimum_seconds"])

    def exchange(self, currency: str, on: str) -> Exchange:
        """Return what one unit of a currency is worth, by the last rate at or before a date."""
        rows = self.currencies[(self.currencies["currency"] == currency) & (self.currencies["as_of"] <= on)]
        if rows.empty:
            raise InputError(f"{FOLDER / 'currencies.csv'}: {currency} has no rate at or before {on}")
        last = rows.sort_values("as_of").iloc[-1]
        low, usd, high = (float(last[name]) for name in ("usd_low", "usd", "usd_high"))
        return Exchange(low, usd, high, str(last["source"]), str(last["inferred"]))


def read_terms(folder: Path = FOLDER) -> Terms:
    """Return `billing.csv` and `currencies.csv` of a folder. Raises InputError with file, line, key and value."""
    rules, seen = [], {}  # type: list[dict[str, Any]], dict[tuple[str, ...], str]
    for place, row in read_csv(folder / "billing.csv", _BILLING):
        _filled(place, row, ("provider", "source"))
        start = _date(place, "from", row["from"]) if row["from"] else ""
        seconds = {key: _number(place, key, row[key]) for key in ("increment_seconds", "minimum_seconds")}
        try:
            Rule(**seconds)
        except ValueError as error:
            raise InputError(f"{place}: {error}") from error
        _once(seen, place, (row["provider"], start))
        rules.append({"provider": row["provider"], "from": start, **seconds})
    currencies, seen = [], {}
    for place, row in read_csv(folder / "currencies.csv", _CURRENCIES):
        _filled(place, row, ["source"])
        key = (_currency(place, row["currency"]), _date(place, "as_of", row["as_of"]))
        low, usd, high = _around(place, row, "usd")
        _once(seen, place, key)
        bounds = {"usd": usd, "usd_low": usd if low != low else low, "usd_high": usd if high != high else high}
        currencies.append(row | bounds)
    return Terms(pd.DataFrame(rules, columns=list(_RULE)), pd.DataFrame(currencies, columns=list(_CURRENCIES)))


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


def _usd_per_hour(row: dict[str, Any], worth: Exchange, hours_per_month: float) -> np.ndarray:
    """Return low, rate and high of a row in USD per hour; of a rate that is paid once, in USD."""
    hours = {**_HOURS, "month": hours_per_month, "once": 1.0}[row["per"]]
    return _range(row) * (worth.usd_low, worth.usd, worth.usd_high) / hours


def _range(row: dict[str, Any]) -> np.ndarray:
    return np.array([row["rate"] if pd.isna(row[name]) else row[name] for name in ("rate_low", "rate", "rate_high")])


def _offer(rows: list[dict[str, Any]], item: str, purchase: str, region: str) -> dict[str, Any] | None:
    """Return the row of an item: that of the region, else that of no region; None without one."""
    offers = [row for row in rows if row["item"] == item and row["purchase"] == purchase]
    if region:
        offers = [row for row in offers if row["region"] == region] or [row for row in offers if not row["region"]]
    if len(offers) > 1:
        raise InputError(_ambiguous(offers[0]["provider"], item, offers))
    return offers[0] if offers else None


def _ambiguous(provider: str, items: str, offers: Iterable[dict[str, Any]]) -> str:
    regions = ", ".join(sorted({row["region"] for row in offers} - {""}))
    return f"price of {provider} {items}: region: must be given: there are {regions}"


def rent(
    rows: pd.DataFrame,
    terms: Terms,
    provider: str,
    items: Mapping[str, float],
    purchase: str,
    region: str = "",
    premium: str = "",
    fee: str = "",
    hours_per_month: float = HOURS_PER_MONTH,
    months: float = 1.0,
) -> Price | None:
    """Return the price of a machine made of `items` (name -> pieces: a host and what is added to it).

    The sum of all pieces in USD. A `premium` is a share of the host's price, the first item's, on top; a
    monthly `fee` is spread over `hours_per_month`, a set-up over `months` of them. Without a region, an
    item's only row counts.
    None when an item has no such row: the machine is not offered so. `as_of` is that of the oldest price.
    Raises InputError where a region must be given.
    """
    book = records(rows[rows["provider"] == provider])
    parts: list[tuple[dict[str, Any], float]] = []
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
    share = _offer(book, premium, "premium", region) if premium else None
    if premium and share is None:
        return None
    used = [row for row, _ in parts] + ([share] if share else [])
    regions = {row["region"] for row in used} - {""}
    if len(regions) > 1:
        raise InputError(_ambiguous(provider, " + ".join(items), used))
    paid = [(row, pieces, terms.exchange(row["currency"], row["as_of"])) for row, pieces in parts]
    hourly = np.array([_usd_per_hour(row, worth, hours_per_month) * pieces for row, pieces, worth in paid])
    low, rate, high = map(float, hourly.sum(axis=0) + (hourly[0] * _range(share) if share else 0.0))
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
