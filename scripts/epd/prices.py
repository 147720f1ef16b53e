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

    Ends with 1 where none of them has a price. What a card costs, `epd prices card` says. With --json: rows of the
    table `prices` of docs/tables.md.

    \b
    ./epd prices show
    ./epd prices show gce-v100x1 gce-a100x1 --json
    """
    import sys
    from pathlib import Path

    from rich.console import Console
    from rich.table import Table

    from scripts.costs import pricing
    from scripts.storage import numbers, schemas, spelling, tables
    from scripts.storage.words import printable
    from scripts.studies import definition
    from scripts.workflow import asked

    settings = definition.read(asked.config("local", study=_call.study_here(study or None))["study"], {})[1]
    there = definition.machines(settings, schemas.read_yaml(Path("config/hardware.yaml"), "hardware"))
    which = f"it is one of {', '.join(there)}; what a card costs: epd prices card"
    names = [spelling.named("prices show", name, {one: one for one in there}, which) for name in machines or []]
    table = pricing.price_table(settings, there, set(names or there))
    for line in pricing.not_offered(settings, there, dict.fromkeys(names), table):
        print(line, file=sys.stderr)
    found = sorted(tables.records(table), key=lambda row: list(there).index(row["hardware"]))
    if json:
        _call.print_json(found)
    if json or not found:
        return int(not found)
    shown = Table("machine", "price", "USD an hour", "as of", "source")
    for row in found:
        usd = numbers.number(row["usd_per_hour"])
        shown.add_row(row["hardware"], row["price_option"], usd, row["price_as_of"], printable(row["price_source"]))
    Console(markup=False, highlight=False).print(shown)
    return 0


@app.callback(invoke_without_command=True)
def prices(
    context: typer.Context,
    check: Annotated[
        bool, typer.Option("--check", help="Say which cards have no price of the last 60 days; exit code 1 if any.")
    ] = False,
) -> int:
    """Say how old prices are, or go on to a sub-command."""
    from scripts.storage.errors import InputError

    if context.invoked_subcommand:
        if check:
            raise InputError(f"prices: --check stands alone, without {context.invoked_subcommand}")
        return 0
    if not check:
        raise InputError("Missing command. (epd prices --help)")
    import sys
    from datetime import date

    from scripts.costs import card_history
    from scripts.epd import _cards

    cards = card_history.of_late(_cards.offers(["on-demand"]))
    old = card_history.old(cards, date.today())
    if not old:
        print(f"prices: all {len(cards)} cards have a price of the last {card_history.OLD_DAYS} days")
        return 0
    aged = ", ".join(f"{name} {days}" for name, days in sorted(old.items(), key=lambda item: -item[1]))
    said = f"{len(old)} of {len(cards)} cards have no price of the last {card_history.OLD_DAYS} days"
    print(f"prices: {said}; days since the newest: {aged}", file=sys.stderr)
    return 1


@app.command()
def card(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="[CARD]...", help="As offers, data sheets or drivers call it; how a name begins: H100."),
    ] = None,
    purchase: Annotated[str, typer.Option(help="on-demand or spot.")] = "on-demand",
    offers: Annotated[
        bool, typer.Option("--offers", help="What each provider asks, by region, on demand and as spot; not by date.")
    ] = False,
    chart: Annotated[str, typer.Option(metavar="FILE", help="Draw the history as .png or .svg, too.")] = "",
    json: _call.Json = False,
) -> int:
    """Print what an hour of a card cost by date, from all committed books; without one, of each card of the last year.

    Of each day the offers that were read, and the lowest and the median of what was known of clouds: the newest offer
    of each, of its largest machine of up to eight cards, by the card-hour; market places stand apart. A quote of
    several cards takes whole machines alone, and may find none as low. With --offers: of each provider, size and region
    the newest price, and what other sources say of it. With --json: a list of either. Ends with 1 where there is none.

    \b
    ./epd prices card H100
    ./epd prices card B200 GB200 --json
    ./epd prices card H100 --offers
    ./epd prices card "H100 SXM" --chart h100.png
    """
    import sys

    from scripts.costs import card_history, cards
    from scripts.epd import _cards
    from scripts.storage.errors import InputError
    from scripts.studies import definition

    definition.known("prices card", "--purchase", [purchase], ["on-demand", "spot"])
    if chart and offers:
        raise InputError("prices card: --chart draws the history: not with --offers")
    if chart and not chart.endswith((".png", ".svg")):
        raise InputError(f"prices card: --chart: {chart!r}: must end with .png or .svg")
    drawn = _call.to_write("prices card: --chart", chart) if chart else None
    found = _cards.offers(["on-demand", "spot"] if offers else [purchase])
    asked = list(card_history.of_late(found))
    if names:
        asked = list(dict.fromkeys(name for given in names for name in cards.called("prices card", given, list(found))))
    if offers:
        _cards.show_offers({name: card_history.asked(found[name]) for name in asked}, json)
        return 0
    history = {name: days for name in asked if (days := card_history.days(found[name]))}
    if drawn:
        if not 0 < len(history) <= _cards.DRAWN:
            there = f"{len(history)} cards have a cloud's price, {purchase}"
            raise InputError(f"prices card: --chart: {there}: must be 1 to {_cards.DRAWN}")
        _cards.write_chart(history, purchase, drawn)
    if history or json:
        _cards.show_history(history, json)
    for name in asked if names else ():
        if name not in history:
            print(f"prices card: {_cards.without(name, purchase)}", file=sys.stderr)
    return int(not history)


@app.command()
def refresh(
    catalogue: Annotated[str, typer.Option(metavar="FOLDER", help="Where the SkyPilot catalogue lies already.")] = "",
    as_of: Annotated[
        str, typer.Option(metavar="DATE", help="... and its date, or one for each provider: 2026-05-20,aws=2025-10.")
    ] = "",
    gpuhunt: Annotated[str, typer.Option(metavar="FOLDER", help="Where the catalogue of gpuhunt lies already.")] = "",
) -> int:
    """Make config/prices/current.csv anew from public catalogues; prices that cannot be right are refused.

    Where SkyPilot's catalogue and that of gpuhunt have one price otherwise, both are shown. Beside a folder of
    SkyPilot's, that of gpuhunt is asked only where it lies already, too.

    \b
    ./epd prices refresh
    ./epd prices refresh --catalogue skypilot-catalog/catalogs --as-of 2026-05-20
    """

    from scripts import refresh_prices

    def here(place: str) -> str:
        return _call.from_here(place) if place and "://" not in place else place

    given = {"catalogue": here(catalogue), "catalogue_as_of": as_of, "gpuhunt": here(gpuhunt)}
    options = {"--catalogue": [given["catalogue"]], "--gpuhunt": [given["gpuhunt"]], "--as-of": as_of.split(",")}
    words = [f"{option}={value}" for option, values in options.items() for value in values if value]
    # Before Snakemake is called, which would say a mistake three times.
    refresh_prices.asked(refresh_prices.parse([*words, "--book=config/prices/current.csv"]))
    return _call.become(_call.words(["refresh_prices"], "local", given))
