"""What an hour of one accelerator costs, by card: rented by each provider, as dated lists had it, and owned.

Prices are those of a study whose machines are the cards. A machine that is rented has several accelerators: an hour of
one is its part of the machine's hour.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from scripts.analysis.names import provider_name
from scripts.costs import billing, ownership
from scripts.storage.tables import records

#: Accelerators of a machine: results of one machine are compared, as more of them train faster and dearer.
ONE_MACHINE = 8


def hourly(prices: pd.DataFrame, option: str, accelerators: Mapping[str, int]) -> dict[str, float]:
    """Return USD per hour of one accelerator by card, under a price option."""
    rows = prices[prices["price_option"] == option]
    return {
        row["hardware"]: float(row["usd_per_hour"]) / accelerators[row["hardware"]]
        for row in records(rows)
        if row["hardware"] in accelerators
    }


def first_list(
    prices: pd.DataFrame, about: Mapping[str, Any], day: str, cards: Sequence[str]
) -> tuple[str, dict[str, float]]:
    """Return the first dated list that held on a day or came later and has these cards: its day, and its rates.

    A card is measured before anybody rents it: its price of then is that with which it came.
    """
    earlier = [option for option, since in about["then"].items() if str(since) <= day]
    later = [option for option, since in about["then"].items() if str(since) > day]
    for option in (*earlier[-1:], *later):
        rates = hourly(prices, option, about["accelerators"])
        if set(cards) <= set(rates):
            return str(about["then"][option]), rates
    return "", {}


def of_then(prices: pd.DataFrame, about: Mapping[str, Any], day: str) -> dict[str, float]:
    """Return USD per hour of one accelerator by card as listed on a day; none before the first list."""
    known = [option for option, since in about["then"].items() if str(since) <= day]
    return hourly(prices, known[-1], about["accelerators"]) if known else {}


def elsewhere(prices: pd.DataFrame, about: Mapping[str, Any], priced: Sequence[str]) -> dict[str, list[str]]:
    """Return by whom the cards are rented that are not `priced` at the option of the page."""
    found: dict[str, list[str]] = {}
    for option in about["providers"]:
        rows = prices[(prices["price_option"] == option) & ~prices["hardware"].isin(priced)]
        for card, provider in zip(rows["hardware"], rows["provider"], strict=True):
            found.setdefault(str(card), []).append(str(provider))
    return found


def offered(prices: pd.DataFrame, options: Mapping[str, Any], accelerators: Mapping[str, int]) -> pd.DataFrame:
    """Return what clouds ask for an hour of one accelerator, by card, under the options that have an `offer`.

    Columns: lowest and lowest_of (whose it is), median, highest, and offers (how many the median is of).
    """
    of = {about["offer"]: name for name, about in options.items() if "offer" in about}
    lowest, middle = (
        prices[prices["price_option"].eq(of.get(kind, "")) & prices["hardware"].isin(accelerators)].set_index(
            "hardware"
        )
        for kind in ("lowest", "median")
    )
    cards = pd.Series(accelerators, dtype=float).reindex(lowest.index)
    return pd.DataFrame(
        {
            "lowest": lowest["usd_per_hour"] / cards,
            "lowest_of": lowest["provider"].map(provider_name),
            "median": middle["usd_per_hour"] / cards,
            "highest": middle["usd_per_hour_high"] / cards,
            "offers": middle["price_source"].str.count(" USD a card"),
        }
    )


def providers(prices: pd.DataFrame, about: Mapping[str, Any]) -> pd.DataFrame:
    """Return what an hour of one accelerator costs: card, usd_<provider> of each, and apart (dearest / cheapest)."""
    table = pd.DataFrame(
        {
            provider: hourly(prices[prices["provider"] == provider], option, about["accelerators"])
            for option, provider in about["providers"].items()
        }
    )
    table = table.reindex([card for card in about["accelerators"] if card in table.index])
    apart = (table.max(axis=1) / table.min(axis=1)).where(table.notna().sum(axis=1) > 1)
    table = table.rename(columns=lambda provider: f"usd_{provider}").assign(apart=apart)
    return table.rename_axis("card").reset_index()


def owned(
    scored: pd.DataFrame,
    about: Mapping[str, Any],
    prices: pd.DataFrame,
    option: str,
    machines: Mapping[str, Any],
) -> pd.DataFrame:
    """Return how many trainings a month make an owned machine cheaper than the same one rented at `option`.

    A row for each card with an `own` entry and each series that its single machines ran, in the last round: card,
    series, label, round, minutes (median), usd_rented (of one training), break_even_hours (of use a month), trainings.
    The last two are missing where a month has too few hours.
    """
    per_hour = hourly(prices, option, about["accelerators"])
    single = scored[scored["compared"] & scored["accelerators"].eq(ONE_MACHINE)]
    rows = []
    for card, entry in machines.items():
        if "own" not in entry or card not in per_hour:
            continue
        rent = per_hour[card] * about["accelerators"][card]
        hours = float(ownership.break_even_hours_per_month(ownership.machine(entry["own"]), np.array([rent]))[0])
        hours = hours if hours <= billing.HOURS_PER_MONTH else np.nan
        for series, group in single[single["card"] == card].groupby("series", sort=False):
            last = group[group["round"] == group["round"].iloc[-1]]
            minutes = float(last["minutes"].astype(float).median())
            rows.append(
                {
                    "card": card,
                    "series": series,
                    "label": group["label"].iloc[0],
                    "round": last["round"].iloc[0],
                    "minutes": minutes,
                    "usd_rented": minutes / 60 * rent,
                    "break_even_hours": hours,
                    "trainings": hours * 60 / minutes,
                }
            )
    return pd.DataFrame(rows)
