"""Where the charts lie that a study may name: nothing is imported to know them."""

from scripts.storage import modules
from scripts.studies import articles


def modules_by_name() -> dict[str, str]:
    """Return the module of each chart: everybody's, and those of articles."""
    folders = {"scripts.charts": articles.FOLDER.parent / "charts"}
    for folder in sorted(articles.FOLDER.glob("*/charts")):
        folders[f"scripts.articles.{folder.parent.name}.charts"] = folder
    return {name: f"{package}.{name}" for package, folder in folders.items() for name in modules.names(str(folder))}
