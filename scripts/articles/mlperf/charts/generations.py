"""A newer card over an older one: accelerator-hours and dollars of the same training."""

import pandas as pd
from plotnine import (
    aes,
    facet_wrap,
    geom_point,
    geom_segment,
    geom_vline,
    ggplot,
    labs,
    scale_color_manual,
    scale_shape_manual,
    scale_x_log10,
)

from scripts.charts import _findings
from scripts.charts._lines import COLOURS
from scripts.charts._theme import INK, LINE, WIDTH, look
from scripts.charts._view import Chart, View
from scripts.storage.tables import records

SCOPE = "study"
TITLE = "A newer card over an older one"
MISSING = "the study compares no generations of cards"
HELP = "Left of the dashed line the newer card takes less than the older one."

_HOURS, _USD = "accelerator-hours", "dollars"


def draw(view: View) -> Chart | None:
    if "generations" not in view.tables or view.tables["generations"].empty:
        return None
    table = view.tables["generations"]
    pairs = [f"{row['new']} / {row['old']}" for row in records(table)]
    table = table.assign(pair=pd.Categorical(pairs, list(dict.fromkeys(pairs))))
    order = list(dict.fromkeys(table["label"]))[::-1]
    table["label"] = pd.Categorical(table["label"], order)
    keys = ["pair", "label", "round", "new_results", "old_results"]
    tall = pd.concat(
        [
            table[keys].assign(what=_HOURS, ratio=table["hours"], low=table["hours_low"], high=table["hours_high"]),
            table[keys].assign(what=_USD, ratio=table["usd"]),
        ],
        ignore_index=True,
    )
    tall["what"] = pd.Categorical(tall["what"], [_HOURS, _USD])
    figure = (
        ggplot(tall, aes("ratio", "label", color="what", shape="what"))
        + geom_vline(xintercept=1, linetype="dashed", color=INK, size=0.6)
        + geom_segment(
            aes(x="low", xend="high", y="label", yend="label"), data=tall.dropna(subset="low"), color=LINE, size=1.4
        )
        + geom_point(size=3)
        + facet_wrap("pair", ncol=1, scales="free_y")
        + scale_color_manual(COLOURS)
        + scale_shape_manual(["o", "s"])
        + scale_x_log10(breaks=[0.25, 0.5, 1, 1.5], labels=["0.25×", "0.5×", "1×", "1.5×"])
        + labs(x="newer card ÷ older card", y="", color="", shape="")
        + look()
    )
    middle = table.groupby("pair", observed=True)[["hours", "usd"]].median()
    said = "; ".join(
        f"{pair} {row['hours']:.2f}× the hours, {row['usd']:.2f}× the dollars" for pair, row in middle.iterrows()
    )
    return Chart(
        figure=figure,
        width=WIDTH,
        height=1.4 + 0.3 * len(table) + 0.2 * len(middle),
        data=tall,
        caption=f"Newer ÷ older card by benchmark; {_span(table)} results a side.",
        finding=_finding(middle),
        notes=[
            f"Median over benchmarks: {said}.",
            "Results are of the last round with both; bars reach from lowest over highest to highest over lowest.",
            "Machines of eight cards.",
            f"{view.price_label}.",
        ],
        description=f"Points of ratios by benchmark for each pair of cards. Medians: {said}.",
    )


def _finding(middle: pd.DataFrame) -> str:
    """Return in which ranges the medians of the pairs lie."""
    hours, usd = (_findings.span(middle[what].min(), middle[what].max()) for what in ("hours", "usd"))
    return f"A newer card takes {hours} the hours, and {usd} the dollars (medians)"


def _span(table: pd.DataFrame) -> str:
    counts = pd.concat([table["new_results"], table["old_results"]])
    return f"{counts.min()} to {counts.max()}"
