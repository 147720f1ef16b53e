"""Lines of a value against an axis of the grid: a panel for each machine, a colour for each framework."""

import pandas as pd
from plotnine import (
    aes,
    element_text,
    facet_wrap,
    geom_line,
    geom_point,
    ggplot,
    labs,
    scale_color_manual,
    scale_linetype_manual,
    scale_shape_manual,
    scale_x_continuous,
    theme,
)

from scripts.analysis.names import FRAMEWORK_NAMES
from scripts.charts._theme import FRAMEWORK_COLOURS, INK, TEXT, look
from scripts.charts._view import View
from scripts.storage.tables import records

#: Of what differs beside the colour; dashed is what it is compared with.
LINETYPES = ("solid", "dotted", "dashdot", (0, (7, 1)), (0, (3, 1, 1, 1, 1, 1)), (0, (1, 4)))

_SHAPES = {"median": "o", "largest that fits": "^", "did not train": "x"}
_WORDS = {"batch_size": "batch {}", "mode": "{}", "precision": "{}", "devices": "devices: {}"}


def lines(cells: pd.DataFrame, runs: pd.DataFrame, x: str, y: str, axis: str, view: View) -> ggplot:
    """Draw `y` of the cells against `x`, which is logarithmic and goes along `axis`; `y` of single runs as dashes.

    A cell's `kind` is "median", "largest that fits" or "did not train", which stands at 0. Cells that differ in
    another axis have another line, of more than there are styles of lines all in one: see `notes`.
    """
    axes = _unlike_axes(cells, axis)
    machines = list(dict.fromkeys(cells["hardware"].map(view.labels)))
    cells, runs = (
        frame.assign(
            machine=pd.Categorical(frame["hardware"].map(view.labels), machines),
            line=[
                " · ".join(_WORDS[name].format(str(row[name]).replace("_", " ")) for name in axes)
                for row in records(frame)
            ],
        )
        for frame in (cells, runs)
    )
    cells["line"] = pd.Categorical(cells["line"], list(dict.fromkeys(cells["line"])))
    kinds = [kind for kind in _SHAPES if kind in set(cells["kind"])]
    trained = cells[cells["kind"] != "did not train"]
    joined = trained[trained.groupby(["hardware", "framework", "line"], observed=True)[x].transform("nunique") > 1]
    if len(cells["line"].cat.categories) > len(LINETYPES):
        each = geom_line(aes(group="framework.astype(str) + line.astype(str)"), data=joined, size=0.6)
    else:
        each = geom_line(aes(linetype="line"), data=joined, size=0.9, show_legend={"linetype": bool(axes)})
    return (
        ggplot(cells, aes(x, y, color="framework"))
        + each
        + ([geom_point(data=runs, shape="_", size=3, show_legend=False)] if len(runs) > len(trained) else [])
        + geom_point(aes(shape="kind"), size=2.2, show_legend={"shape": len(kinds) > 1})
        + facet_wrap("machine", ncol=1, scales="free_y")
        + scale_color_manual(
            FRAMEWORK_COLOURS,
            breaks=list(dict.fromkeys(cells["framework"])),
            labels=lambda keys: [FRAMEWORK_NAMES.get(key, key) for key in keys],
        )
        + scale_linetype_manual(LINETYPES)
        + scale_shape_manual(_SHAPES, breaks=kinds)
        + scale_x_continuous(trans="log2", labels=lambda ticks: [f"{tick:g}" for tick in ticks])
        + labs(color="", linetype="", shape="")
        + look()
        + theme(legend_box="vertical", strip_text=element_text(color=INK, size=TEXT))
    )


def height(cells: pd.DataFrame) -> float:
    """Return the height (inches) of a chart of these cells."""
    return 1.5 + 1.7 * cells["hardware"].nunique()


def notes(cells: pd.DataFrame, axis: str) -> list[str]:
    """Return what stands beside a chart of these lines."""
    axes = _unlike_axes(cells, axis)
    unlike = len(cells[axes].drop_duplicates()) if axes else 1
    names = " and ".join(name.replace("_", " ") for name in axes)
    many = [f"The {unlike} kinds of lines differ in {names}; the tables name each."] if unlike > len(LINETYPES) else []
    return ["Dashes are the single runs.", *many]


def _unlike_axes(cells: pd.DataFrame, axis: str) -> list[str]:
    """Return in which axes but that of the chart cells differ."""
    return [name for name in _WORDS if name != axis and cells[name].nunique() > 1]
