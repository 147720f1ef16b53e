"""Cost of the training relative to the base cell."""

from scripts.charts import _clocks, _prices, _relative
from scripts.charts._view import Chart, View
from scripts.storage.numbers import number

TITLE = "Relative cost"
MISSING = "the base has no cost to compare with"
#: More rates than these are left to the table.
_RATES = 9

HELP = "Shorter bars are cheaper; the dashed line is the base."
ROWS_BY = "cost_usd"


def draw(view: View) -> Chart | None:
    priced = view.costs[view.costs["price_option"] == view.price_option]
    runs = view.runs.merge(priced[["run", "cost_usd", "usd_per_hour", "price_as_of"]], on="run", how="left")
    drawn = _relative.bars(runs, "cost_usd", "cost, × the base", view)
    if drawn is None:
        return None
    figure, cells = drawn
    base = cells[_relative.is_base(cells, view)].iloc[0]
    rates = priced.drop_duplicates("hardware").set_index("hardware")["usd_per_hour"]
    rents = ", ".join(f"{view.labels[str(name)]} {rate:.4g} USD/h" for name, rate in rates.items())
    if len(rates) > _RATES:
        rents = f"{len(rates)} rates, in the table of prices"
    return _relative.chart(
        figure,
        cells,
        "relative cost",
        finding=_relative.fastest(runs, "cost_usd", view, "costs least"),
        caption=f"Cost, × {base['label']} ({number(base['median'])} USD); {_relative.count_runs(cells)}; "
        f"{_prices.days(priced)}.",
        notes=[
            f"{_clocks.paid(runs)} × {view.price_label}, {_prices.billing(priced)}.",
            f"Rates: {rents}; {_prices.dated(priced)}.",
            "Points are the single runs.",
        ],
    )
