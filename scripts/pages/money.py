"""What it costs: a run of each cell, to a target, rented or owned, then and now."""

from typing import Any

from scripts.analysis import money
from scripts.costs.billing import DAYS_PER_MONTH
from scripts.pages.inputs import Inputs
from scripts.storage import tables


def context(inputs: Inputs) -> dict[str, Any]:
    """Return the costs by cell, the targets, from which use owning pays, and the prices themselves."""
    study, prices = inputs.study, inputs.prices
    rows = money.by_cell(inputs.shown, inputs.base)
    return {
        "money": rows,
        "intervals": any(row["interval"] for row in rows),
        "compared_costs": any(row["cheaper"] is not None for row in rows),
        "per_usd": any(row["samples_per_usd"] > 0 for row in rows),
        "targets": money.to_targets(inputs.runs, inputs.epochs, inputs.shown, study["targets"]),
        "own": money.rent_or_own(inputs.machines, prices),
        "days_per_month": DAYS_PER_MONTH,
        "then_and_now": money.then_and_now(study, inputs.machines, prices),
        "option_labels": {option: about.get("label", option) for option, about in study["prices"].items()},
        "prices": tables.records(prices),
    }
