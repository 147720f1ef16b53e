"""Write the history of a scheduled study: the trend of each cell, time and cost apart, and what changed."""

from collections.abc import Mapping
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

from markupsafe import Markup

from scripts.analysis import trends
from scripts.analysis.names import price_words
from scripts.charts import _theme
from scripts.charts import _trend as trend
from scripts.costs import book, books, prices, pricing
from scripts.pages import history as page
from scripts.pages import render
from scripts.records import about
from scripts.storage import schemas, tables
from scripts.storage.errors import InputError
from scripts.storage.files import read_text, write_text
from scripts.studies import definition
from scripts.workflow.repetitions import PRICES, History, folder_name, folder_time, last_end

ROOT = Path(__file__).resolve().parents[2]


def read(folder: Path, study: Mapping[str, Any], machines: Mapping[str, Any]) -> trends.Repetition:
    """Return a repetition from its folder, priced by its own books and by those of today. Raises InputError."""
    runs, costs, attempts = (tables.read(folder / f"{name}.parquet") for name in ("runs", "costs", "attempts"))
    today = pricing.price_table(study, dict(machines), set(runs["hardware"]))
    priced = tables.conform(prices.price_runs(runs, today, attempts), "costs")
    mine, now = (table[table["price_option"] == study["price"]] for table in (costs, priced))
    name = folder.name if folder_time(folder.name) else folder_name(last_end(folder))
    return trends.Repetition(name, runs, mine, now)


def ages(study: Mapping[str, Any], today: date) -> list[dict[str, Any]]:
    """Return each price book of a study: its name, prices, the dates of the oldest and the newest, and their days."""
    named = [study["book"], *(about.get("book", []) for about in study["prices"].values())]
    names = dict.fromkeys(name for one in named for name in ([one] if isinstance(one, str) else one))
    rows = []
    for name in names:
        dates = sorted(row["as_of"] for row in book.read(books.files(name)))
        ends = {"oldest": dates[0], "newest": dates[-1]}
        days = {f"{key}_days": (today - date.fromisoformat((text + "-01-01")[:10])).days for key, text in ends.items()}
        rows.append({"book": Path(name).stem, "prices": len(dates)} | ends | days)
    return rows


def refreshed() -> dict[str, Any] | None:
    """Return the last refresh of prices on a schedule: when, and what it said; None without one."""
    found = sorted((ROOT / "history" / PRICES).glob("*Z.txt"))
    return {"at": found[-1].stem, "said": read_text(found[-1])} if found else None


def pictures(cells: list[dict[str, Any]], days: list[str], workload: str) -> list[dict[str, Any]]:
    """Return the charts of a workload's cells, as the templates show them."""
    shown = cells[: trend.MOST]
    names = [cell["name"] for cell in shown]
    drawn = (("Time", "time", trend.draw_time), ("Cost", "cost", trend.draw_cost))
    made = [(title, key, draw(shown, names, days)) for title, key, draw in drawn]
    return [
        {
            "title": title,
            "svg": Markup(  # noqa: S704, our own drawing
                _theme.svg(chart, f"{key}-{workload}").replace("<svg ", '<svg aria-hidden="true" ', 1)
            ),
            "caption": chart.caption,
            "description": chart.description,
        }
        for title, key, chart in made
        if chart
    ]


def write(asked: str) -> Path:
    """Write the page of a study (a name of config/studies, or the path of a file), and return where it is."""
    name, study = definition.read(asked, {})
    about.know(study)
    history = History(name, ROOT)
    if not history.repetitions() and not history.triggers():
        raise InputError(f"study {name}: has no history: `python -m scripts.repeat {asked}` begins one")
    machines = definition.machines(study, schemas.read_yaml(ROOT / "config" / "hardware.yaml", "hardware"))
    repetitions, unread = [], []
    for folder in history.repetitions():
        try:
            repetitions.append(read(folder, study, machines))
        except InputError as error:
            unread.append(str(error))
    judged = trends.judge(repetitions)
    cells = page.named(trends.cells(repetitions, judged), study, machines)
    days = page.days([one.name for one in repetitions])
    groups = []
    for workload in dict.fromkeys(cell["workload"] for cell in cells):
        mine = [cell for cell in cells if cell["workload"] == workload]
        groups.append({"workload": workload, "cells": mine, "charts": pictures(mine, days, workload)})
    now = datetime.now(UTC)
    context = {
        "name": name,
        "title": study["title"],
        "written": now,
        "price": price_words(study, study["price"], {key: about["label"] for key, about in machines.items()}),
        "repetitions": page.repetitions(repetitions),
        "groups": groups,
        "changes": page.changes([*cells, *page.of_all(trends.of_all(repetitions, judged), machines)]),
        "repriced": page.repriced(cells),
        "triggers": page.triggers([row for _, row in history.triggers()], now),
        "books": ages(study, now.date()),
        "refreshed": refreshed(),
        "rule": page.rule(judged),
        "least": trends.BEFORE + trends.LEAST,
        "unread": unread,
        "most": trend.MOST,
    }
    write_text(history.page, render.page("history.html.j2", context))
    return history.page
