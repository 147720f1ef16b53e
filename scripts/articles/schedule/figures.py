"""What a month of a machine that is started on a schedule costs, then and today."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from scripts.articles.schedule import month
from scripts.articles.schedule.given import Given
from scripts.storage.errors import InputError
from scripts.storage.tables import records


def tables(
    study: Mapping[str, Any], runs: pd.DataFrame, costs: pd.DataFrame, prices: pd.DataFrame, given: Given
) -> dict[str, pd.DataFrame]:
    """Return the table `monthly`: each schedule under each billing rule. Raises InputError without a price."""
    about = study["schedule"]
    hourly = prices[prices["hardware"] == about["machine"]].set_index("price_option")["usd_per_hour"]
    if study["price"] not in hourly:
        raise InputError(f"schedule: machine: {about['machine']!r} has no price of option {study['price']}")
    table = month.monthly(about, given.rows, given.terms, float(hourly[study["price"]]))
    if "today" in hourly:  # the rule of the study's own day, the machine's price of today
        first = next(iter(about["rules"]))
        rules = {"today": about["rules"][first] | {"label": study["prices"]["today"].get("label", "today")}}
        again = month.monthly({**about, "rules": rules}, given.rows, given.terms, float(hourly["today"]))
        table = pd.concat([table, again], ignore_index=True)
    return {"monthly": table}


def figures(study: Mapping[str, Any], derived: Mapping[str, pd.DataFrame], given: Given) -> dict[str, float]:
    """Return what each schedule costs a month under each rule, and how much more than under the first."""
    found: dict[str, float] = {}
    for row in records(derived["monthly"]):
        name = f"{row['rule']}_every_{row['every_hours']:g}_hours"
        found |= {
            f"usd_a_month_{name}": float(row["total_usd"]),
            f"machine_usd_a_month_{name}": float(row["compute_usd"]),
        }
    base = next(iter(study["schedule"]["rules"]))
    for hours, group in derived["monthly"].groupby("every_hours", sort=False):
        totals = group.set_index("rule")["total_usd"]
        for rule in totals.index.drop([base, "today"], errors="ignore"):
            found[f"more_usd_a_month_{rule}_every_{hours:g}_hours"] = float(totals[rule] - totals[base])
            found[f"more_share_{rule}_every_{hours:g}_hours"] = float(totals[rule] / totals[base] - 1)
    return found
