"""What not tuning costs: throughput of each mode over stock."""

from scripts.charts import _axis
from scripts.charts._view import Chart, View

TITLE = "Tuned against stock"
MISSING = "no configuration was trained both as stock and in another mode"
HELP = "Right of the dashed line is faster than stock."
ROWS_BY, ALIKE = "train_seconds", "mode"


def draw(view: View) -> Chart | None:
    return _axis.dumbbells(view, "mode", "stock")
