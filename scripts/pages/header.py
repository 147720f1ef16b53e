"""The head of a page: where its runs come from, and what weakens its numbers."""

from typing import Any

from scripts.analysis import summary
from scripts.costs import budget
from scripts.pages.inputs import Inputs


def context(inputs: Inputs) -> dict[str, Any]:
    """Return what the head shows: counts of runs and cells, machines and days, notices."""
    runs = inputs.runs
    there = runs.dropna(subset="cpu_model")
    prices = inputs.prices
    spent = budget.spent(runs, inputs.attempts, prices[prices["price_option"] == inputs.price])
    failed = runs[runs["status"] != "done"].merge(spent, on="run").to_dict("records")
    return {
        "days": sorted({started[:10] for started in runs["started_at"].dropna()}),
        "found": sorted(
            set(zip(there["cpu_model"], there["gpu_model"].fillna("no GPU"), there["system"], strict=True))
        ),
        "synthetic": sorted(set(runs.loc[runs["data"] == "synthetic", "workload"])),
        "reduced": summary.is_reduced(runs),
        "failed": failed,
        "planned": len(inputs.planned),
        "untrained": summary.untrained(inputs.planned, runs),
        "interrupted": summary.interrupted(inputs.attempts, spent),
        "repeated": not inputs.single,
        # The audit of logs says it itself.
        "single": bool(len(runs)) and inputs.single and all(one["kind"] != "single runs" for one in inputs.findings),
    }
