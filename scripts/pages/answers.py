"""The answers in short, and the claims with their verdicts."""

from typing import Any

from scripts.analysis import claim_verdict, summary
from scripts.analysis.names import workload_name
from scripts.analysis.verdicts import FEW_RUNS
from scripts.pages.inputs import Inputs
from scripts.studies import definition


def context(inputs: Inputs) -> dict[str, Any]:
    """Return the fastest and the cheapest cell of each workload, how machines compare with the base's, and claims.

    Without a whole training, the fastest is that with the least time for as many samples. Cells that exceed
    their cards' peak are left out.
    """
    cells, hardware = inputs.counted(inputs.cells), inputs.base.get("hardware", "")
    by = summary.cost_that_is_known(inputs.shown)
    cost = summary.cost_column(inputs.price, by)
    is_timed = set(inputs.runs["workload"]) != summary.rated_alone(inputs.runs)
    seconds = "train_seconds" if is_timed else summary.SECONDS_PER_MILLION
    millions, amount = inputs.per_samples / 1e6, definition.per_samples(inputs.study).removeprefix("a ")
    fastest = summary.best(cells, seconds, inputs.judge)
    cheapest = summary.best(cells, cost, inputs.judge)
    faster = summary.count_wins(cells, hardware, seconds, inputs.judge)
    return {
        # Rates without a price are in the table of the cells: they answer nothing.
        "fastest": fastest if inputs.trained or any((fastest if is_timed else cheapest).values()) else {},
        "seconds": seconds,
        "seconds_times": 1 if is_timed else millions,
        "seconds_unit": "time to train, s" if is_timed else f"s per {amount}",
        "not_counted": [
            f"{workload_name(workload)} on {inputs.labels[name]}"
            for workload, machines in inputs.unranked.items()
            for name in dict.fromkeys(name for name, _ in machines)
        ],
        "cheapest": cheapest,
        "cost": cost,
        "cost_times": millions if by == summary.PER_MILLION else 1,
        "cost_unit": {summary.PER_MILLION: f"USD per {amount}", summary.PER_RUN: "USD a run"}[by],
        "faster": {name: counts for name, counts in faster.items() if inputs.trained or counts[2] > 1},
        "cheaper": summary.count_wins(cells, hardware, cost, inputs.judge),
        "claims": inputs.verdicts,
        "now_claims": inputs.verdicts_today,
        "tally": claim_verdict.tally(inputs.verdicts),
        "rule": inputs.judge.words if _compares_cells(inputs) else "",
        "few_runs": FEW_RUNS,
        "flattered": max((one["flattered"] for one in fastest.values() if one), default=0.0),
    }


def _compares_cells(inputs: Inputs) -> bool:
    """Return whether a claim, or the page itself, compares cells: figures alone need no rule of verdicts."""
    return len(inputs.runs) > 0 or any(
        claim["check"] not in ("figure", "unchecked") for claim in inputs.study["claims"]
    )
