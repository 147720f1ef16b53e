"""Logs of others, as the facts of a study; a folder of logs, as a page."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from scripts.epd import _call

if TYPE_CHECKING:
    from rich.console import Console

IS_SNAKEMAKE = True

#: Files that the table of a folder lists; of more, how many there are of each kind.
_LISTED = 40


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
    logs_dir: Annotated[
        str, typer.Option(metavar="FOLDER", help="Copies of the published logs, in place of their repositories.")
    ] = "",
) -> int:
    """Read a folder of logs and price it: a table of its files, the dollars, a page, and the study of what was done.

    Of a study, its logs: one row of results/STUDY/facts.csv per run; without one those of the published studies. What
    cannot be read is listed, the rest is kept.

    \b
    ./epd import /path/to/logs --machine h100 --price 2.49
    ./epd import /path/to/mine.yaml
    ./epd import gpus-2017 --logs-dir logs
    ./epd import -- -n
    """
    from scripts.storage.errors import InputError
    from scripts.studies import definition

    if study and Path(_call.from_here(study)).is_dir() and not definition.file(study).is_file():
        return _folder(Path(_call.from_here(study)).resolve(), name, machine, price, cards)
    if machine or price is not None or cards is not None or name:
        raise InputError(f"--machine, --price, --cards and --name are for a folder of logs, and {study!r} is none")
    study = _call.study_here(study)
    targets = [f"results/{definition.file(study).stem}/facts.csv"] if study else ["import_published"]
    folder = logs_dir and _call.from_here(logs_dir)
    return _call.become(_call.words(targets, "local", {"study": study, "logs_dir": folder}))


def _folder(folder: Path, name: str, machine: str, price: float | None, cards: int | None) -> int:
    """Read and price a folder of logs, and return the exit code."""
    import yaml
    from rich.console import Console

    from scripts.epd import _folder as logs
    from scripts.importers import _metrics
    from scripts.storage import schemas
    from scripts.storage.errors import InputError
    from scripts.storage.files import write_text
    from scripts.studies import definition

    asked = logs.Asked(machine, price, cards)
    name = name or _metrics.slug(folder.name) or "logs"
    if not definition.is_name(name):
        raise InputError(f"--name: {name!r}: a study's name is of letters, digits, '.', '_' and '-', and no other's")
    catalogue = schemas.read_yaml(Path("config/hardware.yaml"), "hardware")
    kinds, imported = logs.look(folder)
    console = Console(markup=False, highlight=False)
    found = logs.rows(kinds, imported)
    _print(console, found)
    logs.check(asked, folder, imported)
    place = Path("results") / name
    given, file = place / f"{name}-prices.csv", place / f"{name}.yaml"
    if price is not None:
        write_text(given, logs.book(asked))
    study = logs.study(folder, given, imported, catalogue, asked)
    write_text(file, yaml.safe_dump(study, sort_keys=False, allow_unicode=True))
    for line in logs.unsaid(imported, catalogue, asked):
        console.print(f"taken for granted: {line}", soft_wrap=True)
    if code := _call.run_quietly(_call.words([], "local", {"study": str(file)})):
        return code
    _print_dollars(console, place)
    console.print(f"page: {(place / 'report.html').resolve()}", soft_wrap=True)
    console.print(f"study: {file.resolve()} (change it, and: ./epd report {file})", soft_wrap=True)
    return 0


def _print(console: "Console", found: list[tuple[str, str, str, str]]) -> None:
    from rich.table import Table

    from scripts.epd import _folder as logs
    from scripts.storage.words import printable

    shown = Table("file", "read as", "taken", "how")
    for row in found[:_LISTED]:
        shown.add_row(*map(printable, row))
    if len(found) > _LISTED:
        shown.add_row(f"and {len(found) - _LISTED} more")
    console.print(shown)
    for kind, words in logs.counts(found):
        console.print(f"{kind}: " + ", ".join(f"{number} {word}" for word, number in words.most_common()))


def _print_dollars(console: "Console", place: Path) -> None:
    """Print what each run cost, and all of them together."""
    from rich.table import Table

    from scripts.storage import tables
    from scripts.storage.numbers import duration, number
    from scripts.storage.words import printable

    costs = tables.read(place / "costs.parquet").dropna(subset=["cost_usd"])
    shown = Table("run", "machine", "time", "USD an hour", "USD")
    for run in tables.records(costs)[:_LISTED]:
        hourly = run["cost_usd"] / run["used_seconds"] * 3600
        shown.add_row(
            printable(run["run"]),
            run["hardware"],
            duration(run["used_seconds"]),
            number(hourly),
            number(run["cost_usd"]),
        )
    if len(costs) > _LISTED:
        shown.add_row(f"and {len(costs) - _LISTED} more")
    if len(costs):
        shown.add_row(
            "together", "", duration(float(costs["used_seconds"].sum())), "", number(float(costs["cost_usd"].sum()))
        )
        console.print(shown)
