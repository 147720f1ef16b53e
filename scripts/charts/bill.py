"""What one run was billed: its own way of rounding for every provider."""

from scripts.charts import _absolute, _prices, _relative
from scripts.charts._view import Chart, View

TITLE = "Bill of one run"
MISSING = "no run has a price"
HELP = "Shorter bars are cheaper; a line spans the range of the price."
ROWS_BY = "cost_usd"


def draw(view: View) -> Chart | None:
    costs = view.costs[view.costs["price_option"] == view.price_option]
    for end in ("low", "high"):
        costs = costs.assign(
            **{f"billed_{end}": costs["billed_usd"] * costs[f"usd_per_hour_{end}"] / costs["usd_per_hour"]}
        )
    inferred = int((costs["price_inferred"] != "").sum())
    rate = view.price_label or view.price_option
    return _absolute.bars(
        costs,
        "billed_usd",
        "bill of one run, USD",
        view,
        f"USD billed, {inferred} of {len(costs)} by inferred prices; {_prices.days(costs)}",
        finding=_relative.fastest(costs, "billed_usd", view, "is billed least"),
        bounds="billed",
        notes=[f"Billed seconds × {rate} ({_prices.dated(costs)})."],
    )
