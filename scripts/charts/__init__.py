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

    `runs`, `epochs` and `costs` have the columns of `config/schemas/tables.yaml`. `base` is the cell
    (hardware, framework) that counts as 1.00x, `labels` names machines, `reference` is the workload's
    published result (None if no module knows it), `price_option` the price option of cost charts and
    `price_label` its words. `one_framework`: the study has one only, so no cell needs to name it.
    `tables` are those of `scripts.figures`, for charts of a whole study.
    """

    workload: str
    runs: pd.DataFrame
    epochs: pd.DataFrame
    costs: pd.DataFrame
    base: dict[str, str]
    labels: dict[str, str]
    reference: Any
    published_batch_size: int | None
    published_epochs: int | None
    price_option: str
    price_label: str = ""
    one_framework: bool = False
    tables: Mapping[str, pd.DataFrame] = field(default_factory=dict)


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
    """Return a cell's name: framework, machine, and the batch size where it is known and not the published one."""
    machine = labels.get(cell["hardware"], cell["hardware"])
    framework = FRAMEWORK_NAMES.get(cell["framework"], cell["framework"])
    name = machine if one_framework else f"{framework} · {machine}"
    batch_size = cell["batch_size"]
    plain = pd.isna(batch_size) or batch_size == published_batch_size
    return name if plain else f"{name} · batch {batch_size}"


def names() -> list[str]:
    """Return the names of all charts, sorted; modules with an underscore are shared parts."""
    return sorted(module.name for module in pkgutil.iter_modules(__path__) if not module.name.startswith("_"))


def chart(name: str) -> ModuleType:
    """Return the module of the chart `name`."""
    return importlib.import_module(f"scripts.charts.{name}")
