"""Mean use of the GPU of each cell."""

from scripts.charts import _absolute, _findings
from scripts.charts._view import Chart, View

TITLE = "Use of the GPU"
MISSING = "no run records the use of its GPU"
HELP = "What is not used is paid for all the same."
ROWS_BY = "train_seconds"


def draw(view: View) -> Chart | None:
    used = view.runs["gpu_percent"].dropna()
    finding = f"GPUs were used {_findings.span(used.min(), used.max(), 0, ' %')} of the time" if len(used) else ""
    caption = "Mean use of the GPU, %, as the source sampled it"
    return _absolute.bars(view.runs, "gpu_percent", "mean use of the GPU, %", view, caption, finding=finding)
