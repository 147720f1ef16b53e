"""Where the dollars of a run go: of the bill of a training of full length, and of the run as it was."""

import pandas as pd

from scripts.analysis import clocks, dollars
from scripts.charts import _parts, _prices
from scripts.charts._relative import count_runs
from scripts.charts._theme import WIDTH, height
from scripts.charts._view import Chart, View
from scripts.storage.numbers import number
from scripts.storage.tables import records

TITLE = "Where the dollars go"
#: Logs of others record no parts: there is nothing to say of a chart that they could not have.
MISSING = ""
HELP = "Each bar is what one run costs: training and validation, and what is paid on top of them."
ROWS_BY, ROWS_EACH = "cost_usd", 2

_PANELS = {"cost_usd": "the full length", "billed_usd": "this run, as billed"}


def draw(view: View) -> Chart | None:
    costs = view.costs[view.costs["price_option"] == view.price_option]
    cells = dollars.by_cell(view.runs, costs)
    if cells.empty:
        return None
    cells["label"] = [view.name(cell) for cell in records(cells)]
    cells["panel"] = pd.Categorical(cells["of"].map(_PANELS), list(_PANELS.values()))
    parts = [part for part in dollars.PAID if (cells[part] > 0).any()]
    spoken = "; ".join(
        f"{cell['label']}, {cell['panel']}: " + ", ".join(f"{part} {number(cell[part])} USD" for part in parts)
        for cell in records(cells)
    )
    drawn = view.runs[view.runs["run"].isin(costs["run"])]
    notes = [
        f"Prices: {view.price_label or view.price_option} ({_prices.dated(costs)}).",
        f"Above: a training of full length ({clocks.extrapolated(drawn)}), {_prices.billing(costs)}.",
        "Below: the run as it was, likewise.",
        _start(costs),
        "The parts of a bar are scaled to add up.",
    ]
    whole = cells[cells["of"] == "cost_usd"]
    share = float(whole[["training", "validation"]].sum().sum() / whole[list(dollars.PAID)].sum().sum())
    return Chart(
        figure=_parts.bars(cells, parts, "USD", panel="panel"),
        width=WIDTH,
        height=height(cells["label"]) + 1.9,
        data=cells.drop(columns="panel"),
        caption=f"USD at full length, and billed; {count_runs(cells)}; {_prices.days(costs)}.",
        description=f"Stacked bars of USD: {spoken}.",
        finding=f"At full length {share:.0%} of the dollars are for training and validation",
        notes=notes,
    )


def _start(costs: pd.DataFrame) -> str:
    """Return in words of how many runs it is known what their machine took to start."""
    known = int(costs["boot_seconds"].notna().sum())
    if not known:
        return "No run records what its machine took to start."
    return f"{known} of {len(costs)} runs record what their machine took to start."
