"""What a machine costs a month that is started on a schedule, as in "cheap cron" (minimaxir.com, 2018-11-19). Pure."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from scripts.costs import billing, book
from scripts.errors import InputError

_SECONDS_PER_HOUR = 3600
_HOURS_PER_DAY = 24


def _rate(rows: pd.DataFrame, provider: str, item: str, purchase: str) -> pd.Series:
    found = rows[(rows["provider"] == provider) & (rows["item"] == item) & (rows["purchase"] == purchase)]
    if len(found) != 1:
        raise InputError(f"schedule: {item}: {len(found)} prices of purchase {purchase} in the book, 1 is needed")
    return found.iloc[0]


def monthly(schedule: Mapping[str, Any], rows: pd.DataFrame, terms: book.Terms, usd_per_hour: float) -> pd.DataFrame:
    """Return what each schedule costs a month (USD) under each billing rule, in parts.

    Args:
        schedule: of a study: `every_hours` (list), `seconds_each` (of machine per start), `month_days`,
            `provider`, `rules` (name -> provider and date whose billing rule holds, label), `fees` (item ->
            pieces, paid by the month), `seconds_per_start` (item -> seconds of a service per start).
        rows: the price book that has those items.
        terms: the billing rules.
        usd_per_hour: of the machine.

    Columns: rule, label, minimum_seconds, every_hours, starts (a month), compute_usd, fees_usd, services_usd,
    total_usd.
    """
    provider = schedule["provider"]
    fees = sum(pieces * float(_rate(rows, provider, item, "fee")["rate"]) for item, pieces in schedule["fees"].items())
    table = []
    for name, at in schedule["rules"].items():
        rule = terms.rule(at["provider"], at["date"])
        for every_hours in schedule["every_hours"]:
            starts = schedule["month_days"] * _HOURS_PER_DAY / every_hours
            services = starts * sum(
                seconds * float(_rate(rows, provider, item, "on-demand")["rate"])
                for item, seconds in schedule["seconds_per_start"].items()
            )
            compute = billing.scheduled_usd_per_month(starts, schedule["seconds_each"], usd_per_hour, rule)
            table.append(
                {
                    "rule": name,
                    "label": at["label"],
                    "minimum_seconds": rule.minimum_seconds,
                    "every_hours": every_hours,
                    "starts": starts,
                    "compute_usd": compute,
                    "fees_usd": fees,
                    "services_usd": services,
                    "total_usd": compute + fees + services,
                }
            )
    return pd.DataFrame(table)
