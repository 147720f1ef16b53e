"""What machines cost an hour, and the refresh of the price book."""

from typing import Annotated

import typer

from scripts.epd import _call

IS_SNAKEMAKE = True

app = typer.Typer(rich_markup_mode=None)


@app.command()
def show(
    machines: Annotated[
        list[str] | None, typer.Argument(metavar="[MACHINE]...", help="Of config/hardware.yaml; all if none is named.")
    ] = None,
    study: Annotated[
        str, typer.Option(help="Whose price options and books.", autocompletion=_call.studies, show_default="local")
    ] = "",
    json: _call.Json = False,
) -> int:
    """Print what machines cost an hour under each price option of a study, by its books.

    With --json: rows of the table `prices` of docs/tables.md.

    \b
    ./epd prices show
    ./epd prices show v100 h100 --json
    """
    import sys
    from pathlib import Path

    from rich.console import Console
    from rich.table import Table

    from scripts.costs import pricing
    from scripts.storage import numbers, schemas, tables
    from scripts.storage.words import printable
    from scripts.studies import definition
    from scripts.workflow import asked

    settings = definition.read(asked.config("local", study=_call.study_here(study or None))["study"], {})[1]
    there = definition.machines(settings, schemas.read_yaml(Path("config/hardware.yaml"), "hardware"))
    definition.known("prices", "machine", machines or [], list(there))
    table = pricing.price_table(settings, there, set(machines or there))
    for line in pricing.not_offered(settings, there, machines or [], table):
        print(line, file=sys.stderr)
    found = sorted(tables.records(table), key=lambda row: list(there).index(row["hardware"]))
    if json:
        _call.print_json(found)
        return 0
    shown = Table("machine", "price", "USD an hour", "as of", "source")
    for row in found:
        usd = numbers.number(row["usd_per_hour"])
        shown.add_row(row["hardware"], row["price_option"], usd, row["price_as_of"], printable(row["price_source"]))
    Console(markup=False, highlight=False).print(shown)
    return 0


@app.command()
def refresh(
    catalogue: Annotated[str, typer.Option(metavar="FOLDER", help="Where the SkyPilot catalogue lies already.")] = "",
    as_of: Annotated[
        str, typer.Option(metavar="DATE", help="... and its date, or one for each provider: 2026-05-20,aws=2025-10.")
    ] = "",
) -> int:
    """Make config/prices/current.csv anew from a public catalogue; prices that cannot be right are refused.

    \b
    ./epd prices refresh
    ./epd prices refresh --catalogue skypilot-catalog/catalogs --as-of 2026-05-20
    """
    folder = _call.from_here(catalogue) if catalogue and "://" not in catalogue else catalogue
    given = {"catalogue": folder, "catalogue_as_of": as_of}
    return _call.become(_call.words(["refresh_prices"], "local", given))
