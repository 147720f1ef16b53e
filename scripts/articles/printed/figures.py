"""Printed costs beside the derived ones, and the part of a bill for GPUs that did nothing."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from scripts.costs import billing

#: What a row of a printed table need not name: class, memory of a GPU, how the provider calls it, GPUs of the machine.
_PRINTED: dict[str, Any] = {"type": "", "gpu_memory_gb": None, "instance": "", "gpus": 1}

#: What people read of a printed table beside its costs.
_RENTED = ["hardware", "type", "gpu_memory_gb", "instance", "gpus", "gpus_used", "gpu_percent", "unused_share"]


def printed(study: Mapping[str, Any], runs: pd.DataFrame, costs: pd.DataFrame) -> pd.DataFrame:
    """Return the printed cost of each machine beside the derived one, and whether their roundings meet.

    The derived cost has the range of the printed time's rounding and of the price; the printed one that
    of its own. Columns: hardware, type, gpu_memory_gb, instance (empty where it is not printed), gpus, gpus_used,
    gpu_percent, unused_share, train_seconds, val_acc, usd_per_hour, billed_seconds, derived_usd, derived_usd_low,
    derived_usd_high, printed_usd, within, agrees, price_inferred.

    `unused_share` is the part of the bill for GPUs that did nothing: 1 - (GPUs used / GPUs) x their use, which is
    taken to be that of the one that was sampled.
    """
    about = study["printed"]
    rows = costs[costs["price_option"] == about["price"]].merge(
        runs[["run", "train_seconds", "val_acc", "gpu_percent"]], on="run"
    )
    shown = [
        _PRINTED | {"hardware": name, "gpus_used": row.get("gpus", 1)} | row for name, row in about["rows"].items()
    ]
    rows = rows.merge(pd.DataFrame(shown).rename(columns={"usd": "printed_usd"}), on="hardware")
    rows["unused_share"] = 1 - rows["gpus_used"] / rows["gpus"] * rows["gpu_percent"].astype("Float64") / 100
    off = about["seconds_within"]
    rows["derived_usd"] = rows["billed_usd"]
    for bound, sign in (("low", -1), ("high", 1)):
        used = (rows["train_seconds"] + sign * off).clip(lower=0).astype(float)
        billed = billing.billed_seconds(used, rows["increment_seconds"], rows["minimum_seconds"])
        rows[f"derived_usd_{bound}"] = billing.cost_usd(billed, rows[f"usd_per_hour_{bound}"])
    rows["agrees"] = (rows["derived_usd_low"] <= rows["printed_usd"] + rows["within"]) & (
        rows["derived_usd_high"] >= rows["printed_usd"] - rows["within"]
    )
    keep = [*_RENTED, "train_seconds", "val_acc", "usd_per_hour", "billed_seconds", "derived_usd"]
    table: pd.DataFrame = rows[
        [*keep, "derived_usd_low", "derived_usd_high", "printed_usd", "within", "agrees", "price_inferred"]
    ]
    return table


def tables(
    study: Mapping[str, Any], runs: pd.DataFrame, costs: pd.DataFrame, prices: pd.DataFrame, given: None
) -> dict[str, pd.DataFrame]:
    """Return the table `printed`."""
    return {"printed": printed(study, runs, costs)}


def readable(derived: Mapping[str, pd.DataFrame]) -> dict[str, pd.DataFrame]:
    """Return the printed table as two: what it costs, and `rented`, what is paid for and used."""
    return {"printed": derived["printed"], "rented": derived["printed"][_RENTED]}


def figures(study: Mapping[str, Any], derived: Mapping[str, pd.DataFrame], given: None) -> dict[str, float]:
    """Return how many rows agree, and for each machine the part of the bill for GPUs that did nothing."""
    table = derived["printed"]
    shares = table.dropna(subset="unused_share").set_index("hardware")["unused_share"]
    unused = {f"unused_share_{name}": float(share) for name, share in shares.items()}
    return {"printed_rows_that_agree": float(table["agrees"].sum())} | unused
