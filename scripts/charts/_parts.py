"""The parts of a run in charts of where its seconds and its dollars go: their colours, and bars of them."""

import pandas as pd
from plotnine import (
    aes,
    coord_flip,
    element_blank,
    element_text,
    facet_wrap,
    geom_col,
    geom_text,
    ggplot,
    guide_legend,
    guides,
    labs,
    position_stack,
    scale_fill_manual,
    scale_x_discrete,
    scale_y_continuous,
    theme,
)

from scripts.analysis import dollars
from scripts.charts._theme import FEW_BREAKS, INK, TEXT, look, wrapped
from scripts.storage.numbers import number

#: Of the names of parts: more would be wider than the bars.
_COLUMNS = 2

#: What a label beside a bar needs, as part of the longest bar.
_LABEL = 0.45

#: At least 3:1 on both papers.
COLOURS = {
    dollars.BOOT: "#5b7a2e",
    "start and import": "#8a6d3b",
    "data": "#16858c",
    "build": "#7a5ea8",
    "first step": "#c2497a",
    "training": "#2b7fb8",
    "validation": "#3f8f5f",
    "end of the loop": "#5f6f86",
    dollars.REST: "#b0522d",
    dollars.PREEMPTIONS: "#9b8412",
    dollars.IDLE: "#8f8a99",
}


def bars(cells: pd.DataFrame, parts: list[str], axis: str, unit: str = "", panel: str = "") -> ggplot:
    """Draw the parts of each row of `cells` (columns `label` and `parts`) as one bar from 0, with their sum.

    The sums carry `unit`. With `panel`, the categorical column of that name parts the bars into panels, each with a
    scale of its own.
    """
    keys = ["label", panel] if panel else ["label"]
    stacked = cells.melt(keys, parts, "part", "amount")
    stacked["part"] = pd.Categorical(stacked["part"], parts)
    whole = cells[keys].assign(amount=cells[parts].sum(axis=1))
    whole["text"] = [f"\u00a0{number(total)} {unit}".rstrip(" ") for total in whole["amount"]]
    figure = (
        ggplot(stacked, aes("label", "amount"))
        + geom_col(aes(fill="part"), position=position_stack(reverse=True), width=0.7)
        + geom_text(aes(label="text"), data=whole, ha="left", size=TEXT, color=INK)
        + scale_fill_manual({part: COLOURS[part] for part in parts})
        + scale_x_discrete(limits=list(dict.fromkeys(reversed(cells["label"].to_list()))), labels=wrapped)
        + scale_y_continuous(
            expand=(0, 0, _LABEL, 0),
            breaks=FEW_BREAKS,
            labels=lambda ticks: [f"{tick:g}" for tick in ticks],
        )
        + guides(fill=guide_legend(ncol=_COLUMNS))
        + coord_flip()
        + labs(x="", y=axis)
        + look()
        + theme(panel_grid_major_y=element_blank(), legend_justification_top="right", legend_key_size=12)
    )
    if panel:
        figure += facet_wrap(panel, ncol=1, scales="free")
        figure += theme(strip_text=element_text(size=TEXT, color=INK, ha="left"), panel_spacing_y=0.05)
    return figure
