"""What every page has in common: the templates, the style, the charts."""

import json
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from scripts.storage.numbers import number

TEMPLATES = Path(__file__).resolve().parents[2] / "reports"


def environment() -> jinja2.Environment:
    """Return the templates; every text from a config or a log is escaped."""
    made = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters["number"] = number
    made.filters["merge"] = lambda one, other: {**one, **other}
    made.globals["style"] = Markup((TEMPLATES / "style.css").read_text(encoding="utf-8"))  # noqa: S704, our own file
    return made


def drawn(folders: list[Path]) -> dict[str, list[dict[str, Any]]]:
    """Return the charts of each workload in the order of `folders`, with the SVG text of each.

    Charts of a whole study stand under the empty name.
    """
    found: dict[str, list[dict[str, Any]]] = {}
    for folder in folders:
        about = json.loads((folder / "chart.json").read_text(encoding="utf-8"))
        for one in about["drawn"]:
            figure = one | {"name": about["chart"], "title": about["title"], "help": about["help"]}
            if "missing" not in one:
                svg = (folder / f"{one['workload'] or 'study'}.svg").read_text(encoding="utf-8")
                svg = svg.replace("<svg ", '<svg aria-hidden="true" ', 1)  # its description stands around it
                figure["svg"] = Markup(svg)  # noqa: S704, our own drawing
            found.setdefault(one["workload"], []).append(figure)
    return found
