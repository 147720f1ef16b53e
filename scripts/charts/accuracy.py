"""Final validation accuracy of each cell: the machine should make no difference."""

from scripts.charts import _absolute
from scripts.charts._view import Chart, View

TITLE = "Accuracy"
MISSING = "no run records its accuracy"
HELP = "All bars should be equally long: the machine should not change what is learned."
ROWS_BY = "train_seconds"


def draw(view: View) -> Chart | None:
    runs = view.runs[view.runs["status"] == "done"]
    runs = runs.assign(percent=runs["val_acc"] * 100)
    spread = runs["percent"].max() - runs["percent"].min()
    finding = f"Accuracies end within {spread:.2f} points of each other" if len(runs["percent"].dropna()) > 1 else ""
    caption = "Validation accuracy at the end, %"
    return _absolute.bars(runs, "percent", "validation accuracy, %", view, caption, finding=finding)
