"""What an hour of the owned machine costs by its use, beside rents."""

import pandas as pd
from plotnine import aes, geom_hline, geom_line, geom_text, ggplot, labs, scale_x_continuous, scale_y_log10

from scripts.charts import Chart, View
from scripts.charts._lines import COLOURS
from scripts.charts._theme import FAINT, INK, look
from scripts.numbers import number

SCOPE = "study"
TITLE = "What an owned hour costs"
MISSING = "the study owns no machine"
HELP = "Where the curve is below a line, an hour of the owned machine costs less than an hour of that rented one."


def draw(view: View) -> Chart | None:
    if "use" not in view.tables:
        return None
    curve = view.tables["use"].drop_duplicates("days")[["days", "usd_per_hour"]]
    rents = view.tables["rents"].dropna(subset="usd_per_hour")
    rents = rents.assign(
        label=[
            f"{view.labels[row.hardware]} ({row.price_option}), {number(row.usd_per_hour)}"
            for row in rents.itertuples()
        ]
    )
    near = rents[rents["usd_per_hour"].between(curve["usd_per_hour"].min(), curve["usd_per_hour"].max() * 1.1)]
    shown = near.sort_values("usd_per_hour")
    lines = pd.DataFrame({"y": shown["usd_per_hour"].astype(float), "label": shown["label"]})
    figure = (
        ggplot(curve, aes("days", "usd_per_hour"))
        + geom_hline(aes(yintercept="y"), data=lines, color=FAINT, linetype="dashed", size=0.4)
        + geom_text(aes(x=30, y="y", label="label"), data=lines, ha="right", va="bottom", size=7, color=INK)
        + geom_line(color=COLOURS[1], size=1.2)
        + scale_x_continuous(breaks=[1, 5, 10, 15, 20, 25, 30], limits=(1, 30))
        + scale_y_log10()
        + labs(x="days of use a month, round the clock", y="USD per hour (log scale)")
        + look()
    )
    pays = "; ".join(
        f"{row.label}: from {row.break_even_days:.1f} days" if row.break_even_days <= 30.5 else f"{row.label}: never"
        for row in rents.sort_values("usd_per_hour").itertuples()
    )
    return Chart(
        figure=figure,
        width=4.6,
        height=5.0,
        data=curve,
        caption="Acquisition over its life and its hours of use, and the energy of one hour. An hour is not the "
        "same work on every machine: the lines compare rents, not throughput.",
        description=f"A falling curve of the owned hour by use, rents as lines. Owning an hour pays against {pays}.",
    )
