"""Price books: what a provider charged for what, where, on which day, and who says so.

A book is a CSV file of `config/prices/`; docs/pricing.md tells its columns.
"""

import csv
import re
from collections.abc import Iterable
from dataclasses import dataclass
from math import isfinite
from pathlib import Path

import pandas as pd

from scripts.costs.billing import HOURS_PER_MONTH, Rule
from scripts.errors import InputError
from scripts.tables import records

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
_PER = (*_HOURS, "once", "share")
_DATE = re.compile(r"\d{4}(-\d{2}(-\d{2})?)?")  # a source may tell no more than its month or year


def path(name: str) -> Path:
    """Return the file of a book: `name` is one of `config/prices/`, or the path of a .csv file."""
    return Path(name) if name.endswith(".csv") else FOLDER / f"{name}.csv"


def _rows(file: Path, columns: Iterable[str]) -> list[tuple[str, dict[str, str]]]:
    """Return (place in the file, row) of a CSV file with exactly these columns."""
    try:
        with file.open(encoding="utf-8", newline="") as text:
            reader = csv.DictReader(text, strict=True)
            if tuple(reader.fieldnames or ()) != tuple(columns):
                raise InputError(f"{file}:1: the columns must be {','.join(columns)}")
            rows = [(f"{file}:{reader.line_num}", row) for row in reader]
    except FileNotFoundError:
        books = ", ".join(sorted(book.stem for book in FOLDER.glob("*.csv") if book.stem not in _TABLES))
        raise InputError(f"price book {file}: there is no such file; config/prices/ has {books}") from None
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"{file}: not a CSV file: {error}") from error
    for place, row in rows:
        if None in row or None in row.values():
            raise InputError(f"{place}: this row does not have {len(tuple(columns))} values")
    return rows


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
    if not _DATE.fullmatch(value):
        raise InputError(f"{place}: {key}: {value!r} is not a date (YYYY-MM-DD, YYYY-MM or YYYY)")
    return value


def read(files: Iterable[Path]) -> pd.DataFrame:
    """Return the rows of the books; where two books price the same, the first one counts.

    Columns as in `COLUMNS`, `rate`, `rate_low` and `rate_high` as numbers (NaN where there is no range).
    Raises InputError with file, line, key and value.
    """
    books = []
    for file in files:
        rows = []
        for place, row in _rows(file, COLUMNS):
            for key in ("provider", "item", "source"):
                if not row[key]:
                    raise InputError(f"{place}: {key}: is empty")
            _one_of(place, "purchase", row["purchase"], PURCHASES)
            _one_of(place, "per", row["per"], _PER)
            _date(place, "as_of", row["as_of"])
            if not re.fullmatch("[A-Z]{3}", row["currency"]):
                raise InputError(f"{place}: currency: {row['currency']!r} is not an ISO 4217 code such as USD")
            rate = _number(place, "rate", row["rate"])
            low, high = (_number(place, key, row[key], optional=True) for key in ("rate_low", "rate_high"))
            if (low != low) != (high != high) or low > rate or high < rate:  # NaN is not itself
                raise InputError(f"{place}: rate_low and rate_high: must be empty, or lie around the rate {rate:g}")
            rows.append(row | {"rate": rate, "rate_low": low, "rate_high": high})
        frame = pd.DataFrame(rows, columns=list(COLUMNS))
        twice = frame[frame.duplicated(KEY)]
        if len(twice):
            raise InputError(f"{file}: {' '.join(filter(None, twice.iloc[0][KEY]))}: stands twice")
        books.append(frame)
    return pd.concat(books, ignore_index=True).drop_duplicates(KEY, ignore_index=True)


_BILLING = ("provider", "from", "increment_seconds", "minimum_seconds", "source")
_CURRENCIES = ("currency", "as_of", "usd", "usd_low", "usd_high", "source", "inferred")
_TABLES = ("billing", "currencies")


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

    def usd(self, currency: str, on: str) -> tuple[float, float, float]:
        """Return what one unit is worth in USD: low, rate, high, by the last rate at or before a date."""
        rows = self.currencies[(self.currencies["currency"] == currency) & (self.currencies["as_of"] <= on)]
        if rows.empty:
            raise InputError(f"{FOLDER / 'currencies.csv'}: {currency} has no rate at or before {on}")
        last = rows.sort_values("as_of").iloc[-1]
        return float(last["usd_low"]), float(last["usd"]), float(last["usd_high"])


def read_terms(folder: Path = FOLDER) -> Terms:
    """Return `billing.csv` and `currencies.csv` of a folder. Raises InputError with file, line, key and value."""
    rules = [
        {
            "provider": row["provider"],
            "from": _date(place, "from", row["from"]) if row["from"] else "",
            "increment_seconds": _number(place, "increment_seconds", row["increment_seconds"]),
            "minimum_seconds": _number(place, "minimum_seconds", row["minimum_seconds"]),
        }
        for place, row in _rows(folder / "billing.csv", _BILLING)
    ]
    currencies = []
    for place, row in _rows(folder / "currencies.csv", _CURRENCIES):
        usd = _number(place, "usd", row["usd"])
        low, high = (_number(place, key, row[key], optional=True) for key in ("usd_low", "usd_high"))
        currencies.append(
            {
                "currency": row["currency"],
                "as_of": _date(place, "as_of", row["as_of"]),
                "usd": usd,
                "usd_low": usd if low != low else low,
                "usd_high": usd if high != high else high,
            }
        )
    return Terms(pd.DataFrame(rules), pd.DataFrame(currencies))


def _in_usd_per_hour(rows: pd.DataFrame, terms: Terms, hours_per_month: float) -> pd.DataFrame:
    """Return low, rate and high of each row in USD per hour (a share stays a share, `once` an amount)."""
    values = {"low": [], "rate": [], "high": []}  # type: dict[str, list[float]]
    for row in records(rows):
        hours = {**_HOURS, "month": hours_per_month}.get(row["per"], 1.0)
        worth = (1.0, 1.0, 1.0) if row["per"] == "share" else terms.usd(row["currency"], row["as_of"])
        bounds = (row["rate_low"], row["rate"], row["rate_high"])
        around = [row["rate"] if pd.isna(bound) else bound for bound in bounds]
        for name, bound, usd in zip(values, around, worth, strict=True):
            values[name].append(float(bound) * usd / hours)
    return rows.assign(**values)


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


def rent(
    rows: pd.DataFrame,
    terms: Terms,
    provider: str,
    items: dict[str, int],
    purchase: str,
    region: str = "",
    premium: str = "",
    hours_per_month: float = HOURS_PER_MONTH,
    months: float = 1.0,
) -> Price | None:
    """Return the price of a machine made of `items` (name -> pieces: a host and what is added to it).

    The sum of host and accelerators in USD; a `premium` is a share added to it all; a set-up fee is spread
    over `months` of `hours_per_month`. Without a region, an item's only row counts. None when an item
    has no such row: the machine is not offered so. `as_of` is that of the oldest price.
    """
    book = rows[(rows["provider"] == provider) & rows["region"].isin([region, ""] if region else rows["region"])]
    wanted = [(item, count, purchase) for item, count in items.items()]
    if premium:
        wanted.append((premium, 1, "premium"))
    found = []
    for item, count, bought in wanted:
        offers = book[(book["item"] == item) & (book["purchase"] == bought)]
        if offers.empty:
            return None
        if len(offers) > 1:
            regions = ", ".join(sorted(offers["region"]))
            raise InputError(f"price of {provider} {item}: region: must be given, it is one of {regions}")
        found.append(offers.assign(count=count))
        if bought == "month":
            setups = book[(book["item"] == item) & (book["purchase"] == "setup")]
            found.append(setups.assign(count=count / (hours_per_month * months)))
    parts = _in_usd_per_hour(pd.concat(found), terms, hours_per_month)
    factor = 1 + parts.loc[parts["per"] == "share", "rate"].sum()
    hourly = parts[parts["per"] != "share"]
    low, rate, high = (float((hourly[bound] * hourly["count"]).sum() * factor) for bound in ("low", "rate", "high"))
    as_of = min(parts["as_of"])
    notes = [f"{row['item']}: {row['inferred']}" for row in records(parts) if row["inferred"]]
    return Price(
        provider=provider,
        region=region or "".join(sorted(set(hourly["region"]))[:1]),
        purchase=purchase,
        usd_per_hour=rate,
        usd_per_hour_low=low,
        usd_per_hour_high=high,
        rule=terms.rule(provider, as_of),
        as_of=as_of,
        source="; ".join(dict.fromkeys(parts["source"])),
        inferred="; ".join(notes),
    )
