"""The machines of other studies beside those of one."""

from typing import Any

from scripts.analysis import beside
from scripts.pages.inputs import Inputs


def context(inputs: Inputs) -> dict[str, Any]:
    """Return a table for each workload that the studies share, and what they say is unlike."""
    own = beside.Side(inputs.study["title"], inputs.runs, inputs.labels, inputs.study.get("published", {}))
    epochs = {name: work.epochs for name, work in inputs.works.items()}
    compared = beside.compare(own, inputs.others, epochs)
    return {"beside": compared, "others": inputs.others, "unlike": beside.unlike(inputs.others, compared)}
