"""What machines and cards cost an hour, and the refresh of the price book."""

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
def card(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="[CARD]...", help="As offers, data sheets or drivers call it; how a name begins: H100."),
    ] = None,
    purchase: Annotated[str, typer.Option(help="on-demand or spot.")] = "on-demand",
    check: Annotated[
        bool, typer.Option("--check", help="Say which cards have no price of the last 60 days; exit code 1 if any.")
    ] = False,
    json: _call.Json = False,
) -> int:
    """Print what an hour of a card cost by date, from all committed books; without one, of each card of the last year.

    Of each day the offers that were read, and the lowest and the median of what was known of clouds: the newest offer
    of each, of its largest machine of up to eight cards, by the card-hour; market places stand apart. A quote of
    several cards takes whole machines alone, and may find none as low. With --json: a list of such days.

    \b
    ./epd prices card H100
    ./epd prices card B200 GB200 --json
    ./epd prices card --check
    """
    import sys
    from datetime import date

    from rich.console import Console
    from rich.table import Table

    from scripts.costs import book, books, card_history, cards
    from scripts.storage import numbers
    from scripts.studies import definition

    definition.known("prices card", "--purchase", [purchase], ["on-demand", "spot"])
    rows = [row for file in books.every() for row in book.read([file])]
    today = date.today()
    offers = {name: cards.offers(rows, name, purchase) for name in cards.known()}
    ages = {name: age for name, of in offers.items() if (age := card_history.age(of, today)) is not None}
    asked = [name for name, age in ages.items() if age <= card_history.KNOWN_DAYS]
    if names:
        asked = list(dict.fromkeys(name for given in names for name in cards.called("prices card", given)))
    if check:
        old = [name for name in asked if ages.get(name, card_history.OLD_DAYS) >= card_history.OLD_DAYS]
        for name in old:
            said = f"its newest price is {ages[name]} days old" if name in ages else "no book has a price of it"
            print(f"prices: {name}: {said}", file=sys.stderr)
        if not old:
            print(f"prices: {len(asked)} cards have a price of the last {card_history.OLD_DAYS} days")
        return 1 if old else 0
    found = [(name, day) for name in asked for day in card_history.days(offers[name])]
    if json:
        _call.print_json(
            [
                {
                    "card": name,
                    "as_of": day.as_of,
                    "lowest_usd_per_hour": day.lowest.usd_per_hour,
                    "lowest_provider": day.lowest.provider,
                    "median_usd_per_hour": day.median,
                    "offers": len(day.known),
                    "market_usd_per_hour": day.market and day.market.usd_per_hour,
                    "market_provider": day.market and day.market.provider,
                    "new": {offer.provider: offer.usd_per_hour for offer in day.new},
                }
                for name, day in found
            ]
        )
        return 0
    shown = Table()
    for title in ("card", "as of", "lowest of clouds", "median", "of", "market place"):
        shown.add_column(title, no_wrap=True)
    shown.add_column("read that day, USD an hour")
    for name, day in found:
        read = ", ".join(f"{offer.provider} {numbers.number(offer.usd_per_hour)}" for offer in day.new)
        lowest, market = (
            "—" if one is None else f"{numbers.number(one.usd_per_hour)} {one.provider}"
            for one in (day.lowest, day.market)
        )
        shown.add_row(name, day.as_of, lowest, numbers.number(day.median), str(len(day.known)), market, read)
    # What reads a pipe has no edge to keep to.
    width = None if sys.stdout.isatty() else 200
    Console(markup=False, highlight=False, width=width).print(shown)
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
