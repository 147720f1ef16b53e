"""Mean use of the GPU of each cell."""

from scripts.charts import _absolute
from scripts.charts._view import Chart, View

TITLE = "Use of the GPU"
MISSING = "no run tells the use of its GPU"
HELP = "What is not used is paid for all the same."


def draw(view: View) -> Chart | None:
    caption = "Mean use of the GPU during training, as the source sampled it"
    return _absolute.bars(view.runs, "gpu_percent", "mean use of the GPU, %", view, caption)
