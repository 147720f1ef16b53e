"""What an hour of one card is rented for: offers of price books, by the card that an item has (config/machines.csv)."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from math import inf
from pathlib import Path
from typing import Any

from scripts.costs.book import Rows
from scripts.costs.offers import COLUMNS
from scripts.storage import schemas
from scripts.storage.errors import InputError
from scripts.storage.files import read_csv
from scripts.storage.spelling import find, named, plain

_CONFIG = Path(__file__).resolve().parents[2] / "config"
MACHINES = _CONFIG / "machines.csv"

#: Cards of data sheets, and how offers, drivers and people call them (`names`).
SHEETS = _CONFIG / "cards.yaml"

#: Market places: their machines stand at hosts of all kinds. They are a way to buy of its own, beside clouds.
MARKETS = ("akash", "runpod-community", "vast")

#: Clouds that list an hour of one card, whatever the machine it is in: several cost so many times as much.
BY_CARD = ("coreweave", "hyperstack", "nebius", "runpod-secure")

#: Several machines train together that are whole: of so many cards, or of as many as a host of their rack or pod has.
#: Of other clouds a machine of fewer is a part, without a link to the next one.
WHOLE = 8
WHOLE_OF_RACK = {"GB200": 4, "GB300": 4, "TPU v5p": 4}


@dataclass(frozen=True)
class Offer:
    """An item with cards of one kind that is rented by the hour; `usd_per_hour` is that of one of its cards."""

    card: str
    cards: int
    provider: str
    item: str
    region: str
    purchase: str
    usd_per_hour: float
    as_of: str
    source: str


#: How many cards a machine has.
_COUNT = re.compile("[1-9][0-9]{0,3}")


@cache
def machines(file: Path = MACHINES) -> Sequence[Mapping[str, str]]:
    """Return the rows of the table of machines that have cards: provider, item, card, cards, cores.

    Raises InputError for what is no number of cards.
    """
    found = []
    for place, row in read_csv(file, COLUMNS[:5]):
        if row["card"]:
            if not _COUNT.fullmatch(row["cards"]):
                raise InputError(f"{place}: cards: {row['cards']!r} must be a whole number from 1 to 9999")
            found.append(row)
    return found


def known(rows: Rows = ()) -> list[str]:
    """Return the names of all cards of machines, those in rows of price books too, sorted."""
    return sorted({row["card"] for row in (*machines(), *named_by_cards(rows))})


#: A machine of a public catalogue whose row says which cards it has (`costs.card_names`).
_NAMED = re.compile(r"(\d+)x (.+?) \((.+)\)")


def machine_name(card: str, count: int, own: str) -> str:
    """Return how a book calls a machine of so many cards that a catalogue has under a name of its own."""
    return f"{count}x {card} ({own})"


def by_name(item: str) -> tuple[str, int] | None:
    """Return the card of an item that is called by its cards, and how many it has; None for any other item."""
    found = _NAMED.fullmatch(item)
    return (found[2], int(found[1])) if found else None


def named_by_cards(rows: Rows) -> list[Mapping[str, str]]:
    """Return the machines in rows of price books that are called by their cards, as the table has others."""
    found = {(row["provider"], row["item"]): by_name(row["item"]) for row in rows}
    return [
        {"provider": provider, "item": item, "card": of[0], "cards": str(of[1]), "cores": ""}
        for (provider, item), of in found.items()
        if of
    ]


def without_maker(name: str) -> str:
    """Return the name of a card without that of its maker and of its family."""
    return re.sub(r"(?i)\b(nvidia|geforce|tesla|google)\b", "", name).strip()


def _words(name: str) -> frozenset[str]:
    """Return the words of a card's name, its memory (80GB) as one of them."""
    text = re.sub(r"(\d)\s*gi?b?\b", r"\1gb", without_maker(name).lower())
    return frozenset(re.findall(r"[a-z0-9.]+", re.sub(r"\brtx(?=\d)", "rtx ", text)))


def _code(card: str) -> frozenset[str]:
    """Return the words that distinguish a card, whatever its memory: h100, or pro and 6000."""
    words = _words(card)
    return frozenset(one for one in words if one not in ("rtx", "tpu") and not one.endswith("gb")) or words


def meant(name: str, names: Mapping[str, str]) -> list[str]:
    """Return the cards that a name may mean: one, those that it does not distinguish (A100), or none.

    `names` are all that cards are called, themselves too: their words may stand in any order, and some be left out.
    """
    if (found := find(without_maker(name), names)) is not None:
        return [found]
    asked = _words(name)
    may: dict[str, set[str]] = {}
    for one, card in names.items():
        may.setdefault(card, set()).update(_words(one))
    return [card for card in may if _code(card) <= asked <= may[card]]


def unknown(
    option: str, name: str, names: Mapping[str, str], otherwise: str, lacks: str, counted: str = ""
) -> InputError:
    """Return what is said of a name that means no card: several, a machine, one that `lacks` something, or a slip.

    `counted` is the option that says how many.
    """
    for count, card in counted_in(name):
        if found := meant(card, names):
            and_count = f", and {counted} {count}" if counted else ""
            return InputError(f"{option}: {name!r} is of {count} cards: say {' or '.join(found)}{and_count}")
    near = [card for card in dict.fromkeys(names.values()) if _code(card) <= _words(name)]
    near = [card for card in near if _words(card) <= _words(name)] or near
    if near:
        return InputError(f"{option}: {name!r}: {lacks}; the nearest known is {' or '.join(near)}")
    if find(without_maker(name), {one: one for one in known()}):
        return InputError(f"{option}: {name!r}: {lacks}: {otherwise}")
    try:
        named(option, without_maker(name) or name, names, otherwise)
    except InputError as error:
        return error
    raise AssertionError(name)


def counted_in(name: str) -> Iterator[tuple[int, str]]:
    """Yield how many of which card a text may name: 8xH100, 8 H100, H100:8, v6e-8, or a machine of a cloud."""
    if found := re.fullmatch(r"\s*(\d+)\s*[x×*]?\s*(\D.*)", name):
        yield int(found[1]), found[2]
    if found := re.fullmatch(r"(.+?)\s*[x×*:]\s*(\d+)\s*|(.*v6e)-(\d+)", name):
        yield int(found[2] or found[4]), found[1] or found[3]
    for row in machines():
        if plain(row["item"]) == plain(name):
            yield int(row["cards"]), row["card"]


def called(option: str, name: str, there: Sequence[str]) -> list[str]:
    """Return those of the cards on offer (`known`) that a person calls so: how their name begins, or what
    config/cards.yaml says of it. Raises InputError with the nearest names.
    """
    begin = [one for one in there if f"{one} ".lower().startswith(f"{name} ".lower())]
    if begin:
        return begin
    sheets = schemas.read_yaml(SHEETS, "cards")
    names = {one: one for one in there} | {one: one for one in sheets["cards"]} | sheets["names"]
    asked = meant(name, names)
    if not asked:
        raise unknown(option, name, names, f"it is one of {', '.join(there)}", "no machine on offer has one")
    found = [one for one in there if plain(names[one]) in {plain(card) for card in asked}]
    if not found:
        raise InputError(f"{option}: {name!r}: no machine on offer has one: it is one of {', '.join(there)}")
    return found


def of_rent(rent: Mapping[str, Any]) -> tuple[str, int] | None:
    """Return the card of what a machine rents and how many that are; None where the table of machines has none."""
    item = (rent["provider"], " + ".join(rent["items"]))
    found = next((row for row in machines() if (row["provider"], row["item"]) == item), None)
    return (found["card"], int(found["cards"]) * int(min(rent["items"].values()))) if found else None


def of_machine(name: str, study: Mapping[str, Any]) -> Iterator[tuple[str, int]]:
    """Yield the card of a study's machine and how many it has, by what it is rented as and by what the study says."""
    machine = study["machines"].get(name, {})
    for rent in (machine.get("rent"), *(option.get("instead", {}).get(name) for option in study["prices"].values())):
        if rent and (found := of_rent(rent)):
            yield found
    if "gpus" in machine:
        yield machine["gpus"]["model"], machine["gpus"]["count"]


def offers(rows: Rows, card: str, purchase: str = "on-demand") -> list[Offer]:
    """Return what the rows of price books ask for an hour of a card, in dollars, the lowest first.

    An item that is attached to a host has no price of its own, and is none.
    """
    has = {
        (row["provider"], row["item"]): int(row["cards"])
        for row in (*machines(), *named_by_cards(rows))
        if row["card"] == card
    }
    found = [
        Offer(
            card,
            has[row["provider"], row["item"]],
            row["provider"],
            row["item"],
            row["region"],
            purchase,
            row["rate"] / has[row["provider"], row["item"]],
            row["as_of"],
            row["source"],
        )
        for row in rows
        if (row["provider"], row["item"]) in has
        and (row["purchase"], row["per"], row["currency"]) == (purchase, "hour", "USD")
    ]
    return sorted(found, key=lambda offer: (offer.usd_per_hour, offer.provider, offer.item, offer.region))


def machines_of(card: str, provider: str, size: int, cards: int) -> int:
    """Return how many machines of `size` cards make up `cards` that train together: 0 if they do not.

    One that has them all, or several whole ones of a provider that is no market place; or cards of a list by the card.
    """
    if size == 1 and provider in BY_CARD:
        return cards
    count, rest = divmod(cards, size)
    if rest or (count > 1 and (size < whole_of(card) or provider in MARKETS)):
        return 0
    return count


def whole_of(card: str) -> int:
    """Return how many cards a whole machine, or a host of their rack, has."""
    return WHOLE_OF_RACK.get(card, WHOLE)


def wanted(card: str, provider: str, size: int, least: int) -> int:
    """Return how many cards make up machines of `size` that have the `least`: of a list by the card, above what one
    whole machine has, those of whole ones, whose cards are linked.
    """
    is_many = size == 1 and provider in BY_CARD and least > whole_of(card)
    unit = whole_of(card) if is_many else size
    return -(-least // unit) * unit


def counted(card: str, size: int, machines: int) -> str:
    """Return in words how many machines of how many cards; of a list by the card those that they make up."""
    if size == 1 < machines and machines > whole_of(card) and machines % whole_of(card) == 0:
        size, machines = whole_of(card), machines // whole_of(card)
    if size == 1 or machines == 1:
        return f"{size * machines:,} x {card}"
    return f"{machines:,} machines of {size} x {card}"


def for_cards(found: Iterable[Offer], cards: int) -> list[Offer]:
    """Return one offer of each provider for so many cards that train together, by its largest machine for them."""
    return largest(offer for offer in found if machines_of(offer.card, offer.provider, offer.cards, cards))


def largest(found: Iterable[Offer], most: float = inf) -> list[Offer]:
    """Return one offer of each provider, its largest machine of `most` cards or fewer, by the hour of a card.

    Of several of that size the newest counts, and of one day the cheapest.
    """
    best: dict[str, Offer] = {}
    for offer in found:
        before = best.get(offer.provider)
        newer = before is None or (offer.cards, offer.as_of) > (before.cards, before.as_of)
        if offer.cards <= most and newer:
            best[offer.provider] = offer
    return sorted(best.values(), key=lambda offer: (offer.usd_per_hour, offer.provider))


def chosen(found: Iterable[Offer], option: Mapping[str, Any]) -> list[Offer]:
    """Return the offers of those providers that a price option names (`only`); else of clouds, but for `without`."""
    if "only" in option:
        return [offer for offer in found if offer.provider in option["only"]]
    left_out = {*MARKETS, *option.get("without", [])}
    return [offer for offer in found if offer.provider not in left_out]
