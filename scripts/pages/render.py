"""What every page has in common: the templates, the style, the charts."""

import json
import re
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup, escape

from scripts.analysis.names import provider_name, run_name, workload_name
from scripts.pages import heads
from scripts.storage.numbers import duration, number, rounded
from scripts.storage.words import few, printable

TEMPLATES = Path(__file__).resolve().parents[2] / "reports"
_LINK = re.compile(r"\[([^\]]+)\]\((#[\w-]+|quote\.html)\)")
_SCRIPTS = TEMPLATES / "scripts"
_SECONDS = {"s": 1, "min": 60, "h": 3_600, "days": 86_400}

#: What runs in a page, in this order; whole without it.
SCRIPTS = ("engine.js", "elements.js", "ask.js", "tables.js", "figures.js", "ages.js")


def _harmless(value: Any) -> Any:
    return printable(value) if type(value) is str else value


@cache
def environment() -> jinja2.Environment:
    """Return the templates; every text from a config or a log is escaped."""
    made = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=_harmless,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    # Workloads stand in the study's order, and a page is no longer than it must be.
    made.policies["json.dumps_kwargs"] = {"sort_keys": False, "separators": (",", ":")}
    made.filters |= {"duration": duration, "durations": _durations, "number": number, "rounded": rounded}
    made.filters |= {"provider": provider_name, "readable": workload_name, "run_name": run_name}
    made.filters |= {"few": few, "linked": _linked}
    made.filters["merge"] = lambda one, other: {**one, **other}
    made.globals["style"] = Markup((TEMPLATES / "style.css").read_text(encoding="utf-8"))  # noqa: S704, our own file
    made.globals["scripts"] = scripts(SCRIPTS)
    return made


def _linked(text: str) -> Markup:
    """Return a text, escaped, with `[words](#id)` as links to places of the page, or to the front door."""
    return Markup(_LINK.sub(r'<a href="\2">\1</a>', str(escape(printable(text)))))  # noqa: S704, escaped before


def _durations(seconds: Sequence[float]) -> list[str]:
    """Return times that are read beside each other: in the unit of the shortest, where none is a thousand of it."""
    unit = duration(min(seconds)).partition(" ")[2]
    if max(seconds) >= 1000 * _SECONDS[unit]:
        return [duration(one) for one in seconds]
    return [f"{number(one / _SECONDS[unit])} {unit}" for one in seconds]


def page(template: str, *given: Any, **more: Any) -> str:
    """Return the page that a template makes of what it is given, with the meaning of each head of a column."""
    return heads.explained(environment().get_template(template).render(*given, **more))


def scripts(names: Iterable[str]) -> Markup:
    """Return the text of scripts of ours, one after another."""
    return Markup("\n".join((_SCRIPTS / name).read_text(encoding="utf-8") for name in names))  # noqa: S704, our own files


def load_charts(described: list[Path]) -> dict[str, list[dict[str, Any]]]:
    """Return the charts of each workload in the order of their descriptions, with the SVG text of each.

    Drawings lie beside a description, in the folder of its name. Charts of a whole study stand under the empty name.
    """
    found: dict[str, list[dict[str, Any]]] = {}
    for file in described:
        folder = file.with_suffix("")
        about = json.loads(file.read_text(encoding="utf-8"))
        for one in about["drawn"]:
            figure = one | {"name": about["chart"], "kind": about["title"], "help": about["help"]}
            figure["title"] = one.get("finding") or about["title"]
            figure["headline"] = (folder / "headline.png").exists()
            if "missing" not in one:
                svg = (folder / f"{one['workload'] or 'study'}.svg").read_text(encoding="utf-8")
                svg = svg.replace("<svg ", '<svg aria-hidden="true" ', 1)  # its description stands around it
                figure["svg"] = Markup(svg)  # noqa: S704, our own drawing
            found.setdefault(one["workload"], []).append(figure)
    return found
