"""Charts: one module per chart, one theme. A tidy table goes in, a plotnine figure comes out.

A chart module has `TITLE`, `HELP` (one sentence: how to read it) and `draw(view) -> Chart | None`,
None where there is nothing to show for that workload; `MISSING` says why in the report. It is drawn once
for each workload, or once for the study if its `SCOPE` is "study".
"""

import importlib
import pkgutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

import pandas as pd
from plotnine import ggplot


@dataclass(frozen=True)
class View:
    """What a chart sees of a study: the tables of one workload (or all), and how things are called.

    `runs`, `epochs` and `costs` have the columns of `config/schemas/tables.yaml`. `base` names the cell
    that counts as 1.00x by its axes, `labels` names machines, `reference` is the workload's
    published result (None if no module knows it), `price_option` the price option of cost charts and
    `price_label` its words. `one_framework`: the study has one only, so no cell needs to name it.
    A cell whose times to train differ by more than `unstable_above` of their median is unstable; of what was
    measured again, runs after the first `repeats` are the second measurement (None: there is none).
    `tables` are those of `scripts.figures`, for charts of a whole study.
    """

    workload: str
    runs: pd.DataFrame
    epochs: pd.DataFrame
    costs: pd.DataFrame
    base: dict[str, Any]
    labels: dict[str, str]
    reference: Any
    published_batch_size: int | None
    published_epochs: int | None
    price_option: str
    price_label: str = ""
    one_framework: bool = False
    repeats: int | None = None
    unstable_above: float = 0.1
    tables: Mapping[str, pd.DataFrame] = field(default_factory=dict)

    def name(self, cell: Mapping[str, Any]) -> str:
        """Return a cell's name."""
        return cell_name(cell, self.labels, self.published_batch_size, self.one_framework)


@dataclass(frozen=True)
class Chart:
    """A drawn chart: the figure, its size (inches), its data, a caption and a text for those who cannot see it."""

    figure: ggplot
    width: float
    height: float
    data: pd.DataFrame
    caption: str
    description: str


#: How frameworks are written in charts and tables.
FRAMEWORK_NAMES = {
    "tensorflow": "TensorFlow",
    "tensorflow-compiled": "TensorFlow, compiled",
    "jax": "JAX",
    "torch": "PyTorch",
    "cntk": "CNTK",
}


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


def names() -> list[str]:
    """Return the names of all charts, sorted; modules with an underscore are shared parts."""
    return sorted(module.name for module in pkgutil.iter_modules(__path__) if not module.name.startswith("_"))


def chart(name: str) -> ModuleType:
    """Return the module of the chart `name`."""
    return importlib.import_module(f"scripts.charts.{name}")
