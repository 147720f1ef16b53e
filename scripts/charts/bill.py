"""What one run was billed: its own way of rounding for every provider."""

from scripts.charts import _absolute
from scripts.charts._view import Chart, View

TITLE = "Bill of one run"
MISSING = "no run has a price"
HELP = "Shorter bars are cheaper; a line spans the range of the price."


def draw(view: View) -> Chart | None:
    costs = view.costs[view.costs["price_option"] == view.price_option]
    for end in ("low", "high"):
        costs = costs.assign(
            **{f"billed_{end}": costs["billed_usd"] * costs[f"usd_per_hour_{end}"] / costs["usd_per_hour"]}
        )
    dates = " and ".join(sorted(set(costs["price_as_of"])))
    inferred = int((costs["price_inferred"] != "").sum())
    rate = view.price_label or view.price_option
    caption = f"Billed seconds × {rate} (prices of {dates}, {inferred} of {len(costs)} inferred)"
    return _absolute.bars(costs, "billed_usd", "bill of one run, USD", view, caption, "billed")
