"""What `epd prices card` prints and draws."""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from scripts.costs import book, books, cards
from scripts.costs.card_history import CARDS, Asked, Day
from scripts.costs.cards import MARKETS, Offer
from scripts.epd import _call
from scripts.storage.files import write_bytes, write_text
from scripts.storage.numbers import number

#: More cards one below another are no longer read.
DRAWN = 4


def offers(purchases: Sequence[str]) -> dict[str, list[Offer]]:
    """Return what all committed price books ask for an hour of each card, bought in these ways."""
    rows = [row for file in books.every() for row in book.read([file])]
    return {name: [offer for way in purchases for offer in cards.offers(rows, name, way)] for name in cards.known(rows)}


def without(name: str, purchase: str) -> str:
    """Return in words that no cloud has a price of a card bought so, and what the books have of it."""
    ways = {way: offers([way])[name][:1] for way in ("on-demand", "spot")}
    there = [
        f"{way} {number(one.usd_per_hour)} USD a card-hour at {one.provider} ({one.as_of})"
        for way, first in ways.items()
        for one in first
    ]
    has = f"the books have {' and '.join(there)}" if there else "the books have none at all"
    return f"{name}: no price of a cloud, {purchase}; {has}"


def show_history(history: Mapping[str, Sequence[Day]], as_json: bool) -> None:
    """Print a line for each day on which a price of a card was read."""
    found = [(name, day) for name, days in history.items() for day in days]
    if as_json:
        _call.print_json(
            [
                {
                    "card": name,
                    "as_of": day.as_of,
                    "lowest_usd_per_hour": day.lowest.usd_per_hour,
                    "lowest_provider": day.lowest.provider,
                    "highest_usd_per_hour": day.highest.usd_per_hour,
                    "highest_provider": day.highest.provider,
                    "median_usd_per_hour": day.median,
                    "offers": len(day.known),
                    "market_usd_per_hour": day.market and day.market.usd_per_hour,
                    "market_provider": day.market and day.market.provider,
                    "new": {offer.provider: offer.usd_per_hour for offer in day.new},
                }
                for name, day in found
            ]
        )
        return
    shown = _table("card", "as of", "lowest of clouds", "highest", "median", "of", "market place")
    shown.add_column("read that day, USD an hour")
    for name, day in found:
        read = ", ".join(f"{offer.provider} {number(offer.usd_per_hour)}" for offer in day.new)
        lowest, highest, market = (
            "—" if one is None else f"{number(one.usd_per_hour)} {one.provider}"
            for one in (day.lowest, day.highest, day.market)
        )
        shown.add_row(name, day.as_of, lowest, highest, number(day.median), str(len(day.known)), market, read)
    shown.caption = (
        f"An hour of a card, of the largest machine of up to {CARDS} cards that each provider asked a price for by "
        "that day: a larger machine that comes later stands for a smaller one. --offers has every size."
    )
    _print(shown)


def show_offers(asked: Mapping[str, Sequence[Asked]], as_json: bool) -> None:
    """Print a line for each provider, size and region, by the card-hour, and the prices that contradict it."""
    found = [(name, one) for name, each in asked.items() for one in each]
    if as_json:
        _call.print_json(
            [
                {
                    "card": name,
                    "provider": one.provider,
                    "is_market_place": one.provider in MARKETS,
                    "cards": one.cards,
                    "region": one.region,
                    "on_demand": _price(one.on_demand),
                    "spot": _price(one.spot),
                    "otherwise": [{"purchase": offer.purchase} | _said(offer) for offer in one.otherwise],
                }
                for name, one in found
            ]
        )
        return
    shown = _table("card", "provider", "cards", "region", "on demand", "as of", "spot", "as of")
    shown.add_column("other sources, USD an hour")
    for name, one in found:
        both = [
            text
            for offer in (one.on_demand, one.spot)
            for text in ((number(offer.usd_per_hour), offer.as_of) if offer else ("—", ""))
        ]
        otherwise = "; ".join(
            f"{number(offer.usd_per_hour)}{' as spot' if offer.purchase == 'spot' else ''}, {offer.as_of}"
            for offer in one.otherwise
        )
        provider = f"{one.provider} (market)" if one.provider in MARKETS else one.provider
        shown.add_row(name, provider, str(one.cards), one.region or "any", *both, otherwise)
    _print(shown)


def write_chart(history: Mapping[str, Sequence[Day]], purchase: str, path: Path) -> None:
    """Draw the history of cards. Raises InputError for a file that cannot be written."""
    from scripts.charts import _card_history, _theme

    chart = _card_history.draw(history, purchase)
    if path.suffix == ".svg":
        write_text(path, _theme.svg(chart, path.stem))
    else:
        write_bytes(path, _theme.png(chart, _card_history.TITLE, chart.caption))
    print(f"{path}: written", file=sys.stderr)


def _price(offer: Offer | None) -> dict[str, object] | None:
    return _said(offer) if offer else None


def _said(offer: Offer) -> dict[str, object]:
    return {
        "usd_per_hour": offer.usd_per_hour,
        "as_of": offer.as_of,
        "item": offer.item,
        "source": offer.source,
    }


def _table(*titles: str) -> Table:
    shown = Table()
    for title in titles:
        shown.add_column(title, no_wrap=True)
    return shown


def _print(shown: Table) -> None:
    # What reads a pipe has no edge to keep to.
    Console(markup=False, highlight=False, width=None if sys.stdout.isatty() else 200).print(shown)
