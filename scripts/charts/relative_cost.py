"""Cost of the training relative to the base cell."""

from scripts.charts import _relative
from scripts.charts._view import Chart, View
from scripts.storage.numbers import number

TITLE = "Relative cost"
MISSING = "the base cell has no cost to compare with"
#: More rates than these are left to the table.
_RATES = 9

HELP = "Shorter bars are cheaper; the dashed line is the base cell."


def draw(view: View) -> Chart | None:
    priced = view.costs[view.costs["price_option"] == view.price_option]
    runs = view.runs.merge(priced[["run", "cost_usd", "usd_per_hour", "price_as_of"]], on="run", how="left")
    drawn = _relative.bars(runs, "cost_usd", "cost, × the base cell", view)
    if drawn is None:
        return None
    figure, cells = drawn
    base = cells[_relative.is_base(cells, view)].iloc[0]
    dates = sorted(set(priced["price_as_of"]))
    rates = priced.drop_duplicates("hardware").set_index("hardware")["usd_per_hour"]
    rents = ", ".join(f"{view.labels[str(name)]} {rate:.4g} USD/h" for name, rate in rates.items())
    if len(rates) > _RATES:
        rents = f"{len(rates)} rates, in the table of prices"
    caption = (
        f"Time to train × {view.price_label}, without minimum and rounding ({rents}; prices of "
        f"{' and '.join(dates)}), over that of {base['label']} (1.00× = {number(base['median'])} USD); "
        f"{_relative.describe_runs(cells)}."
    )
    return _relative.chart(figure, cells, caption, "relative cost")
