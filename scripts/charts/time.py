"""Time to train of each cell."""

from scripts.charts import _absolute, _relative
from scripts.charts._view import Chart, View

TITLE = "Time to train"
MISSING = "no run records its time"
HELP = "Shorter bars are faster."
ROWS_BY = "train_seconds"


def draw(view: View) -> Chart | None:
    runs = view.runs[view.runs["status"] == "done"]
    runs = runs.assign(hours=runs["train_seconds"] / 3600)
    epochs = ", ".join(str(epochs) for epochs in sorted(set(runs["epochs_done"].dropna())))
    finding = _relative.fastest(runs, "hours", view, "trains fastest")
    caption = f"Hours to train {epochs} epochs"
    return _absolute.bars(runs, "hours", "time to train, hours", view, caption, finding=finding)
