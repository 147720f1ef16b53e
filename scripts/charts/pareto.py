"""Time against cost: the cells that no other cell beats in both."""

from itertools import pairwise
from textwrap import fill

import numpy as np
import pandas as pd
from plotnine import (
    aes,
    geom_point,
    geom_segment,
    geom_step,
    geom_text,
    ggplot,
    labs,
    scale_color_manual,
    scale_x_log10,
    scale_y_log10,
)

from scripts.analysis import verdicts
from scripts.analysis.names import FRAMEWORK_NAMES, cell_name
from scripts.charts import _clocks, _findings, _prices
from scripts.charts._relative import CELL, count_runs
from scripts.charts._theme import FAINT, FRAMEWORK_COLOURS, INK, LINE, TEXT, WIDTH, look, wrapped
from scripts.charts._view import Chart, View
from scripts.costs.outcomes import pareto_front
from scripts.storage.numbers import number
from scripts.storage.tables import known, records

TITLE = "Time against cost"
MISSING = "no run has a time and a price"
HELP = (
    "Lower is cheaper, further left is faster; the line joins the lowest medians. Of more than eight, those are named "
    "that no other clearly beats."
)


#: So many cells are all named; of more, the front, at most so many of it.
_FEW, _MOST = 8, 16

#: Height (inches) of a line of a name, room right of the points for names as part of the scale, letters of a line.
_LINE, _ROOM, _LETTERS = 0.22, 1.5, 40

#: Ticks of a decade where there are few decades, and of fewer the more there are.
_TICKS = ((1, 1.5, 2, 3, 5, 7), (1, 2, 5), (1, 3), (1,))


def draw(view: View) -> Chart | None:
    priced = view.costs[view.costs["price_option"] == view.price_option].dropna(subset=["useful_seconds", "cost_usd"])
    if priced.empty:
        return None
    cells = priced.groupby(CELL, sort=False, as_index=False, dropna=False).agg(
        seconds=("useful_seconds", "median"),
        usd=("cost_usd", "median"),
        n=("cost_usd", "count"),
        each_seconds=("useful_seconds", list),
        each_usd=("cost_usd", list),
    )
    cells["line"] = pareto_front(cells["seconds"], cells["usd"])
    cells["front"] = verdicts.front(
        view.judge, *(list(cells[name]) for name in ("each_seconds", "each_usd", "hardware"))
    )
    cells = cells.drop(columns=["each_seconds", "each_usd"])
    cells["machine"] = [view.labels[name] for name in cells["hardware"]]
    # The colour shows the framework; where cells differ in nothing else but the machine, that is name enough.
    plain = (cells[["batch_size", "mode", "precision", "devices"]].nunique(dropna=False) == 1).all()
    cells["label"] = (
        cells["machine"]
        if plain
        else [cell_name(cell, view.labels, view.published_batch_size, one_framework=True) for cell in records(cells)]
    )
    cells["framework"] = pd.Categorical(cells["framework"], list(dict.fromkeys(cells["framework"])))
    front = cells[cells["front"]].sort_values("seconds")
    chosen = cells if len(cells) <= _FEW else _some(front)
    named = _beside(cells, chosen.assign(label=wrapped([view.name(cell) for cell in records(chosen)])))
    figure = (
        ggplot(cells, aes("seconds", "usd"))
        + geom_step(data=cells[cells["line"]].sort_values("seconds"), color=FAINT, linetype="dashed", size=0.6)
        # Below the points: those of one cost stand in one line, through which a name is joined to its own.
        + geom_segment(aes(xend="at", yend="height"), data=named, color=LINE, size=0.6)
        + geom_point(aes(color="framework"), size=3)
        + geom_text(aes(x="at", y="height", label="label"), data=named, size=TEXT, color=INK, ha="left", va="center")
        + scale_color_manual(FRAMEWORK_COLOURS, labels=lambda keys: [FRAMEWORK_NAMES.get(key, key) for key in keys])
        + scale_x_log10(labels=lambda ticks: [f"{tick:g}" for tick in ticks], expand=(0.05, 0, _ROOM, 0))
        + scale_y_log10(
            breaks=_ticks(cells["usd"]), labels=lambda ticks: [f"{tick:g}" for tick in ticks], expand=(0.1, 0)
        )
        + labs(x=fill(f"{_clocks.axis(view.runs)}, s (log scale)", _LETTERS), y="cost, USD (log scale)")
        + look()
    )
    names = [f"{row['framework']} {row['label']}" for row in records(front)]
    every = "; ".join(
        f"{row['framework']} {row['label']} {number(row['seconds'])} s, {number(row['usd'])} USD"
        for row in records(cells)
    )
    return Chart(
        figure=figure,
        width=WIDTH,
        height=_height(named),
        data=cells,
        caption=f"USD and seconds; {len(named)} of {len(cells)} configurations named; "
        f"{count_runs(cells)}; {_prices.days(priced)}.",
        description=f"Scatter of time and cost: {every}. On the front: {', '.join(names)}.",
        finding=_finding(cells, priced, view),
        notes=[
            f"{_clocks.paid(view.runs)} and its cost at {view.price_label} ({_prices.dated(priced)}).",
            f"None is clearly better than those that are named{_nor(len(front) - len(chosen))}."
            if len(cells) > _FEW
            else f"None is clearly better than {' or '.join(view.name(cell) for cell in records(front))}.",
        ],
    )


def _ticks(usd: pd.Series) -> list[float]:
    """Return where the axis of dollars has its ticks: no point lies far above the last of them."""
    decades = int(np.log10(usd.max() / usd.min()))
    first = int(np.floor(np.log10(usd.min())))
    each = _TICKS[min(decades, len(_TICKS) - 1)]
    return [float(f"{step}e{decade}") for decade in range(first, first + decades + 3) for step in each]


def _some(front: pd.DataFrame) -> pd.DataFrame:
    """Return which of the front are named: all, or of more than can be read those of the line, from end to end."""
    if len(front) <= _MOST:
        return front
    line = front[front["line"]]
    ends = np.linspace(0, len(line) - 1, min(len(line), _MOST))
    return line.iloc[ends.round().astype(int)]


def _nor(more: int) -> str:
    return f", nor than {more} more" if more > 0 else ""


def _height(named: pd.DataFrame) -> float:
    """Return the height (inches) of the chart: at least that of its names, one below another."""
    return max(3.6, 1.4 + _LINE * named["label"].str.count("\n").add(1).sum())


def _beside(cells: pd.DataFrame, named: pd.DataFrame) -> pd.DataFrame:
    """Return what is named with the place of its name: right of all points (`at`), as near its own `height` as fits."""
    low, high = np.log10(cells["usd"].min()), np.log10(cells["usd"].max())
    panel = _height(named) - 1.2
    line = max(high - low, 0.1) * 1.2 * _LINE / panel
    lines = named["label"].str.count("\n") + 1
    order = named["usd"].sort_values().index
    heights = pd.Series(np.log10(named.loc[order, "usd"].to_numpy(dtype=float)), index=order)
    for before, after in pairwise(order):
        least = heights[before] + line * (lines[before] + lines[after]) / 2
        heights[after] = max(heights[after], least)
    heights -= max(0.0, (heights.max() - max(high, low + 0.1)) / 2) if len(heights) else 0.0
    span = cells["seconds"].max() / cells["seconds"].min()
    return named.assign(height=10 ** heights.reindex(named.index), at=cells["seconds"].max() * span**0.06)


def _finding(cells: pd.DataFrame, priced: pd.DataFrame, view: View) -> str:
    """Return the price of speed: the shortest time over the lowest cost, where they differ clearly in both."""
    if len(cells) < 2:
        return ""
    runs = {known(key): of for key, of in priced.groupby(CELL, sort=False, dropna=False)}
    every = [runs[known(tuple(cell[axis] for axis in CELL))] for cell in records(cells)]
    names = [FRAMEWORK_NAMES.get(cell["framework"], cell["framework"]) + f" {cell['label']}" for cell in records(cells)]
    seconds, usd = (cells[by].to_numpy() for by in ("seconds", "usd"))
    # Of those that cost the same, as where all are billed the least that there is, the shortest.
    fast, cheap = (int(np.lexsort(keys)[0]) for keys in ((usd, seconds), (seconds, usd)))
    of = list(cells["hardware"])
    if fast == cheap:
        said = [
            _findings.winner(names, [each[column].to_numpy(dtype=float) for each in every], view.judge, does, of)
            for column, does in (("useful_seconds", "is fastest"), ("cost_usd", "is cheapest"))
        ]
        both = f"{names[fast]} is fastest and cheapest"
        return both if said == [f"{names[fast]} is fastest", f"{names[fast]} is cheapest"] else ". ".join(said)
    compared = [
        view.judge.compare(every[fast][column], every[cheap][column], (of[fast], of[cheap]))
        for column in ("useful_seconds", "cost_usd")
    ]
    alike = [word for word, one in zip(("time", "cost"), compared, strict=True) if not one.is_clear]
    if alike:
        why = verdicts.why(view.judge.reason(one.runs) for one in compared if not one.is_clear)
        return f"{why[:1].upper()}{why[1:]} in {' and '.join(alike)}: {names[fast]} and {names[cheap]}"
    quicker, dearer = compared
    return f"{names[fast]} is {1 / quicker.ratio:.2g}× as fast as {names[cheap]}, for {dearer.ratio:.2g}× the money"
