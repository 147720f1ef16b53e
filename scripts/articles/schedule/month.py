"""What a machine costs a month that is started on a schedule, as in "cheap cron" (minimaxir.com, 2018-11-19). Pure."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from scripts.costs import billing, book
from scripts.costs.terms import Terms
from scripts.storage.errors import InputError

_HOURS_PER_DAY = 24


def _usd_per_hour(
    rows: book.Rows, terms: Terms, provider: str, items: Mapping[str, float], purchase: str, hours: float
) -> float:
    """Return what so many pieces of some items cost an hour, the month having so many `hours`."""
    if not items:
        return 0.0
    price = book.rent(rows, terms, provider, items, purchase, hours_per_month=hours)
    if price is None:
        raise InputError(f"schedule: the price book has no {purchase} price of one of {', '.join(items)}")
    return price.usd_per_hour


def monthly(schedule: Mapping[str, Any], rows: book.Rows, terms: Terms, usd_per_hour: float) -> pd.DataFrame:
    """Return what each schedule costs a month (USD) under each billing rule, in parts.

    Args:
        schedule: of a study: `every_hours` (list), `seconds_each` (of machine per start), `month_days`,
            `provider`, `rules` (name -> provider and date whose billing rule holds, label), `fees` (item ->
            pieces, paid for all the month), `seconds_per_start` (item -> seconds of a service per start).
        rows: the price book that has those items.
        terms: billing rules and currencies.
        usd_per_hour: of the machine.

    Columns: rule, label, minimum_seconds, usd_per_hour (of the machine), every_hours, starts (a month),
    compute_usd, fees_usd, services_usd, total_usd. Raises InputError for an item without a price.
    """
    provider, hours = schedule["provider"], schedule["month_days"] * _HOURS_PER_DAY
    fees = hours * _usd_per_hour(rows, terms, provider, schedule["fees"], "fee", hours)
    # pieces are seconds here: the sum is what one start costs x 3600
    started = _usd_per_hour(rows, terms, provider, schedule["seconds_per_start"], "on-demand", hours)
    table = []
    for name, at in schedule["rules"].items():
        rule = terms.rule(at["provider"], at["date"])
        for every_hours in schedule["every_hours"]:
            starts = hours / every_hours
            services = starts * started / billing.SECONDS_PER_HOUR
            compute = billing.scheduled_usd_per_month(starts, schedule["seconds_each"], usd_per_hour, rule)
            table.append(
                {
                    "rule": name,
                    "label": at["label"],
                    "minimum_seconds": rule.minimum_seconds,
                    "usd_per_hour": usd_per_hour,
                    "every_hours": every_hours,
                    "starts": starts,
                    "compute_usd": compute,
                    "fees_usd": fees,
                    "services_usd": services,
                    "total_usd": compute + fees + services,
                }
            )
    return pd.DataFrame(table)
