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
from scripts.charts._theme import INK, TEXT, WIDTH, look
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
        + geom_text(aes(label="text"), position=dodge, ha="left", size=TEXT, color=INK)
        + scale_fill_manual(COLOURS)
        + scale_y_continuous(limits=(0, float(table["hours"].max()) * 1.2), expand=(0, 0))
        + coord_flip()
        + labs(x="", y="time to train, hours")
        + look()
        + theme(panel_grid_major_y=element_blank())
    )
    hours = table.pivot_table(index="label", columns="gpus", values="hours", sort=False)
    ratios = hours["several"] / hours["one"]
    spoken = "; ".join(f"{row['label']}, {row['used']}:{row['text']} hours" for row in records(table))
    return Chart(
        figure=figure,
        width=WIDTH,
        height=1.2 + 0.6 * table["label"].nunique(),
        data=table.drop(columns="text"),
        caption="Hours to train on the same machine, one run each, so no spread is known.",
        finding=f"All GPUs take {' and '.join(f'{ratio:.2f}×' for ratio in ratios)} the time of one",
        description=f"Bar chart of hours to train: {spoken}.",
    )
