"""Where the charts lie that a study may name: nothing is imported to know them."""

from scripts.storage import modules
from scripts.studies import articles

_CHARTS = articles.FOLDER.parent / "charts"


def modules_by_name() -> dict[str, str]:
    """Return the module of each chart: everybody's, and those of articles."""
    folders = [_CHARTS, *sorted(articles.FOLDER.glob("*/charts"))]
    root = _CHARTS.parents[1]
    return {
        name: ".".join((*folder.relative_to(root).parts, name))
        for folder in folders
        for name in modules.names(str(folder))
    }
