"""How cells, machines and frameworks are called on pages and in charts."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from scripts import frameworks

#: Those of published runs only.
_HISTORICAL = {"tensorflow-compiled": "TensorFlow, compiled", "cntk": "CNTK"}

#: How frameworks are written in charts and tables.
FRAMEWORK_NAMES = _HISTORICAL | {name: frameworks.framework(name).LABEL for name in frameworks.names()}


def cell_name(
    cell: Mapping[str, Any], labels: Mapping[str, str], published_batch_size: int | None, one_framework: bool = False
) -> str:
    """Return a cell's name: framework, machine, and what is known and not published, stock, float32 or one device."""
    machine = labels.get(cell["hardware"], cell["hardware"])
    parts = [machine]
    if not one_framework:
        parts.insert(0, FRAMEWORK_NAMES.get(cell["framework"], cell["framework"]))
    batch_size = cell["batch_size"]
    if not (pd.isna(batch_size) or batch_size == published_batch_size):
        parts.append(f"batch {batch_size}")
    for axis, plain, words in (("mode", "stock", "{}"), ("precision", "float32", "{}"), ("devices", 1, "{} devices")):
        value = cell.get(axis)
        if not (pd.isna(value) or value == plain):
            parts.append(words.format(str(value).replace("_", " ")))
    return " · ".join(parts)
