"""Time to train of each cell."""

from scripts.charts import _absolute
from scripts.charts._view import Chart, View

TITLE = "Time to train"
MISSING = "no run tells its time"
HELP = "Shorter bars are faster."


def draw(view: View) -> Chart | None:
    runs = view.runs[view.runs["status"] == "done"]
    runs = runs.assign(hours=runs["train_seconds"] / 3600)
    epochs = ", ".join(str(epochs) for epochs in sorted(set(runs["epochs_done"].dropna())))
    return _absolute.bars(runs, "hours", "time to train, hours", view, f"Time to train of {epochs} epochs")
