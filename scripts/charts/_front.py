"""The picture of the index: the lowest cost of a training of each benchmark, year by year, at the prices of today."""

from collections.abc import Mapping, Sequence
from math import ceil
from typing import Any

import numpy as np
import pandas as pd
from plotnine import (
    aes,
    geom_line,
    geom_point,
    geom_segment,
    geom_text,
    ggplot,
    labs,
    scale_color_manual,
    scale_x_continuous,
    scale_y_log10,
    theme,
)

from scripts.analysis import noise
from scripts.analysis.names import workload_name
from scripts.analysis.verdicts import LESS, Judge, family_wise
from scripts.charts._lines import COLOURS
from scripts.charts._theme import TEXT, WIDTH, look
from scripts.charts._view import Chart
from scripts.storage.numbers import number

#: More lines cannot be distinguished.
_LINES = 8

#: Of more years not each is named: on a phone they would touch.
_YEARS = 4

#: Height of a line of text, as part of the axis.
_LINE = 0.06


def _fell(pairs: Sequence[tuple[Sequence[float], Sequence[float]]]) -> int:
    """Return how many trainings cost less at last than at first, each by its own runs, on two machines."""
    judge = Judge(noise.UNKNOWN, hosts={"last": "last", "first": "first"})
    compared = [judge.compare(last, first, ("last", "first")) for last, first in pairs]
    level = family_wise(np.array([one.p for one in compared]), len(compared))
    return sum(one.word == LESS and one.p <= level for one in compared)


def _apart(values: pd.Series, drawn: pd.Series) -> list[float]:
    """Return where the labels of values stand on a logarithmic axis, in their order: no two on one line."""
    logs = np.log10(values.to_numpy(dtype=float))
    line = _LINE * float(np.ptp(np.log10(drawn.to_numpy(dtype=float))))
    places, last = logs.copy(), -np.inf
    for one in np.argsort(logs, kind="stable"):
        last = places[one] = max(logs[one], last + line)
    return [float(10**place) for place in places]


def draw(rows: Sequence[Mapping[str, Any]]) -> Chart | None:
    """Return the chart of `scripts.pages.front.by_year`; None where no workload was measured on two dates."""
    if not rows:
        return None
    table = pd.DataFrame(rows)
    day = pd.to_datetime(table["date"].str[:10], format="ISO8601", errors="coerce")
    table = (
        table[day.notna()]
        .assign(year=day.dt.year + (day.dt.day_of_year - 1) / 365.25)
        .sort_values("year", kind="stable")
    )
    spans = table.groupby("workload")["year"].agg(lambda years: years.max() - years.min())
    shown = list(spans[spans > 0].nlargest(_LINES).index)
    if not shown:
        return None
    table = table[table["workload"].isin(shown)]
    table["workload"] = pd.Categorical(table["workload"], shown)
    ends = table.groupby("workload", observed=True).tail(1)
    ends = ends.assign(
        at=_apart(ends["usd"], table["usd"]),
        right=table["year"].max() + 0.4,  # of all points: a name stands on none
        label=[workload_name(str(name)) for name in ends["workload"]],
    )
    first, last = int(table["year"].min()), int(table["year"].max()) + 1
    years = list(range(first, last + 1, ceil((last - first) / _YEARS)))
    figure = (
        ggplot(table, aes("year", "usd", color="workload"))
        + geom_line(size=0.9)
        + geom_point(size=2)
        + geom_segment(aes(xend="right", yend="at"), data=ends, linetype="dotted", size=0.5)
        + geom_text(aes("right", "at", label="label"), data=ends, ha="left", nudge_x=0.1, size=TEXT)
        + scale_color_manual(COLOURS)
        + scale_x_continuous(breaks=years, labels=[str(year) for year in years], expand=(0.03, 0, 0.62, 0))
        + scale_y_log10(labels=lambda ticks: [number(tick, 2) for tick in ticks])
        + labs(x="", y="USD a training (log)")
        + look()
        + theme(legend_position="none")
    )
    starts = table.groupby("workload", observed=True).head(1).set_index("workload")
    firsts, lasts = starts["usd"], ends.set_index("workload")["usd"]
    of_runs = ends.set_index("workload")["usd_of_runs"]
    fell = _fell([(of_runs[name], starts["usd_of_runs"][name]) for name in shown])
    said = "; ".join(
        f"{workload_name(name)} {number(firsts[name], 2)} to {number(lasts[name], 2)} USD" for name in shown
    )
    return Chart(
        figure=figure,
        width=WIDTH,
        height=4.6,
        data=table,
        caption="USD of the lowest cost that each study found, at today's prices; one result or configuration each.",
        finding=f"{fell} of {len(shown)} trainings cost clearly less than at first, at the same prices",
        notes=[f"First to last: {said}."],
        description=f"Lines of dollars a training by year: {said}.",
    )
