"""Time to train relative to the base cell."""

from scripts.charts import _relative
from scripts.charts._view import Chart, View
from scripts.storage.numbers import number

TITLE = "Relative time to train"
MISSING = "the base cell has no time to compare with"
HELP = "Shorter bars train faster; the dashed line is the base cell."


def draw(view: View) -> Chart | None:
    runs = view.runs.assign(train_seconds=view.runs["train_seconds"].where(view.runs["status"] == "done"))
    drawn = _relative.bars(runs, "train_seconds", "time to train, × the base cell", view)
    if drawn is None:
        return None
    figure, cells = drawn
    base = cells[_relative.is_base(cells, view)].iloc[0]
    ours = view.runs["first_step_seconds"].notna().any()
    counted = "epochs and validation, without the first step" if ours else "as the source counts it"
    caption = (
        f"Time to train ({counted}) over that of {base['label']} "
        f"(1.00× = {number(base['median'])} s); {_relative.describe_runs(cells)}."
    )
    return _relative.chart(figure, cells, caption, "relative time to train")
