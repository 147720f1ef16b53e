"""What it costs: a run of each cell, to a target, rented or owned, then and now."""

from typing import Any

import pandas as pd

from scripts.analysis import clocks, money
from scripts.analysis.names import price_words
from scripts.costs.billing import HOURS_PER_MONTH
from scripts.pages.inputs import Inputs
from scripts.storage import tables


def context(inputs: Inputs) -> dict[str, Any]:
    """Return the costs by cell, the targets, from which use owning pays, and the prices themselves."""
    study, prices = inputs.study, inputs.prices
    rows = money.by_cell(inputs.shown, inputs.base, inputs.judge, inputs.shares)
    return {
        "money": rows,
        "extrapolated": _length(inputs.runs) if inputs.trained else "",
        "smaller": clocks.smaller(inputs.runs) if inputs.trained else "",
        "watched": clocks.watched(inputs.runs),
        "length_words": clocks.extrapolated(inputs.runs) if inputs.trained else "",
        "old_prices": money.old_prices(prices[prices["price_option"] == inputs.price], inputs.runs)
        if inputs.trained
        else "",
        "billing_words": _billing(inputs.shown),
        "tells_start": bool(inputs.shown["boot_seconds"].notna().any()),
        "least_bills": money.least_bills(inputs.shown) if inputs.trained else "",
        "intervals": any(row["interval"] for row in rows),
        "compared_costs": any(row["cheaper"] is not None for row in rows),
        "per_usd": any(row["samples_per_usd"] > 0 for row in rows),
        "targets": money.to_targets(inputs.runs, inputs.epochs, inputs.shown, study["targets"]),
        "own": money.rent_or_own(inputs.machines, prices),
        "hours_per_month": HOURS_PER_MONTH,
        "then_and_now": money.then_and_now(study, inputs.machines, prices),
        "option_labels": inputs.option_labels,
        "today_words": price_words(study, "today", inputs.labels) if "today" in study["prices"] else "",
        "prices": tables.records(prices),
    }


def _length(runs: pd.DataFrame) -> str:
    """Return in sentences from how much of a whole training its cost is extrapolated, and where it is not."""
    smaller = clocks.smaller(runs)
    if smaller and not clocks.is_paid_by_process(runs):
        return smaller
    return f"It is {clocks.extrapolated(runs)}. {smaller}".strip()


def _billing(shown: pd.DataFrame) -> str:
    """Return in words how trainings are billed at a price option."""
    if shown["in_a_row"].any():
        return "one after another on one machine: without the provider's minimum and rounding"
    return "billed alone, as the provider rounds" + (", and at least its minimum" if _has_least(shown) else "")


def _has_least(shown: pd.DataFrame) -> bool:
    return bool((shown["minimum_seconds"] > 0).any())
