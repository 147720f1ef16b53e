"""What a lower precision gains: throughput of each over float32."""

from scripts.charts import _axis
from scripts.charts._view import Chart, View

TITLE = "Precisions against float32"
MISSING = "no configuration was trained both in float32 and in another precision"
HELP = "Right of the dashed line is faster than float32."
ROWS_BY, ALIKE = "train_seconds", "precision"


def draw(view: View) -> Chart | None:
    return _axis.dumbbells(view, "precision", "float32")
