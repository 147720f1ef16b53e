"""How many times more samples a dollar buys on the owned machine, by its use."""

from plotnine import (
    aes,
    geom_hline,
    geom_line,
    ggplot,
    guide_legend,
    guides,
    labs,
    scale_color_manual,
    scale_x_continuous,
    scale_y_continuous,
    theme,
)

from scripts.charts import _findings
from scripts.charts._lines import COLOURS
from scripts.charts._theme import INK, WIDTH, look
from scripts.charts._view import Chart, View
from scripts.storage.tables import records

SCOPE = "study"
TITLE = "Gain against use"
MISSING = "the study does not say what an owned machine gains by its use"
HELP = "Above the dashed line a dollar buys more on the owned machine."


def draw(view: View) -> Chart | None:
    if "use" not in view.tables:
        return None
    keys = ["against", "base"]
    gains = view.tables["gains"].merge(view.tables["use"][keys].drop_duplicates(), on=keys)
    table = view.tables["use"].merge(gains[[*keys, "label", "at_usd_per_hour"]], on=keys)
    prices = {base: f"at {usd:.2f} USD/h" for base, usd in zip(gains["base"], gains["at_usd_per_hour"], strict=True)}
    table = table.assign(reckoned=table["base"].map(prices))
    figure = (
        ggplot(table, aes("days", "gain", color="label", linetype="reckoned"))
        + geom_hline(yintercept=1, linetype="dashed", color=INK, size=0.6)
        + geom_line(size=1.1)
        + scale_color_manual(COLOURS)
        + scale_x_continuous(breaks=[1, 5, 10, 15, 20, 25, 30])
        + scale_y_continuous(labels=lambda ticks: [f"{tick:g}×" for tick in ticks])
        + labs(x="days of use a month, round the clock", y="samples per USD, × the rented", color="", linetype="")
        + guides(color=guide_legend(ncol=1), linetype=guide_legend(ncol=1))
        + look()
        + theme(legend_position="bottom", legend_box="vertical")
    )
    days = gains["break_even_days"].astype(float)
    pays = "; ".join(f"{row['label']}, {prices[row['base']]}: {row['break_even_days']:.1f}" for row in records(gains))
    return Chart(
        figure=figure,
        width=WIDTH,
        height=5.2,
        data=table,
        caption="Samples per USD, × the rented machine, from the gains printed for 10 days.",
        finding=f"Owning pays from {_findings.span(days.min(), days.max(), 1, '')} days of use a month",
        notes=[
            "The gains are reckoned at the hourly price that follows from the breakdown or at the printed one.",
            "The box costs what the breakdown says.",
            f"Days from which owning pays: {pays}.",
        ],
        description=f"Rising lines of the gain by days of use. Owning pays from these days: {pays}.",
    )
