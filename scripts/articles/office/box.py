"""An owned machine against rented ones, as in "cloud vs office" (Parkopedia, 2018). Pure."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from scripts.costs import billing, outcomes, ownership
from scripts.storage.tables import records

_HOURS_PER_DAY = 24


def scaling(rows: list[Mapping[str, Any]], batch_sizes: list[int], workloads: list[str]) -> pd.DataFrame:
    """Return scaling efficiencies long: single, multi, gpus, workload, setup, batch_size, efficiency.

    Scaling efficiency: throughput on n GPUs over n times the throughput on one. `setup` is how the GPUs exchanged
    gradients, a letter as printed, empty where none is.
    """
    return pd.DataFrame(
        [
            {key: row[key] for key in ("single", "multi", "gpus")}
            | {"workload": workload, "setup": row.get("setup", {}).get(workload, "")}
            | {"batch_size": batch_size, "efficiency": row[workload][i]}
            for row in rows
            for workload in workloads
            for i, batch_size in enumerate(batch_sizes)
        ]
    )


def mean_efficiency(efficiencies: pd.DataFrame) -> pd.DataFrame:
    """Return the mean efficiency over the machines for each workload and batch size."""
    keys = ["workload", "batch_size"]
    return efficiencies.groupby(keys, sort=False)["efficiency"].mean().reset_index()


def estimate(
    single: pd.DataFrame, mean: pd.DataFrame, gpus: int, efficiency_rounding: float, rate_rounding: float
) -> pd.DataFrame:
    """Return the throughput of `gpus` cards from that of one and the mean efficiency, with the range of its inputs.

    Args:
        single: workload, batch_size, samples_per_second of one card.
        mean: from `mean_efficiency`.
        gpus: cards of the machine that is estimated.
        efficiency_rounding: half of the last digit in which efficiencies are printed.
        rate_rounding: likewise of samples_per_second.

    Columns: workload, batch_size, samples_per_second, efficiency, estimate, estimate_low, estimate_high.
    """
    table = single.merge(mean, on=["workload", "batch_size"])
    rate, share = table["samples_per_second"].astype(float), table["efficiency"]
    return table.assign(
        estimate=rate * share * gpus,
        estimate_low=(rate - rate_rounding) * (share - efficiency_rounding) * gpus,
        estimate_high=(rate + rate_rounding) * (share + efficiency_rounding) * gpus,
    )


def per_usd(throughput: pd.DataFrame, usd_per_hour: Mapping[str, float]) -> pd.DataFrame:
    """Return samples per USD at each of several hourly prices.

    `throughput`: workload, batch_size, estimate (samples/s). One row per workload, batch size and price;
    columns price, usd_per_hour and samples_per_usd are added.
    """
    priced = [
        throughput.assign(
            price=price, usd_per_hour=hourly, samples_per_usd=outcomes.samples_per_usd(hourly, throughput["estimate"])
        )
        for price, hourly in usd_per_hour.items()
    ]
    return pd.concat(priced, ignore_index=True)


def to_samples(
    throughput: pd.DataFrame, samples: Mapping[str, float], usd_per_hour: Mapping[str, float]
) -> pd.DataFrame:
    """Return hours and USD to train each workload on so many samples: workload, samples, hours, price, cost_usd."""
    rows = []
    for row in records(throughput):
        hours = outcomes.seconds_to_samples(samples[row["workload"]], row["estimate"]) / billing.SECONDS_PER_HOUR
        rows += [
            {
                "workload": row["workload"],
                "samples": samples[row["workload"]],
                "hours": hours,
                "price": price,
                "usd_per_hour": hourly,
                "cost_usd": hours * hourly,
            }
            for price, hourly in usd_per_hour.items()
        ]
    return pd.DataFrame(rows)


def gain(machine: ownership.Machine, gains: pd.DataFrame, days: list[float]) -> pd.DataFrame:
    """Return how many times more samples per USD the owned machine gives than each rented one, by its use.

    `gains` has against, base, gain and at_usd_per_hour: a gain known at one price of the owned hour goes with
    that price over the hour's cost at each use. Columns: against, base, days, usd_per_hour (owned), gain.
    """
    hourly = ownership.usd_per_hour(machine, np.array(days) * _HOURS_PER_DAY)
    rows = [
        pd.DataFrame(
            {
                "against": row["against"],
                "base": row["base"],
                "days": days,
                "usd_per_hour": hourly,
                "gain": row["gain"] * row["at_usd_per_hour"] / hourly,
            }
        )
        for row in records(gains)
    ]
    return pd.concat(rows, ignore_index=True)


def breakdown(machine: ownership.Machine, hours_per_month: float) -> pd.DataFrame:
    """Return what so many hours of use a month cost, in parts: part, usd_per_month, usd_per_hour (of use)."""
    parts = {"machine": machine.fixed_usd_per_month, "energy": hours_per_month * machine.energy_usd_per_hour}
    parts["both"] = sum(parts.values())
    table = pd.DataFrame({"part": list(parts), "usd_per_month": list(parts.values())})
    return table.assign(usd_per_hour=table["usd_per_month"] / hours_per_month)


def break_even_days(machine: ownership.Machine, rented_usd_per_hour: float) -> float:
    """Return the days of use a month from which the owned hour costs less than a rent for the same work."""
    return float(ownership.break_even_hours_per_month(machine, rented_usd_per_hour)) / _HOURS_PER_DAY
