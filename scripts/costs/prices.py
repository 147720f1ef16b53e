"""What an hour of a machine costs, rented or owned."""

from typing import Any

import pandas as pd

_SECONDS_PER_HOUR = 3600


def owned_usd_per_hour(
    acquisition_usd: float,
    life_months: float,
    power_watts: float,
    usd_per_kwh: float,
    hours_per_month: float,
) -> float:
    """Return the cost of one hour of use (USD): the price spread over the hours of its life, and the power.

    As in "cloud vs office" (Parkopedia, 2018): acquisition / months / hours of use a month, plus the
    energy of one hour. The less it is used, the dearer the hour.
    """
    return acquisition_usd / life_months / hours_per_month + power_watts / 1000 * usd_per_kwh


def usd_per_hour(price: dict[str, Any]) -> float:
    """Return the hourly cost (USD) of one price of `config/hardware.yaml`, rented or owned."""
    if "usd_per_hour" in price:
        return float(price["usd_per_hour"])
    return owned_usd_per_hour(
        **{
            key: price[key]
            for key in ("acquisition_usd", "life_months", "power_watts", "usd_per_kwh", "hours_per_month")
        }
    )


def price_table(catalogue: dict[str, Any]) -> pd.DataFrame:
    """Return one row per machine and purchase option: hardware, price_option, usd_per_hour, as_of, source."""
    rows = [
        {
            "hardware": hardware,
            "price_option": option,
            "usd_per_hour": usd_per_hour(price),
            "price_as_of": price["as_of"],
            "price_source": price["source"],
        }
        for hardware, about in catalogue.items()
        for option, price in about.get("prices", {}).items()
    ]
    return pd.DataFrame(rows, columns=["hardware", "price_option", "usd_per_hour", "price_as_of", "price_source"])


def price_runs(runs: pd.DataFrame, prices: pd.DataFrame) -> pd.DataFrame:
    """Return one row per run and purchase option, with what its training cost (USD).

    Cost is the time to train x the hourly price / 3600, without a minimum or rounding: not yet a bill.
    Samples are those trained on in that time, without the first step's batch. A run that did not train
    to its end, or whose machine has no price, has no row.
    """
    done = runs[runs["status"] == "done"]
    costs = done[["run", "workload", "hardware", "framework", "batch_size", "repeat"]].assign(
        priced_seconds=done["train_seconds"], samples=done["train_samples"] * done["epochs_done"] - done["batch_size"]
    )
    costs = costs.merge(prices, on="hardware")
    costs["cost_usd"] = costs["priced_seconds"] * costs["usd_per_hour"] / _SECONDS_PER_HOUR
    costs["usd_per_million_samples"] = costs["cost_usd"] / costs["samples"] * 1e6
    return costs.drop(columns="samples")
