"""A folder of logs without a study: what was found in it, the study that prices it, and what to say of both."""

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import Any

import pandas as pd

from scripts.analysis.names import GIVEN
from scripts.importers import Imported, Layout, naming
from scripts.importers.formats import any as any_log
from scripts.records.about import OWN
from scripts.storage.axes import IN_LOGS
from scripts.storage.errors import InputError
from scripts.storage.files import read_text
from scripts.storage.numbers import duration
from scripts.storage.tables import records

#: What machines are called that nobody named, and the option that their price is.
_MACHINE, _OPTION = "machine", "paid"

#: What is said of a file that no importer reads, and how many of one ending are named.
_NOT_READ = ("not read", "no log of a kind that is read: no steps or epochs with their losses (docs/importing.md)")
_SHOWN = 3

#: The first line of a study that was made here, and the digits of its checksum.
_SIGNED, _DIGITS = "# Made by epd import; what is below is ", 16

#: More than a card costs an hour (USD), and more of them than anybody has.
_MOST_USD, _MOST_CARDS = 1e6, 1_000_000

_BOOK = "provider,item,region,purchase,rate,rate_low,rate_high,currency,per,as_of,source,inferred\n"


@dataclass(frozen=True)
class Asked:
    """What the command line says of the machines: a name, USD an hour of a card, and cards of a machine."""

    machine: str = ""
    usd_per_card_hour: float | None = None
    cards: int | None = None


def look(folder: Path) -> tuple[dict[PurePosixPath, str | None], Imported]:
    """Return the files of a folder that may be logs, each with its format, and the runs in them."""
    return any_log.look(folder, Layout({".": _MACHINE}))


def rows(kinds: Mapping[PurePosixPath, str | None], imported: Imported) -> list[tuple[str, str, str, str]]:
    """Return of each file what it is, what became of it in a word, and how: sorted by its name."""
    refused = {problem.file: problem for problem in imported.problems}
    runs: dict[str, list[dict[str, Any]]] = {}
    for run in records(imported.runs):
        runs.setdefault(run["file"], []).append(run)
    found = []
    others: dict[str, list[PurePosixPath]] = {}
    for name, kind in kinds.items():
        file = str(name)
        shown = [_taken(run) for run in runs.get(file, [])]
        if file in refused:
            line = refused[file].line
            shown.append(("refused", f"{'' if line is None else f'line {line}: '}{refused[file].message}"))
        if kind is None:
            if name.suffix.lower() not in any_log.LIKELY:
                others.setdefault(f"*{name.suffix}", []).append(name)
                continue
            shown = [_NOT_READ]
        found += [(file, kind or "", *each) for each in shown or [("with another", "part of a training that is read")]]
    return found + [(_together(form, names), "", *_NOT_READ) for form, names in sorted(others.items())]


def _together(form: str, names: Sequence[PurePosixPath]) -> str:
    """Return in a few words which files with one ending there are."""
    shown = ", ".join(str(name) for name in names[:_SHOWN])
    return (
        shown
        if len(names) <= _SHOWN
        else f"{len(names)} {form if form != '*' else 'files without an ending'}: {shown} ..."
    )


def _taken(run: Mapping[str, Any]) -> tuple[str, str]:
    remarks = "" if pd.isna(run["remarks"]) else f"; {run['remarks']}"
    if pd.notna(run["train_seconds"]):
        source = "stated" if pd.isna(run["seconds_from"]) else run["seconds_from"]
        return "right", f"{duration(run['train_seconds'])} ({source}){remarks}"
    if pd.notna(run["samples_per_second"]):
        return "rate alone", f"{run['samples_per_second']:.4g} samples a second{remarks}"
    return "without time", remarks.removeprefix("; ")


def counts(found: list[tuple[str, str, str, str]]) -> list[tuple[str, Counter[str]]]:
    """Return for each format how many runs or files came to what."""
    kinds = sorted({kind for _, kind, _, _ in found if kind})
    return [(kind, Counter(word for _, of, word, _ in found if of == kind)) for kind in kinds]


def study(folder: Path, place: Path, imported: Imported, catalogue: Mapping[str, Any], asked: Asked) -> dict[str, Any]:
    """Return the study that prices the runs of a folder, as its file holds it. `place` is that of its price book.

    Raises InputError for a machine that has no price of its own, where none is given.
    """
    cards: list[Any] = [_cards(run, asked) for run in records(imported.runs)]
    cells = imported.runs.assign(cards_of=cards)
    names = {run["file"]: _name(run, asked) for run in records(cells)}
    usual = Counter(names.values()).most_common(1)[0][0]
    paths = {str(PurePosixPath(file).with_suffix("")): name for file, name in names.items() if name != usual}
    machines = {name: _machine(name, cells, names, catalogue, asked) for name in dict.fromkeys(names.values())}
    frameworks = Counter(cells["framework"]).most_common(1)[0][0]
    return {
        "title": f"What the runs in {naming.place_of(folder)} cost",
        "import": {"format": "any", "folder": str(folder), "hardware": {".": usual, **paths}},
        "machines": machines,
        "base": {"hardware": usual, "framework": frameworks},
        **({"book": [str(place), "current", "listed"]} if asked.usd_per_card_hour is not None else {}),
        "price": _OPTION,
        "prices": {_OPTION: {"label": "as paid", "in_a_row": True}},
        "charts": _charts(cells.assign(hardware=cells["file"].map(names)), imported),
    }


def signed(text: str) -> str:
    """Return the text of a study's file below a line with its checksum, by which `is_changed` knows it."""
    return f"{_SIGNED}{hashlib.sha256(text.encode()).hexdigest()[:_DIGITS]}\n{text}"


def is_changed(file: Path) -> bool:
    """Return whether a study's file is there, and is not as `signed` made it: somebody has written in it."""
    return file.exists() and signed((text := read_text(file)).partition("\n")[2]) != text


def _charts(cells: pd.DataFrame, imported: Imported) -> list[str]:
    """Return the charts that have something to compare: cells of one workload, epochs of a run."""
    compared = cells.drop_duplicates(IN_LOGS)["workload"].duplicated().any()
    return [name for name, is_there in (("pareto", compared), ("learning", len(imported.epochs) > 0)) if is_there]


def book(asked: Asked) -> str:
    """Return a price book (CSV) of the price that the command line gives."""
    day = datetime.now(UTC).date().isoformat()
    return f"{_BOOK}{GIVEN},card,,on-demand,{asked.usd_per_card_hour:g},,,USD,hour,{day},given with --price,\n"


def _cards(run: Mapping[str, Any], asked: Asked) -> int | None:
    if asked.cards is not None:
        return asked.cards
    return None if pd.isna(run["devices"]) else int(run["devices"])


def cards_of(run: Mapping[str, Any], asked: Asked) -> str:
    """Return in a word how many cards a run is priced with: those of its log, of the command line, or one."""
    if asked.cards is not None:
        return f"{asked.cards} (--cards)"
    return "1 (assumed)" if pd.isna(run["devices"]) else str(run["devices"])


def _name(run: Mapping[str, Any], asked: Asked) -> str:
    """Return what a run's machine is called: by the command line, or by its cards; with their number if several."""
    model = "" if pd.isna(run["cards"]) else run["cards"].partition(" x ")[2]
    name = asked.machine or naming.slug(model).lower() or _MACHINE
    cards = _cards(run, asked) or 1
    return name if cards == 1 else f"{name}-x{cards}"


def _machine(
    name: str, cells: pd.DataFrame, names: Mapping[str, str], catalogue: Mapping[str, Any], asked: Asked
) -> dict[str, Any]:
    """Return a machine of the study: its own price, that of an entry of config/hardware.yaml, or none."""
    own = next(run for run in records(cells) if names[run["file"]] == name)
    cards = _cards(own, asked) or 1
    entry = catalogue.get(asked.machine, {})
    of_entry = entry.get("machine", {}).get("gpus", {})
    model = of_entry.get("model") or (
        asked.machine or ("" if pd.isna(own["cards"]) else own["cards"].partition(" x ")[2])
    )
    label = entry.get("label") or model or "machine of the logs"
    about: dict[str, Any] = {"label": label if cards == 1 else f"{cards} x {label}"}
    if model:
        about["gpus"] = {"model": model, "count": cards}
    if asked.usd_per_card_hour is not None:
        about["rent"] = {"provider": GIVEN, "items": {"card": cards}}
    elif "rent" in entry:
        pieces = cards // of_entry.get("count", 1) or 1
        items = {item: number * pieces for item, number in entry["rent"]["items"].items()}
        about["rent"] = {**entry["rent"], "items": items}
    elif "own" in entry:
        about["own"] = entry["own"]
    return about


def unsaid(imported: Imported, catalogue: Mapping[str, Any], asked: Asked) -> list[str]:
    """Return what had to be taken for granted, a line each: no card, batch or framework is guessed in silence."""
    runs = imported.runs
    named = sorted(set(runs["cards"].dropna()))
    lines = [f"cards: {', '.join(named)}, as the logs name them"] if named else []
    if not asked.machine:
        lines.append("machine: none was named: --machine NAME" + ("; it is called as its cards are" if named else ""))
    elif asked.machine not in catalogue and asked.usd_per_card_hour is None:
        lines.append(f"machine: {asked.machine} is no entry of config/hardware.yaml and has no price")
    silent = int((runs["devices"].isna() & (asked.cards is None)).sum())
    if silent:
        lines.append(
            f"cards: {silent} of {len(runs)} runs do not say how many: one is priced; --cards N if there were more"
        )
    if asked.usd_per_card_hour is None and not ({"rent", "own"} & set(catalogue.get(asked.machine, {}))):
        lines.append("price: none: no dollars without --price USD, of an hour of one card")
    if missing := int(runs["batch_size"].isna().sum()):
        lines.append(f"batch: {missing} of {len(runs)} runs do not say it: left out")
    if strangers := int(runs["framework"].eq(OWN).sum()):
        lines.append(f"framework: {strangers} of {len(runs)} runs do not say it: called {OWN}")
    if twice := _consoles_above(runs):
        lines.append(f"consoles: {', '.join(twice)}: other logs lie below; of the same training they are counted twice")
    return lines


def _consoles_above(runs: pd.DataFrame) -> list[str]:
    """Return the console logs in whose folder, or below it, other kinds of logs lie."""
    is_console = runs["read_as"].eq("console").fillna(False)
    others = {folder for file in runs.loc[~is_console, "file"] for folder in PurePosixPath(file).parents}
    return [file for file in runs.loc[is_console, "file"] if PurePosixPath(file).parent in others]


def check(asked: Asked) -> None:
    """Raise InputError for values that cannot be."""
    if asked.usd_per_card_hour is not None and not 0 < asked.usd_per_card_hour <= _MOST_USD:
        raise InputError(
            f"--price: {asked.usd_per_card_hour:g} must be USD an hour, more than 0 and at most {_MOST_USD:,.0f}"
        )
    if asked.cards is not None and not 1 <= asked.cards <= _MOST_CARDS:
        raise InputError(f"--cards: {asked.cards} must be a whole number from 1 to {_MOST_CARDS:,}")
    if asked.machine and naming.slug(asked.machine) != asked.machine:
        raise InputError(f"--machine: {asked.machine!r} must be a name of letters, digits and . + - _")
