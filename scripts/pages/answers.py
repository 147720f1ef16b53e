"""The answers in short, and the claims with their verdicts."""

from typing import Any

from scripts.analysis import claims, summary
from scripts.pages.inputs import Inputs
from scripts.storage.numbers import TIE, number


def context(inputs: Inputs) -> dict[str, Any]:
    """Return the fastest and the cheapest cell of each workload, how machines compare with the base's, and claims."""
    cells, hardware = inputs.cells, inputs.base.get("hardware", "")
    by = summary.cost_that_is_known(inputs.shown)
    cost = summary.cost_column(inputs.price, by)
    fastest = summary.best(cells, "train_seconds")
    faster = summary.versus(cells, hardware, "train_seconds")
    return {
        "fastest": fastest if inputs.trained or any(fastest.values()) else {},
        "cheapest": summary.best(cells, cost),
        "cost": cost,
        "cost_unit": {summary.PER_MILLION: "USD per million samples", summary.PER_RUN: "USD a run"}[by],
        "faster": {name: counts for name, counts in faster.items() if inputs.trained or counts[2] > 1},
        "cheaper": summary.versus(cells, hardware, cost),
        "claims": inputs.verdicts,
        "now_claims": inputs.verdicts_today,
        "tally": claims.tally(inputs.verdicts),
        "tie_percent": number(TIE * 100, 1),
    }
