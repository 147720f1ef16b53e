"""What an hour of each card of a page is offered for: a price is of an offer, and the page reckons with one of them."""

from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

from scripts.analysis import trainings
from scripts.analysis.names import provider_name
from scripts.costs.card_history import KNOWN_DAYS, day_of
from scripts.costs.cards import MARKETS, for_cards
from scripts.pages.inputs import Inputs
from scripts.storage.numbers import number

#: Of more cards the sentence would be a list: they are in the table.
_MOST = 3


def context(inputs: Inputs) -> dict[str, Any]:
    """Return `offers`, a row for each card of the page that a cloud offers, and `offers_words`, of a few cards.

    A row is of a card, and of how many of them the page's machines have: a provider may ask another price for eight.
    Keys: card, cards, lowest, provider (whose it is) and as_of, median, highest, count (how many clouds), market (what
    market places ask at least, and which; None for none) and here (what the page reckons with, from and to; None
    without a price). In USD a card-hour.
    """
    rows = [row for card, cards in dict.fromkeys(inputs.cards.values()) if (row := _row(card, cards, inputs))]
    said = [row for row in rows if row["here"]]
    if len(said) > _MOST:
        asked = _asked(inputs)
        said = [row for row in said if (row["card"], row["cards"]) in asked]
    is_said = _is_of_late(inputs) and 0 < len(said) <= _MOST
    return {"offers": rows, "offers_words": _words(said) if is_said else ""}


def _row(card: str, cards: int, inputs: Inputs) -> dict[str, Any] | None:
    found = for_cards(inputs.offered.get(card, ()), cards)
    clouds = [offer for offer in found if offer.provider not in MARKETS]
    market = next((offer for offer in found if offer.provider in MARKETS), None)
    if not clouds:
        return None
    return {
        "card": card,
        "cards": cards,
        "lowest": clouds[0].usd_per_hour,
        "provider": provider_name(clouds[0].provider),
        "as_of": clouds[0].as_of,
        "median": median(offer.usd_per_hour for offer in clouds),
        "highest": clouds[-1].usd_per_hour,
        "count": len(clouds),
        "market": market and (market.usd_per_hour, provider_name(market.provider)),
        "here": _here(card, cards, inputs),
    }


def _here(card: str, cards: int, inputs: Inputs) -> tuple[float, float] | None:
    """Return from and to what the page's machines with so many of a card cost for an hour of one, at its price."""
    shown = inputs.prices[inputs.prices["price_option"] == inputs.price]
    priced = zip(shown["hardware"], shown["usd_per_hour"].astype(float), strict=True)
    each = [usd / cards for name, usd in priced if inputs.cards.get(name) == (card, cards)]
    return (min(each), max(each)) if each else None


def _asked(inputs: Inputs) -> set[tuple[str, int]]:
    """Return the cards, and how many, that the page's answer names."""
    asked = inputs.study.get("question", {})
    names = {asked.get("hardware"), asked.get("than", inputs.base.get("hardware"))} if "hardware" in asked else set()
    answer = trainings.newer_pay(inputs.derived["generations"]) if "generations" in inputs.derived else None
    newer = {flip.hardware for flip in answer.flips if flip.below} if answer else set()
    return {of for name, of in inputs.cards.items() if name in names or inputs.labels[name] in newer}


def _is_of_late(inputs: Inputs) -> bool:
    """Return whether the page reckons with prices of about the time of the newest offers, and not of years ago."""
    shown = inputs.prices.loc[inputs.prices["price_option"] == inputs.price, "price_as_of"].dropna()
    dated = [day_of(offer.as_of) for found in inputs.offered.values() for offer in found]
    return bool(dated) and len(shown) > 0 and (max(dated) - max(map(day_of, shown))).days <= KNOWN_DAYS


def _words(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return what these cards are offered for, in a sentence."""
    each = []
    for row in rows:
        whose = f"{number(row['lowest'])} ({row['provider']}, {row['as_of']}"
        several = f") to {number(row['highest'])}, median {number(row['median'])} of {row['count']}"
        asked = f"from {whose}{several}" if row["count"] > 1 else f"{whose} alone)"
        here = " to ".join(dict.fromkeys(number(end) for end in row["here"]))
        cards = f"{row['cards']} × " if row["cards"] > 1 else ""
        each.append(f"{cards}{row['card']} {asked}, here {here}")
    return f"Clouds ask, in USD a card-hour: {'; '.join(each)}."
