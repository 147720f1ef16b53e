"""The tables that a study derives, in the words of its file in reports/words/."""

from collections.abc import Mapping
from math import isnan
from typing import Any

import pandas as pd

from scripts.analysis.names import workload_name
from scripts.costs import billing
from scripts.pages.inputs import Inputs
from scripts.storage.numbers import number
from scripts.storage.tables import records


def context(inputs: Inputs) -> dict[str, Any]:
    """Return the derived tables, those that the study has words for, in their order; without words, all that
    have rows.

    `lead` are those that are read first, by their words; the others are `derived`. Each has `names` of its rows by
    which the index leads to them, empty for most: the first of its name in the first of `lead`, or the last in a table
    that is `linked`.
    """
    words = inputs.words or {name: _plain(name, frame) for name, frame in inputs.derived.items() if len(frame)}
    shown = {name: table(name, inputs.derived[name], words[name], inputs.labels) for name in words}
    lead = [name for name in shown if words[name].get("lead")]
    known: set[str] = set()
    for name in [*lead[:1], *(name for name in shown if words[name].get("linked"))]:
        firsts = [row[0] for row in shown[name]["rows"]]
        place = firsts.index if name in lead else {first: i for i, first in enumerate(firsts)}.get
        kept = {place(first): first for first in firsts if first not in known}
        shown[name]["names"] = [kept.get(i, "") for i in range(len(firsts))]
        known |= set(firsts)
    return {
        "lead": [shown[name] for name in lead],
        "derived": [about for name, about in shown.items() if name not in lead],
    }


def _plain(name: str, frame: pd.DataFrame) -> dict[str, Any]:
    """Return words for a table that nobody wrote any for: its own name and those of its columns."""
    columns: dict[str, dict[str, Any]] = {str(column): {"title": str(column).replace("_", " ")} for column in frame}
    for column in frame.select_dtypes("number"):
        columns[str(column)]["digits"] = 4
    for column, about in columns.items():
        about["means"] = f"Column {column} of the table {name} that the study derives"
    return {"title": name.replace("_", " ").capitalize(), "about": "", "columns": columns}


def table(name: str, frame: pd.DataFrame, words: Mapping[str, Any], labels: Mapping[str, str]) -> dict[str, Any]:
    """Return a derived table as its section shows it: id, title, short (the title in the contents), about, columns and
    rows of texts, names (see `context`), and more (whether some columns are shown where every one is asked for).

    A column has a title, a kind (its classes) and what it means.

    `words` are an entry of words.schema.json: columns that it does not name are shown if it has `rest`.
    """
    columns: dict[str, dict[str, Any]] = dict(words["columns"])
    if "rest" in words:
        rest = [str(column) for column in frame if column not in columns]
        columns |= {column: {"title": workload_name(column)} | words["rest"] for column in rest}
    return {
        "id": name.replace("_", "-"),
        "title": words["title"],
        "short": words.get("short", words["title"]),
        "about": words["about"],
        "more": any(about.get("more") for about in columns.values()),
        "names": [""] * len(frame),
        "columns": [
            {"title": about["title"], "kind": _kind(about), "means": about.get("means", "")}
            for about in columns.values()
        ],
        "rows": [
            [_shown(row[column], column, columns[column], labels) for column in columns] for row in records(frame)
        ],
    }


def _kind(about: Mapping[str, Any]) -> str:
    kind = "n" if "digits" in about or "decimals" in about else "wrap" if about.get("wrap") else ""
    return f"{kind} extra".strip() if about.get("more") else kind


def _shown(value: Any, column: str, about: Mapping[str, Any], labels: Mapping[str, str]) -> str:
    """Return the text of a value: significant `digits`, whole numbers whole; `decimals`; machines by their labels."""
    if pd.isna(value):
        return "—"
    if isinstance(value, bool) or column == "agrees":
        return "yes" if value else "no"
    if column == "break_even_days" and value > billing.DAYS_PER_MONTH:
        return "never"
    if isinstance(value, float) and isnan(value):
        return "—"
    if "decimals" in about:
        return f"{round(value, about['decimals']) + 0.0:.{about['decimals']}f}"  # no -0.00
    if "digits" in about:
        return f"{value:,.0f}" if float(value).is_integer() else number(value, about["digits"])
    if column == "workload":
        return workload_name(str(value))
    return labels.get(value, str(value))
