"""Time to train with all GPUs of a machine, beside that with one of them."""

import pandas as pd
from plotnine import (
    aes,
    coord_flip,
    element_blank,
    geom_col,
    geom_text,
    ggplot,
    labs,
    position_dodge,
    scale_fill_manual,
    scale_y_continuous,
    theme,
)

from scripts.charts._lines import COLOURS
from scripts.charts._theme import INK, WIDTH, look
from scripts.charts._view import Chart, View
from scripts.storage.numbers import number
from scripts.storage.tables import records

SCOPE = "study"
TITLE = "Several GPUs or one"
MISSING = "the study compares no such machines"
HELP = "Shorter bars are faster; the machine is the same."

_WORDS = {"one": "one GPU used", "several": "all GPUs used"}


def draw(view: View) -> Chart | None:
    if "several_gpus" not in view.tables:
        return None
    table = view.tables["several_gpus"]
    table = table.assign(used=pd.Categorical(table["gpus"].map(_WORDS), list(_WORDS.values())))
    table["text"] = [f" {number(hours)}" for hours in table["hours"]]
    dodge = position_dodge(width=0.8)
    figure = (
        ggplot(table, aes("label", "hours", fill="used"))
        + geom_col(position=dodge, width=0.75)
        + geom_text(aes(label="text"), position=dodge, ha="left", size=10, color=INK)
        + scale_fill_manual(COLOURS)
        + scale_y_continuous(limits=(0, float(table["hours"].max()) * 1.2), expand=(0, 0))
        + coord_flip()
        + labs(x="", y="time to train, hours")
        + look()
        + theme(panel_grid_major_y=element_blank())
    )
    spoken = "; ".join(f"{row['label']}, {row['used']}:{row['text']} hours" for row in records(table))
    return Chart(
        figure=figure,
        width=WIDTH,
        height=1.2 + 0.6 * table["label"].nunique(),
        data=table.drop(columns="text"),
        caption="Time to train on the same machine, one run each, so no spread is known.",
        description=f"Bar chart of hours to train: {spoken}.",
    )
