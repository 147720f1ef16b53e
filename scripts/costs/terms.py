"""The terms of an hour: how providers round what they bill, and what currencies are worth, each by date."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple

from scripts.costs import billing, fields
from scripts.costs.billing import Rule
from scripts.storage.errors import InputError
from scripts.storage.files import read_csv

FOLDER = Path(__file__).resolve().parents[2] / "config" / "prices"

_BILLING = ("provider", "from", "increment_seconds", "minimum_seconds", "source")
_CURRENCIES = ("currency", "as_of", "usd", "usd_low", "usd_high", "source", "inferred")
_SUSTAINED = ("provider", "items", "tiers", "source")

#: What parts of a month are charged at, by the percentage off a whole one.
_TIERS = {"30": billing.N1_TIERS, "20": billing.N2_TIERS}


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

    rules: Sequence[Mapping[str, Any]]
    currencies: Sequence[Mapping[str, Any]]
    #: (provider, beginning of items' names) -> what parts of a month are charged at under the sustained-use discount.
    sustained: Mapping[tuple[str, str], tuple[float, ...]] = field(default_factory=dict)

    def sustained_use_share(self, provider: str, item: str, hours_per_month: float) -> float:
        """Return the share of the list price that an item costs on average; 1 for one that the discount leaves out."""
        for (of, beginning), tiers in self.sustained.items():
            if provider == of and item.startswith(beginning):
                return float(billing.sustained_use_share(hours_per_month, tiers=tiers))
        return 1.0

    def rule(self, provider: str, on: str) -> Rule:
        """Return the billing rule of a provider at a date (YYYY, YYYY-MM or YYYY-MM-DD)."""
        rows = [row for row in self.rules if row["provider"] == provider and row["from"] <= on]
        if not rows:
            raise InputError(f"{FOLDER / 'billing.csv'}: provider {provider!r} has no rule for {on}")
        last = max(rows, key=itemgetter("from"))
        return Rule(last["increment_seconds"], last["minimum_seconds"])

    def exchange(self, currency: str, on: str) -> Exchange:
        """Return what one unit of a currency is worth, by the last rate at or before a date."""
        rows = [row for row in self.currencies if row["currency"] == currency and row["as_of"] <= on]
        if not rows:
            raise InputError(f"{FOLDER / 'currencies.csv'}: {currency} has no rate at or before {on}")
        last = max(rows, key=itemgetter("as_of"))
        return Exchange(*(last[name] for name in Exchange._fields))


def read_terms(folder: Path = FOLDER) -> Terms:
    """Return what `billing.csv`, `currencies.csv` and `sustained-use.csv` of a folder say.

    Raises InputError with file, line, key and value.
    """
    rules: list[dict[str, Any]] = []
    seen: dict[tuple[str, ...], str] = {}
    for place, row in read_csv(folder / "billing.csv", _BILLING):
        fields.filled(place, row, ("provider", "source"))
        start = fields.day(place, "from", row["from"]) if row["from"] else ""
        seconds = {key: fields.number(place, key, row[key]) for key in ("increment_seconds", "minimum_seconds")}
        try:
            Rule(**seconds)
        except ValueError as error:
            raise InputError(f"{place}: {error}") from error
        fields.once(seen, place, (row["provider"], start))
        rules.append({"provider": row["provider"], "from": start, **seconds})
    currencies, seen = [], {}
    for place, row in read_csv(folder / "currencies.csv", _CURRENCIES):
        fields.filled(place, row, ["source"])
        key = (fields.currency(place, row["currency"]), fields.day(place, "as_of", row["as_of"]))
        low, usd, high = fields.around(place, row, "usd")
        fields.once(seen, place, key)
        bounds = {"usd": usd, "usd_low": usd if low != low else low, "usd_high": usd if high != high else high}
        currencies.append(row | bounds)
    sustained = {}
    for place, row in read_csv(folder / "sustained-use.csv", _SUSTAINED):
        fields.filled(place, row, _SUSTAINED)
        tiers = _TIERS[fields.one_of(place, "tiers", row["tiers"], _TIERS)]
        sustained[row["provider"], row["items"]] = tiers
    return Terms(rules, currencies, sustained)
