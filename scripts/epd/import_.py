"""Logs of others, as the facts of a study; a folder of logs, as a page."""

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from scripts.epd import _call

if TYPE_CHECKING:
    from rich.console import Console

    from scripts.epd._folder import Asked

IS_SNAKEMAKE = True

#: Files that the table of a folder lists; of more, how many there are of each kind.
_LISTED = 40

#: So much of a terminal's width is for the name of a file or a run.
_SHARE = 3


def command(
    study: Annotated[
        str | None,
        typer.Argument(
            metavar="[FOLDER|STUDY]",
            help="A folder of logs; or a study of config/studies, or the path of its file.",
            autocompletion=_call.studies,
            show_default=False,
        ),
    ] = None,
    machine: Annotated[
        str,
        typer.Option(metavar="NAME", help="Of a folder: the machine of its logs, one of config/hardware.yaml or any."),
    ] = "",
    price: Annotated[
        float | None,
        typer.Option(metavar="USD", help="Of a folder: what an hour of one card costs.", show_default=False),
    ] = None,
    cards: Annotated[
        int | None,
        typer.Option(
            metavar="N", help="Of a folder: cards of the machine, where not as the logs say.", show_default=False
        ),
    ] = None,
    name: Annotated[
        str, typer.Option(metavar="NAME", help="Of a folder: what the study is called; without, as the folder is.")
    ] = "",
    follow: Annotated[
        bool,
        typer.Option("--follow", help="Of a folder: read it again whenever a log in it has changed, until Ctrl-C."),
    ] = False,
    write_cost: Annotated[
        bool,
        typer.Option(
            "--write-cost",
            help="Of a folder: write what each run cost into MLflow's store and W&B's offline runs, as cost_usd.",
        ),
    ] = False,
    logs_dir: Annotated[
        str, typer.Option(metavar="FOLDER", help="Copies of the published logs, in place of their repositories.")
    ] = "",
) -> int:
    """Read a folder of logs and price it: a table of its files, the dollars, a page, and the study of what was done.

    Of a study, its logs: one row of results/STUDY/facts.csv per run; without one those of the published studies. What
    cannot be read is listed, the rest is kept.

    \b
    ./epd import /path/to/logs --machine h100 --price 2.49
    ./epd import mlruns --price 2.49 --follow --write-cost
    ./epd import /path/to/mine.yaml
    ./epd import gpus-2017 --logs-dir logs
    ./epd import -- -n
    """
    from scripts.storage.errors import InputError
    from scripts.studies import definition

    if study and Path(_call.from_here(study)).is_dir() and not definition.file(study).is_file():
        from scripts.epd._folder import Asked

        folder = Path(_call.from_here(study)).resolve()
        return _folder(folder, name, Asked(machine, price, cards), follow, write_cost)
    if study and not study.endswith((".yaml", ".yml")) and (os.sep in study or Path(_call.from_here(study)).exists()):
        what = (
            "is a file: give the folder that it lies in" if Path(_call.from_here(study)).exists() else "no such folder"
        )
        raise InputError(f"{study}: {what}")
    if machine or price is not None or cards is not None or name or follow or write_cost:
        raise InputError(
            "--machine, --price, --cards, --name, --follow and --write-cost are for a folder of logs, and "
            f"{study!r} is none"
        )
    study = _call.study_here(study)
    targets = [f"results/{definition.file(study).stem}/facts.csv"] if study else ["import_published"]
    copies = logs_dir and _call.from_here(logs_dir)
    return _call.become(_call.words(targets, "local", {"study": study, "logs_dir": copies}))


def _folder(folder: Path, name: str, asked: "Asked", is_followed: bool, write_cost: bool) -> int:
    """Read and price a folder of logs, once or whenever it changes, and return the exit code."""
    from rich.console import Console

    from scripts.epd import _folder as logs
    from scripts.epd._follow import follow
    from scripts.importers import kept, naming
    from scripts.storage.errors import InputError
    from scripts.studies import definition

    logs.check(asked)
    if not name:
        name = naming.slug(naming.place_of(folder)) or "runs"
        name = name if definition.is_own_name(name) else f"{name}-of-runs"  # results/logs is no study's
    if not definition.is_own_name(name):
        raise InputError(f"--name: {name!r}: a study's name is of letters, digits, '.', '_' and '-', and no other's")
    console = Console(markup=False, highlight=False)
    if not is_followed:
        return _read(console, folder, name, asked, write_cost)[0]

    page = Path("results", name, "report.html").resolve()
    was_made = False

    def read(changed: int) -> list[Path] | None:
        nonlocal was_made
        console.print(f"{changed} files new or changed in {folder}", soft_wrap=True)
        code, written = _read(console, folder, name, asked, write_cost, may_be_empty=True)
        if code and not was_made:
            raise InputError(f"{folder}: the page could not be made: see above")
        if code:
            print("the page could not be made: see above; the last one stays", file=sys.stderr, flush=True)
            return None
        was_made = True
        # Not by rich: interrupted as it prints, it says the line once more.
        print("waiting for more: Ctrl-C ends it", flush=True)
        return written

    kept.begin(folder)
    try:
        follow(folder, read)
    finally:
        kept.forget(folder)
    print(f"ended by Ctrl-C; the last page stays: {page}", flush=True)
    return 0


def _read(
    console: "Console", folder: Path, name: str, asked: "Asked", write_cost: bool, may_be_empty: bool = False
) -> tuple[int, list[Path]]:
    """Read and price a folder of logs, and return the exit code, and which files of it were written to."""
    import yaml

    from scripts.epd import _folder as logs
    from scripts.storage import schemas
    from scripts.storage.errors import InputError
    from scripts.storage.files import undone, write_text
    from scripts.studies import definition

    catalogue = schemas.read_yaml(Path("config/hardware.yaml"), "hardware")
    kinds, imported = logs.look(folder)
    found = logs.rows(kinds, imported)
    _print(console, found)
    if may_be_empty and imported.runs.empty:
        return 0, []
    if imported.runs.empty:
        raise InputError(f"{folder}: holds no run that could be read: docs/importing.md lists what is read")
    place = Path("results") / name
    given, file = place / f"{name}-prices.csv", place / f"{name}.yaml"
    if logs.is_changed(file):
        raise InputError(f"{file}: was changed since it was made: ./epd report {file}, or import with another --name")
    study = logs.study(folder, given, imported, catalogue, asked)
    with undone([given, file]):
        if asked.usd_per_card_hour is not None:
            write_text(given, logs.book(asked))
        write_text(file, logs.signed(yaml.safe_dump(study, sort_keys=False, allow_unicode=True)))
        _, config = definition.read(str(file), {})
        definition.check_machines(f"study {name}", config, catalogue)
    for line in logs.unsaid(imported, catalogue, asked):
        console.print(f"taken for granted: {line}", soft_wrap=True)
    if code := _call.run_quietly(_call.words([], "local", {"study": str(file)})):
        return code, []
    _print_dollars(console, place, asked)
    written = _write_back(console, folder, place) if write_cost else []
    console.print(f"page: {(place / 'report.html').resolve()}", soft_wrap=True)
    console.print(f"study: {file.resolve()} (change it, and: ./epd report {file})", soft_wrap=True)
    return 0, written


def _write_back(console: "Console", folder: Path, place: Path) -> list[Path]:
    """Write what runs of MLflow and W&B cost into their stores, and return the files written."""
    from scripts.epd import _write_cost
    from scripts.importers import facts
    from scripts.storage import tables

    files = dict(zip(*(facts.read(place / "facts.csv")[name] for name in ("run", "file")), strict=True))
    costs = tables.read(place / "costs.parquet").dropna(subset=["cost_usd"])
    usd = {run["run"]: (files[run["run"]], run["cost_usd"]) for run in tables.records(costs)}
    done = _write_cost.write(folder, usd)
    console.print(f"cost_usd: written for {done.runs} run{'' if done.runs == 1 else 's'} of MLflow and W&B")
    for line in done.left:
        console.print(f"cost_usd: not written into {line}", soft_wrap=True)
    return done.written


def _print(console: "Console", found: list[tuple[str, str, str, str]]) -> None:
    from rich.table import Table

    from scripts.epd import _folder as logs
    from scripts.storage.words import printable, shortened

    most = console.width // _SHARE
    if not found:
        return
    shown = Table("file", "read as", "taken", "how")
    for row in found[:_LISTED]:
        shown.add_row(shortened(printable(row[0]), most), *map(printable, row[1:]))
    if len(found) > _LISTED:
        shown.add_row(f"and {len(found) - _LISTED} more")
    console.print(shown)
    for kind, words in logs.counts(found):
        console.print(f"{kind}: " + ", ".join(f"{number} {word}" for word, number in words.most_common()))


def _print_dollars(console: "Console", place: Path, asked: "Asked") -> None:
    """Print what each run cost, and all of them together."""
    from rich.table import Table

    from scripts.epd._folder import cards_of
    from scripts.importers import facts, naming
    from scripts.storage import tables
    from scripts.storage.numbers import duration, number
    from scripts.storage.words import printable, shortened

    costs = tables.read(place / "costs.parquet").dropna(subset=["cost_usd"])
    logs = facts.read(place / "facts.csv").fillna({"name": ""})
    titles = {run["run"]: run["name"] or naming.title_of(run["run"]) for run in tables.records(logs)}
    cards = {run["run"]: cards_of(run, asked) for run in tables.records(logs)}
    most = console.width // _SHARE
    shown = Table("run", "machine", "cards", "time", "USD an hour", "USD")
    for run in tables.records(costs.sort_values("cost_usd", ascending=False))[:_LISTED]:
        hourly = run["cost_usd"] / run["used_seconds"] * 3600
        shown.add_row(
            shortened(printable(titles[run["run"]]), most),
            run["hardware"],
            cards[run["run"]],
            duration(run["used_seconds"]),
            number(hourly),
            number(run["cost_usd"]),
        )
    if len(costs) > _LISTED:
        shown.add_row(f"and {len(costs) - _LISTED} more")
    if len(costs):
        shown.add_row(
            "together", "", "", duration(float(costs["used_seconds"].sum())), "", number(float(costs["cost_usd"].sum()))
        )
        console.print(shown)
