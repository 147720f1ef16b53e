"""How the runs were trained: axes of the grid compared, what was learned, warnings, what ran where."""

from typing import Any

from scripts.analysis import clocks, comparisons, launches, summary
from scripts.pages.inputs import Inputs


def context(inputs: Inputs) -> dict[str, Any]:
    """Return what differs along the axes, what each mode does, accuracies, warnings, and the versions that ran."""
    runs = inputs.runs
    done = runs[runs["status"] == "done"]
    plain = {"framework": inputs.base.get("framework", ""), "mode": "stock", "precision": "float32"}
    compared = {
        axis: comparisons.compare_axis(runs, axis, name, "samples_per_second", inputs.judge)
        for axis, name in plain.items()
    }
    compared_rows = [row for rows in compared.values() for row in rows]
    return {
        "compared": {axis: comparisons.matrix(rows, axis) for axis, rows in compared.items()},
        "behind": comparisons.counts(compared_rows) if compared_rows else "",
        "repaid": clocks.repaid(runs, inputs.judge) if inputs.trained else [],
        "scaling": comparisons.scaling(runs, inputs.judge),
        "virtual": bool(runs.loc[runs["devices"] > 1, "gpu_model"].isna().any()),
        "settings": comparisons.settings(runs),
        "launched": launches.words(runs),
        "learned": summary.learned(runs),
        "warned": comparisons.warnings(runs),
        "versions": sorted(set(done["packages"].dropna())),
        "pythons": sorted(set(runs["python"].dropna())),
        "commits": sorted(set(runs["git_commit"].dropna())),
    }
