"""Which card costs least, clearly different from others at 80 %, in words and for programs; or what to measure."""

from collections.abc import Container, Mapping, Sequence
from math import inf
from typing import Any

import numpy as np

from scripts.costs.cards import counted
from scripts.estimate import choice
from scripts.estimate.linear import Array
from scripts.estimate.owned import OWNED
from scripts.estimate.rates import BASES, digits_within
from scripts.estimate.reasons import by_region, caveats, in_region, of_memory, text
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
    asked_after: Sequence[str] = (),
) -> dict[str, Any] | None:
    """Return which card costs least, or what to measure; None where no card has a price.

    Of each answer the bill of `deciding` counts; `usd` is what it comes to, `minutes` what a minute does, `others` the
    lowest bills of other ways to buy, which stand apart. A rate of the person's own that is `asked_after`, on these
    cards, decides nothing.
    """
    if not answers:
        return None
    unsure = [place for place, one in enumerate(answers) if _is_unsure(one)]
    found = choice.choose(usd, covariance, minutes, unsure)
    names = [one["card"] for one in answers]
    tied = [found.first, *found.rivals]
    tried = [place for place in found.falls if place in tied and not _is_short(answers[place])]
    falls = [{"card": names[place], "expected_fall_usd": found.falls[place]} for place in tried[: choice.MOST]]
    # What rests on a data sheet alone decides nothing, however far it lies from others.
    decided = not found.rivals and not asked_after and (found.first not in unsure or len(answers) == 1)
    flips = _flips(answers, found, usd, covariance)
    way = " on demand" if "owned" in others else ""  # else one's own machines decide, too
    said = [_sentence(answers, found, falls, asked_after, way)]
    if flips and not asked_after:
        offer = answers[found.first]["deciding"]["cheapest"]
        of_first = _machines(names[found.first], offer, _own_memory(answers[found.first])) + in_region(offer)
        flips_to = _alone(answers[names.index(flips["card"])])
        said.append(
            f"If an hour of {of_first} rises from {number(flips['from_usd_per_hour'])} to "
            f"{number(flips['usd_per_hour'])} USD, {flips_to} {_by(flips['provider'])}{in_region(flips)} is "
            "expected to cost less."
        )
    own = [place for place, one in enumerate(answers) if one["basis"] == BASES[0]]
    if len(own) == 1 and len(answers) > 1:
        fits = [place for place, one in enumerate(answers) if not _is_short(one)]
        below = [place for place in fits if choice.is_below(usd, covariance, place, own[0])]
        first = None if own[0] == found.first else _alone(answers[found.first])
        key = "stay or move" if asked_after else _stay_or_move(first, decided, below, unsure)
        about = {"own": names[own[0]], "card": first}
        if key == "move to some" and (safe := _safe(answers, own[0], [one for one in below if one not in unsure])):
            key, about = "move safely", about | safe
        said.append(f"{text(key, **about)}.")
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
        f"{words} {_paid(bill) if way == 'spot' else f'{_usd(bill)} on {_place(bill, bill)}'}."
        for way, words in _WAYS.items()
        if (bill := others.get(way)) and usd_of(bill) < most_usd
    ]


def _paid(bill: Mapping[str, Any]) -> str:
    """Return what a bill of a spot machine comes to, in the median of regions first, and on which machines."""
    if not (cost := by_region(bill["cheapest"], usd_of(bill), _usd(bill))):
        return f"{_usd(bill)} on {_place(bill, bill)}"
    return f"{cost}, on {_place(bill, bill, is_region_said=True)}"


def _stay_or_move(first: str | None, decided: bool, below: Sequence[int], unsure: Container[int]) -> str:
    """Return which of `reasons.TEXTS` says whether to stay on the card that a person measured, or move to the `first`,
    None where that is the same; `below` are those that clearly cost less than one's own, `unsure` what nothing but a
    data sheet speaks for, which moves nobody.
    """
    if decided:
        return "move" if first else "stay"
    if any(place not in unsure for place in below):
        return "move to some"
    return "stay until tried" if below else "stay for now"


def _safe(answers: Sequence[Mapping[str, Any]], own: int, below: Sequence[int]) -> dict[str, str]:
    """Return for "move safely" of `reasons.TEXTS` the card to which a move is safe, though it is open which of those
    `below` costs least: its whole interval is less than one's own, and of several its upper end is the lowest. Empty
    where there is none.
    """
    bills = {place: answers[place]["deciding"]["usd"] for place in (own, *below)}
    wholly = sorted((bills[place]["high"], place) for place in below if bills[place]["high"] < bills[own]["low"])
    if not wholly:
        return {}
    place = wholly[0][1]
    ends, mine = bills[place], bills[own]
    return {
        "card": _alone(answers[place]),
        "ends": between(ends["low"], ends["high"], digits_within(ends["low"], ends["high"])),
        "usd": rounded(mine["cheapest"], digits_within(mine["low"], mine["high"])),
        "why": text("one below") if len(wholly) == 1 else text("several below", count=len(wholly)),
    }


def _flips(
    answers: Sequence[Mapping[str, Any]], found: choice.Choice, usd: Array, covariance: Array
) -> dict[str, Any] | None:
    """Return up to which price of its machines (USD an hour of all) the first offer keeps the lowest expected cost.

    What follows is another card, or another provider of the same one.
    """
    more = np.exp(np.diag(covariance) / 2)
    first = answers[found.first]
    follow = [
        (float(usd[place] * more[place]), one["card"], *_seller(one["deciding"]["cheapest"]))
        for place, one in enumerate(answers)
        if place != found.first
    ]
    if second := first["deciding"]["second"]:
        follow.append((second["usd"] * float(more[found.first]), first["card"], *_seller(second)))
    if not follow:
        return None
    least, card, provider, region = min(follow)
    offer = first["deciding"]["cheapest"]
    now = offer["usd_per_hour"] * offer["machines"]
    share = least / float(usd[found.first] * more[found.first])
    of = {"card": card, "provider": provider, "region": region}
    return of | {"from_usd_per_hour": now, "usd_per_hour": now * share}


def _seller(offer: Mapping[str, Any]) -> tuple[str, str]:
    return offer["provider"], offer["region"]


def _usd(bill: Mapping[str, Any]) -> str:
    """Return what a bill comes to, with its interval."""
    usd = bill["usd"]
    digits = digits_within(usd["low"], usd["high"])
    ends = between(usd["low"], usd["high"], digits)
    return f"{rounded(usd['cheapest'], digits)} USD ({ends} by the 80 % interval of its speed)"


def _cost(bill: Mapping[str, Any]) -> str:
    hours = rounded(bill["hours"], digits_within(bill["usd"]["low"], bill["usd"]["high"]))
    return f"{_usd(bill)} in {hours} h"


def _place(of: Mapping[str, Any], bill: Mapping[str, Any], is_region_said: bool = False) -> str:
    """Return on which machines of a card, with what is to be known of it, and where and since when they ask that."""
    offer = bill["cheapest"]
    date = "figures" if offer["provider"] == OWNED else "price"
    known = caveats(of["basis"], of["host"], of["fits"], of["off_logs"])
    where = "" if is_region_said else in_region(offer, usd_of(bill))
    return f"{_machines(of['card'], offer, known)}{where}, {date} of {offer['as_of']}"


def _machines(card: str, offer: Mapping[str, Any], known: str = "") -> str:
    return f"{counted(card, offer['cards'], offer['machines'])}{known} {_by(offer['provider'])}"


def _by(provider: str) -> str:
    return OWNED if provider == OWNED else f"at {provider}"


def _sentence(
    answers: Sequence[Mapping[str, Any]],
    found: choice.Choice,
    falls: Sequence[Mapping[str, Any]],
    asked_after: Sequence[str],
    way: str,
) -> str:
    first, taken = answers[found.first], answers[found.taken]
    if asked_after:
        return f"{text('is it right', card=_listed(asked_after))}: {_named(first)}."
    # Of what no table has nobody says that it will do.
    will_do = "comes first, as far as is known" if _is_unsure(taken) else "will do"
    known = "" if _is_unsure(taken) else f" Of those that tables know: {_named(taken)}."
    if not found.rivals and _is_short(first) and len(answers) > 1:
        return f"{text('short', card=_alone(first))}: {_named(taken)}."
    if not found.rivals and first["basis"] == BASES[-1] and len(answers) > 1:
        if falls:
            return f"{text('measure first')}: {_named(first)}.{known}"
        return f"{text('not worth a minute', card=first['card'])}: {_named(taken)}, {will_do}."
    if not found.rivals:
        which = "The one card" if len(answers) == 1 else f"Cheapest of the {len(answers)} cards"
        return f"{which} with an answer and an offer{way}: {_named(first)}."
    all_near = _listed([_alone(answers[place]) for place in (found.first, *found.rivals)])
    if not falls:
        return (
            f"Too close to call{way} between {all_near}, and no minute is worth its time: {_named(taken)}, {will_do}."
        )
    saved = [rounded(one["expected_fall_usd"], 2) for one in falls]
    saved[0] = f"expected to save {saved[0]} USD beyond what it costs"
    named = [f"{one['card']} ({words})" for one, words in zip(falls, saved, strict=True)]
    on = ("on", "on one of these two:", "on one of these three:")[len(falls) - 1]
    return (
        f"Too close to call{way} between {all_near}: measure a minute {on} {_listed(named, 'or')}. "
        f"Without that, {_place(taken, taken['deciding'])}, comes to {_cost(taken['deciding'])}."
    )


def _is_short(of: Mapping[str, Any]) -> bool:
    return bool(of["fits"] == "not as measured")


def _is_unsure(of: Mapping[str, Any]) -> bool:
    """Return whether a data sheet alone speaks for a card, or the measured memory does not fit on it."""
    return _is_short(of) or of["basis"] == BASES[-1]


def _alone(of: Mapping[str, Any]) -> str:
    """Return a card's name, with what a person measured or said of its memory."""
    return f"{of['card']}{_own_memory(of)}"


def _own_memory(of: Mapping[str, Any]) -> str:
    return f" ({of_memory(of['fits'])})" if of["fits"] in ("not as measured", "as you say") else ""


def _named(of: Mapping[str, Any]) -> str:
    return f"{_place(of, of['deciding'])}, {_cost(of['deciding'])}"


def _listed(names: Sequence[str], last: str = "and") -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} {last} {names[-1]}"
