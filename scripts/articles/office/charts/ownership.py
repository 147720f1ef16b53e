"""What an hour of the owned machine costs by its use, beside rents."""

import pandas as pd
from plotnine import aes, geom_line, geom_segment, geom_text, ggplot, labs, scale_x_continuous, scale_y_log10

from scripts.charts._lines import COLOURS
from scripts.charts._theme import FAINT, INK, TEXT, WIDTH, look
from scripts.charts._view import Chart, View
from scripts.costs.billing import DAYS_PER_MONTH
from scripts.storage.numbers import number
from scripts.storage.tables import records

SCOPE = "study"
TITLE = "What an owned hour costs"
#: Rents nearer than this factor to the one below would be written over one another.
_APART = 1.25

MISSING = "the study does not say what an owned machine gains by its use"
HELP = "Where the curve is below a line, an hour of the owned machine costs less than an hour of that rented one."


def draw(view: View) -> Chart | None:
    if "use" not in view.tables:
        return None
    curve = view.tables["use"].drop_duplicates("days")[["days", "usd_per_hour"]]
    rents = view.tables["rents"].dropna(subset="usd_per_hour").sort_values("usd_per_hour")
    rents = rents[rents["price_option"] != "today"]
    rents = rents.assign(
        label=[
            f"{view.labels[row['hardware']]} ({row['price_option']}), {number(row['usd_per_hour'])}"
            for row in records(rents)
        ],
        # Beside the line there is room for the machine's name alone.
        short=[
            f"{view.labels[row['hardware']].partition(',')[0]} {number(row['usd_per_hour'])}" for row in records(rents)
        ],
    )
    low, high = float(curve["usd_per_hour"].min()), float(curve["usd_per_hour"].max())
    lines, last = [], low
    for row in records(rents):
        if last * _APART < row["usd_per_hour"] < high:
            last = float(row["usd_per_hour"])
            lines.append({"y": last, "label": row["short"]})
    drawn = pd.DataFrame(lines, columns=["y", "label"])
    figure = (
        ggplot(curve, aes("days", "usd_per_hour"))
        + geom_segment(aes(x=1, xend=30, y="y", yend="y"), data=drawn, color=FAINT, linetype="dashed", size=0.4)
        + geom_text(aes(x=30.6, y="y", label="label"), data=drawn, ha="left", size=TEXT, color=INK)
        + geom_line(color=COLOURS[1], size=1.2)
        + scale_x_continuous(breaks=[1, 5, 10, 15, 20, 25, 30], limits=(1, 56))
        + scale_y_log10(labels=lambda ticks: [f"{tick:g}" for tick in ticks])
        + labs(x="days of use a month, round the clock", y="USD per hour (log scale)")
        + look()
    )
    reached = int((rents["break_even_days"] <= DAYS_PER_MONTH).sum())
    pays = "; ".join(
        f"{row['label']}: from {row['break_even_days']:.1f} days"
        if row["break_even_days"] <= DAYS_PER_MONTH
        else f"{row['label']}: never"
        for row in records(rents)
    )
    return Chart(
        figure=figure,
        width=WIDTH,
        height=5.0,
        data=curve,
        caption=f"USD an hour by days of use; {len(lines)} of {len(rents)} rents are drawn.",
        finding=f"Within a month an owned hour gets cheaper than {reached} of {len(rents)} rented ones",
        notes=[
            "An owned hour is acquisition over its life and its hours of use, and the energy of one hour.",
            "The other rents stand in the table.",
            "An hour is not the same work on every machine: the lines compare rents, not throughput.",
        ],
        description=f"A falling curve of the owned hour by use, rents as lines. Owning an hour pays against {pays}.",
    )
