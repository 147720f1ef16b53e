"""Time to train relative to the base cell."""

from scripts.analysis import clocks
from scripts.charts import _relative
from scripts.charts._view import Chart, View
from scripts.storage.numbers import number

TITLE = "Relative time to train"
MISSING = "the base has no time to compare with"
HELP = "Shorter bars train faster; the dashed line is the base."
ROWS_BY = "train_seconds"


def draw(view: View) -> Chart | None:
    runs = view.runs.assign(train_seconds=view.runs["train_seconds"].where(view.runs["status"] == "done"))
    drawn = _relative.bars(runs, "train_seconds", "time to train, × the base", view)
    if drawn is None:
        return None
    figure, cells = drawn
    base = cells[_relative.is_base(cells, view)].iloc[0]
    ours = view.runs["first_step_seconds"].notna().any()
    counted = "that of all epochs with first step and validation" if ours else "what the source counts"
    if clocks.watched(view.runs):
        counted = "that of the steps and pauses of the whole, as expected of what was watched"
    return _relative.chart(
        figure,
        cells,
        "relative time to train",
        finding=_relative.fastest(runs, "train_seconds", view, "trains fastest"),
        caption=f"Time to train, × {base['label']} ({number(base['median'])} s); {_relative.count_runs(cells)}.",
        notes=[f"The time to train is {counted}.", "Points are the single runs."],
    )
