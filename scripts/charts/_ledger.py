"""The picture of the project's own ledger: what was promised of trainings, beside what they took."""

from collections.abc import Sequence

import pandas as pd
from plotnine import (
    aes,
    geom_abline,
    geom_point,
    geom_ribbon,
    ggplot,
    labs,
    scale_shape_manual,
    scale_x_log10,
    scale_y_log10,
)

from scripts.charts._lines import COLOURS
from scripts.charts._theme import FAINT, LINE, WIDTH, look
from scripts.charts._view import Chart
from scripts.records.ledger import NEAR, Training, summary
from scripts.storage.numbers import number

#: The shape of a dot for each kind of minute, which the recorder itself names.
_SHAPES = {"quiet": "D", "disturbed": "o", "in doubt": "s"}

#: Of the axis, beyond the points on either side.
_ROOM = 1.3


def draw(rows: Sequence[Training]) -> Chart | None:
    """Draw each training that something was promised of; None where there is none."""
    promised = [row for row in rows if row.promised_seconds]
    table = pd.DataFrame(
        [
            {
                "label": row.label,
                "promised": row.promised_seconds,
                "took": row.taken_seconds,
                "word": row.kind,
            }
            for row in promised
        ]
    )
    if not len(table):
        return None
    table["word"] = pd.Categorical(table["word"], [word for word in _SHAPES if word in set(table["word"])])
    values = table[["promised", "took"]]
    ends = [values.min().min() / _ROOM, values.max().max() * _ROOM]
    band = pd.DataFrame({"x": ends, "low": [end / NEAR for end in ends], "high": [end * NEAR for end in ends]})
    figure = (
        ggplot(table, aes("promised", "took"))
        + geom_ribbon(aes("x", ymin="low", ymax="high"), data=band, inherit_aes=False, fill=LINE, alpha=0.6)
        + geom_abline(slope=1, intercept=0, color=FAINT, size=0.7)
        + geom_point(aes(shape="word"), color=COLOURS[0], size=2.6, stroke=0.8, fill="none")
        + scale_shape_manual(_SHAPES)
        + scale_x_log10(labels=_seconds)
        + scale_y_log10(labels=_seconds)
        + labs(x="promised, s (log)", y="took, s (log)")
        + look()
    )
    said = "; ".join(
        f"{row.label}: {number(row.promised_seconds)} s, took {number(row.taken_seconds)} s" for row in promised
    )
    return Chart(
        figure=figure,
        width=WIDTH,
        height=4.4,
        data=table,
        caption=f"n = {len(table)} trainings, one run each. The line is a promise kept, the band a factor of {NEAR:g}.",
        finding=f"Promises are {summary(rows)}",
        description=f"Dots of seconds promised and taken: {said}.",
    )


def _seconds(ticks: Sequence[float]) -> list[str]:
    return [number(tick, 2) for tick in ticks]
