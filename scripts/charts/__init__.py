"""Charts: one module per chart, one theme. A tidy table goes in, a plotnine figure comes out.

A chart module has `TITLE`, `HELP` (one sentence: how to read it) and `draw(view) -> Chart | None`,
None where there is nothing to show for that workload; `MISSING` says why in the report.
"""

import importlib
import pkgutil
from collections.abc import Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import pandas as pd
from plotnine import ggplot


@dataclass(frozen=True)
class View:
    """What a chart sees of a study: the tables of one workload, and how things are called.

    `runs`, `epochs` and `costs` have the columns of `config/schemas/tables.yaml`. `base` is the cell
    (hardware, framework) that counts as 1.00x, `labels` names machines, `reference` is the workload's
    published result, `price_option` the purchase option of cost charts.
    """

    workload: str
    runs: pd.DataFrame
    epochs: pd.DataFrame
    costs: pd.DataFrame
    base: dict[str, str]
    labels: dict[str, str]
    reference: Any
    published_batch_size: int
    published_epochs: int
    price_option: str


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
FRAMEWORK_NAMES = {"tensorflow": "TensorFlow", "jax": "JAX", "torch": "PyTorch", "cntk": "CNTK"}


def cell_name(cell: Mapping[str, Any], labels: Mapping[str, str], published_batch_size: int) -> str:
    """Return a cell's name: framework, machine, and the batch size where it is not the published one."""
    framework = FRAMEWORK_NAMES.get(cell["framework"], cell["framework"])
    name = f"{framework} · {labels.get(cell['hardware'], cell['hardware'])}"
    return name if cell["batch_size"] == published_batch_size else f"{name} · batch {cell['batch_size']}"


def names() -> list[str]:
    """Return the names of all charts, sorted; modules with an underscore are shared parts."""
    return sorted(module.name for module in pkgutil.iter_modules(__path__) if not module.name.startswith("_"))


def chart(name: str) -> ModuleType:
    """Return the module of the chart `name`."""
    return importlib.import_module(f"scripts.charts.{name}")
