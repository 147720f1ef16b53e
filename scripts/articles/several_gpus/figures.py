"""The time to train with all GPUs of a machine, and with one of them."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from scripts.costs import billing


def several_gpus(study: Mapping[str, Any], runs: pd.DataFrame) -> pd.DataFrame:
    """Return the time to train with all GPUs of a machine and with one of them: label, gpus, hours, workload."""
    hours = runs.groupby(["workload", "hardware"], sort=False)["train_seconds"].median() / billing.SECONDS_PER_HOUR
    return pd.DataFrame(
        [
            {"workload": workload, "label": pair["label"], "gpus": gpus, "hours": float(hours[workload, pair[gpus]])}
            for workload in dict.fromkeys(runs["workload"])
            for pair in study["several_gpus"]
            for gpus in ("several", "one")
        ]
    )


def tables(
    study: Mapping[str, Any], runs: pd.DataFrame, costs: pd.DataFrame, prices: pd.DataFrame, given: None
) -> dict[str, pd.DataFrame]:
    """Return the table `several_gpus`."""
    return {"several_gpus": several_gpus(study, runs)}
