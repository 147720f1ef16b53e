"""Which card costs least, clearly different from others at 80 %, in words and for programs; or what to measure."""

from collections.abc import Mapping, Sequence
from math import inf
from typing import Any

import numpy as np

from scripts.costs.cards import counted
from scripts.estimate import choice
from scripts.estimate.linear import Array
from scripts.estimate.owned import OWNED
from scripts.estimate.rates import BASES, digits_within
from scripts.estimate.reasons import caveats, text
from scripts.storage.numbers import between, number, rounded

#: How other ways to buy are named, where they cost less.
_WAYS = {
    "spot": "On spot, if it may be interrupted:",
    "market": "At a market place, where anybody may be the host: from",
    "owned": "Owned:",
}


def usd_of(bill: Mapping[str, Any]) -> float:
    """Return what a bill of an answer comes to at its first offer."""
    return float(bill["usd"]["cheapest"])


def verdict(
    answers: Sequence[Mapping[str, Any]],
    usd: Array,
    covariance: Array,
    minutes: Array,
    others: Mapping[str, Mapping[str, Any] | None],
) -> dict[str, Any] | None:
    """Return which card costs least, or what to measure; None where no card has a price.

    Of each answer the bill of `deciding` counts; `usd` is what it comes to, `minutes` what a minute does, `others` the
    lowest bills of other ways to buy, which stand apart.
    """
    if not answers:
        return None
    found = choice.choose(usd, covariance, minutes)
    names = [one["card"] for one in answers]
    tied = [found.first, *found.rivals]
    falls = [{"card": names[place], "expected_fall_usd": fall} for place, fall in found.falls.items() if place in tied][
        : choice.MOST
    ]
    # What rests on a data sheet alone decides nothing, however far it lies from others.
    decided = not found.rivals and (answers[found.first]["basis"] != BASES[-1] or len(answers) == 1)
    flips = _flips(answers, found, usd, covariance)
    said = [_sentence(answers[found.first], len(names), [names[place] for place in found.rivals], falls)]
    expected = usd * np.exp(np.diag(covariance) / 2)
    sure = [place for place in np.argsort(expected) if answers[place]["basis"] != BASES[-1]]
    if sure and all(answers[place]["basis"] == BASES[-1] for place in tied):
        of = answers[sure[0]]
        said.append(f"Of those that tables know: {_place(of, of['deciding']['cheapest'])}, {_cost(of['deciding'])}.")
    if flips:
        offer = answers[found.first]["deciding"]["cheapest"]
        said.append(
            f"If an hour of {_machines(names[found.first], offer)} rises from {number(flips['from_usd_per_hour'])} to "
            f"{number(flips['usd_per_hour'])} USD, {flips['card']} {_by(flips['provider'])} is expected to "
            "cost less."
        )
    own = [place for place, one in enumerate(answers) if one["basis"] == BASES[0]]
    if len(own) == 1 and len(answers) > 1:
        is_sheet = answers[found.first]["basis"] == BASES[-1]
        all_tied = [names[place] for place in tied]
        said.append(f"{_stay_or_move(names[own[0]], names[found.first], all_tied, decided, is_sheet)}.")
    said += elsewhere(others, float(usd[found.first]))
    return {
        "decided": decided,
        "card": names[found.first],
        "rivals": [names[place] for place in found.rivals],
        "chances": dict(zip(names, map(float, found.chances), strict=True)),
        "measure": [] if decided else falls,
        "flips": flips,
        "sentence": " ".join(said),
    }


def elsewhere(others: Mapping[str, Mapping[str, Any] | None], most_usd: float = inf) -> list[str]:
    """Return what the lowest bills of other ways to buy come to, a sentence each, where that is less than so much."""
    return [
        f"{words} {_usd(bill)} on {_place(bill, bill['cheapest'])}."
        for way, words in _WAYS.items()
        if (bill := others.get(way)) and usd_of(bill) < most_usd
    ]


def _stay_or_move(own: str, first: str, tied: Sequence[str], decided: bool, is_sheet: bool) -> str:
    """Return whether to stay on the card that a person measured."""
    if decided:
        return text("stay", own=own) if own == first else text("move", own=own, card=first)
    return text("stay or move" if own in tied or is_sheet else "move to some", own=own)


def _flips(
    answers: Sequence[Mapping[str, Any]], found: choice.Choice, usd: Array, covariance: Array
) -> dict[str, Any] | None:
    """Return up to which price of its machines (USD an hour of all) the first offer keeps the lowest expected cost.

    What follows is another card, or another provider of the same one.
    """
    more = np.exp(np.diag(covariance) / 2)
    first = answers[found.first]
    follow = [
        (float(usd[place] * more[place]), one["card"], one["deciding"]["cheapest"]["provider"])
        for place, one in enumerate(answers)
        if place != found.first
    ]
    if second := first["deciding"]["second"]:
        follow.append((second["usd"] * float(more[found.first]), first["card"], second["provider"]))
    if not follow:
        return None
    least, card, provider = min(follow)
    offer = first["deciding"]["cheapest"]
    now = offer["usd_per_hour"] * offer["machines"]
    share = least / float(usd[found.first] * more[found.first])
    return {"card": card, "provider": provider, "from_usd_per_hour": now, "usd_per_hour": now * share}


def _usd(bill: Mapping[str, Any]) -> str:
    """Return what a bill comes to, with its interval."""
    usd = bill["usd"]
    digits = digits_within(usd["low"], usd["high"])
    ends = between(usd["low"], usd["high"], digits)
    return f"{rounded(usd['cheapest'], digits)} USD ({ends} by the 80 % interval of its speed)"


def _cost(bill: Mapping[str, Any]) -> str:
    hours = rounded(bill["hours"], digits_within(bill["usd"]["low"], bill["usd"]["high"]))
    return f"{_usd(bill)} in {hours} h"


def _place(of: Mapping[str, Any], offer: Mapping[str, Any]) -> str:
    """Return on which machines of a card, with what is to be known of it, and since when they ask that."""
    date = "figures" if offer["provider"] == OWNED else "price"
    known = caveats(of["basis"], of["host"], of["fits"])
    return f"{_machines(of['card'], offer, known)}, {date} of {offer['as_of']}"


def _machines(card: str, offer: Mapping[str, Any], known: str = "") -> str:
    return f"{counted(card, offer['cards'], offer['machines'])}{known} {_by(offer['provider'])}"


def _by(provider: str) -> str:
    return OWNED if provider == OWNED else f"at {provider}"


def _sentence(first: Mapping[str, Any], count: int, rivals: Sequence[str], falls: Sequence[Mapping[str, Any]]) -> str:
    bill = first["deciding"]
    machine, cost = _place(first, bill["cheapest"]), _cost(bill)
    if not rivals and first["basis"] == BASES[-1] and count > 1:
        return f"{text('measure first')}: {machine}, {cost}."
    if not rivals:
        which = "The one card" if count == 1 else f"Cheapest of the {count} cards"
        return f"{which} with an answer and an offer: {machine}, {cost}."
    all_near = _listed([first["card"], *rivals])
    if not falls:
        return f"Too close to call between {all_near}, and no minute is worth its time: {machine}, {cost}, will do."
    saved = [rounded(one["expected_fall_usd"], 2) for one in falls]
    saved[0] = f"expected to save {saved[0]} USD beyond what it costs"
    named = [f"{one['card']} ({words})" for one, words in zip(falls, saved, strict=True)]
    on = ("on", "on one of these two:", "on one of these three:")[len(falls) - 1]
    return (
        f"Too close to call between {all_near}: measure a minute {on} {_listed(named, 'or')}; "
        f"without that, {machine}, comes to {cost}."
    )


def _listed(names: Sequence[str], last: str = "and") -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} {last} {names[-1]}"
