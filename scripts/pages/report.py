"""The page of a study: a list of sections, each a template that shows itself where its data are."""

from typing import Any

from scripts.analysis.names import FRAMEWORK_NAMES
from scripts.pages import (
    answers,
    article,
    ask,
    cells,
    charts,
    elsewhere,
    first,
    header,
    machines,
    money,
    offers,
    render,
    runs,
    take_away,
    training,
    yours,
)
from scripts.pages.inputs import Inputs

#: Templates of reports/sections/, in the order of the page.
SECTIONS = (
    "first",
    "charts",
    "claims",
    "short",
    "reading",
    "axes",
    "beside",
    "derived",
    "left_out",
    "cost",
    "elsewhere",
    "offers",
    "targets",
    "own",
    "now",
    "spread",
    "cells",
    "attempts",
    "learned",
    "warnings",
    "audit",
    "prices",
    "where",
    "how",
    "take_away",
)

_ROOMS = (
    *(header, runs, first, ask, answers, training, machines, charts, article, money, cells, elsewhere, take_away),
    *(offers, yours),
)


def context(inputs: Inputs) -> dict[str, Any]:
    """Return what the templates are given. Raises ValueError where two rooms use one name for two things."""
    found: dict[str, Any] = {
        "name": inputs.name,
        "study": inputs.study,
        "trained": inputs.trained,
        "labels": inputs.labels,
        "framework_names": FRAMEWORK_NAMES,
        "name_of": inputs.name_of,
        "dagger": inputs.dagger,
        "doubted": bool(inputs.doubted),
        "runs": len(inputs.runs),
        "audit": inputs.findings,
    }
    for room in _ROOMS:
        more = room.context(inputs)
        if twice := found.keys() & more.keys():
            raise ValueError(f"{room.__name__}: {min(twice)} is given by another room too")
        found |= more
    for panel in found["panels"] if found["ask"] else []:
        found["ask"]["workloads"][panel["workload"]]["times"] = panel["times"]
    return found


def page(inputs: Inputs) -> str:
    """Return the report as HTML; every text from a config or a log is escaped.

    A template that has something to show sets `contents`, entries (id, title) for the head of the page; one without is
    not listed there.
    """
    templates, given = render.environment(), context(inputs)
    sections = [templates.get_template(f"sections/{name}.html.j2").make_module(given) for name in SECTIONS]
    contents = [*given["lead"], *(entry for section in sections for entry in getattr(section, "contents", []))]
    return render.page("page.html.j2", given, sections=sections, contents=contents)
