"""Charts: one module per chart, one theme. A tidy table goes in, a plotnine figure comes out.

Here are those of runs, prices and costs; a chart of what an article derives lies with it, in `scripts/articles/`.

A chart module has `TITLE`, `HELP` (one sentence: how to read it) and `draw(view) -> Chart | None` (both of `_view`),
None where there is nothing to show for that workload; `MISSING` may say why in the report, where an empty one leaves
the chart out. It is drawn once for each workload, or once for the study if its `SCOPE` is "study". A chart with a row
for each cell, or a panel for each machine, says by what they are ordered (`ROWS_BY`, `PANELS_BY`): of more than can be
read `_crowd` leaves some out. Machines that are controls of noise are drawn where it `SHOWS_CONTROLS`.
"""

import importlib
from types import ModuleType

from scripts.studies import charts


def names() -> list[str]:
    """Return the names of all charts, sorted."""
    return sorted(charts.modules_by_name())


def chart(name: str) -> ModuleType:
    """Return the module of the chart `name`."""
    return importlib.import_module(charts.modules_by_name()[name])
