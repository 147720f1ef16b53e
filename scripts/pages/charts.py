"""The charts of a page, by workload."""

from typing import Any

from scripts.pages.inputs import Inputs


def context(inputs: Inputs) -> dict[str, Any]:
    """Return the charts of each workload in the study's order, then those of the whole study.

    Keys: id and title (of the section), about (what the workload is, of what was trained here), findings, charts.
    """
    named = [name for name in inputs.study.get("workloads", []) if name in inputs.pictures]
    return {
        "chart_groups": [
            {
                "id": workload or "charts",
                "title": workload or "Charts",
                "workload": workload,
                "about": _about(inputs, workload),
                "findings": [one for one in inputs.findings if workload and one["workload"] == workload],
                "charts": inputs.pictures[workload],
            }
            for workload in dict.fromkeys([*named, *inputs.pictures])
        ]
    }


def _about(inputs: Inputs, workload: str) -> str:
    """Return the first line of a workload's description, which is of the model that this project trains."""
    if not inputs.trained or workload not in inputs.modules:
        return ""
    return (inputs.modules[workload].__doc__ or workload).strip().splitlines()[0].replace("`", "")
