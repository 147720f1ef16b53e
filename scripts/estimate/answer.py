"""The whole answer to a question, as programs read it: config/schemas/estimate.schema.json says what its keys mean."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import date
from math import ceil, inf
from typing import Any

import numpy as np

from scripts.estimate import choice, dollars
from scripts.estimate.dollars import Bill
from scripts.estimate.known import Known
from scripts.estimate.linear import Array
from scripts.estimate.points import Point
from scripts.estimate.question import MOST_CARDS, Question
from scripts.estimate.rates import Rate, digits_within, rates
from scripts.storage.numbers import number, rounded

_MINUTE = 60.0

#: Of its memory a card has so much for what is kept; activations, some of which stay even if they are computed again,
#: and buffers have the rest. Of 440 printed trainings all but one keep to it (tests/estimate/test_committed.py).
ROOM = 0.9

#: What is measured once may be a little more another time.
_MARGIN = 1.05

#: Of the question's fields those that answers repeat.
_ASKED = (
    "model", "kind", "active_billion", "total_billion", "layers", "width", "tokens", "length", "task", "precision",
    "software", "state_bytes", "state_gb", "sequence_gb",
)  # fmt: skip


@dataclass(frozen=True)
class Peak:
    """Memory that a measured training took at most: MiB of a card, of so many."""

    card: str
    cards: int
    memory_mib: float


def answer(
    known: Known,
    offered: Mapping[str, Sequence[Mapping[str, Any]]],
    question: Question,
    measured: Sequence[Point],
    cards: int | None,
    today: date,
    peak: Peak | None = None,
    sequences: float | None = None,
    without: Collection[str] = (),
) -> dict[str, Any]:
    """Return what is to be said of a question. `offered` are rows of offers by card, `cards` how many are rented.

    Machines whose cards together do not hold what the training keeps are left out, and those of more cards than a step
    has `sequences`, and providers that are `without`.
    """
    found = rates(known, question, measured, today)
    refused = dict(found.refused)
    answers: list[dict[str, Any]] = []
    priced, costs, minutes = [], [], []
    for place, rate in enumerate(found.answers):
        least = _least(known, question, rate.card, peak)
        most = inf if sequences is None else sequences
        if least > min(most, MOST_CARDS) if cards is None else least > cards:
            refused[rate.card] = _too_small(known, question, rate.card, least)
            continue
        of = dollars.of_rows(offered.get(rate.card, ()), today, cards, least, most, without)
        bills = {
            way: dollars.bill([one for one in of if one.way == way], question.tokens, rate.low, rate.middle, rate.high)
            for way in ("on-demand", "spot", "market")
        }
        bill = bills["on-demand"]
        first = bill or bills["market"]
        count = cards or (first.cheapest.all_cards if first else least)
        fits = {"fits": _fits(known, rate.card, count, peak), "memory_gb": count * _memory_gb(known, rate.card)}
        if bill is not None:
            priced.append((place, len(answers)))
            costs.append(bill.usd)
            minutes.append(bill.cheapest.usd_of(_MINUTE))
        answers.append(_answer(rate, bills, question.tokens, count) | fits)
    told: dict[str, Any] = {
        "asked": {key: getattr(question, key) for key in _ASKED}
        | {"cards": cards, "sequences": sequences, "without": sorted(without)}
        | {"measured": [_measured(point) for point in measured]},
        "assumed": [*question.assumed, *_assumed(cards, sequences)],
        "answers": answers,
        "refused": [{"card": card, "reason": reason} for card, reason in refused.items()],
    }
    places = [place for place, _ in priced]
    covariance = found.covariance[np.ix_(places, places)]
    market = min((one["market"] | {"card": one["card"]} for one in answers if one["market"]), key=_usd, default=None)
    return told | {
        "choice": _choice([answers[at] for _, at in priced], np.array(costs), covariance, np.array(minutes), market)
    }


def _usd(bill: Mapping[str, Any]) -> float:
    return float(bill["usd"]["cheapest"])


def _assumed(cards: int | None, sequences: float | None) -> list[str]:
    lines = (
        [] if sequences is not None else [f"sequences of a step: one a card at least{f', {cards}' if cards else ''}"]
    )
    return [*lines, "a steady run: no start, failure, restart, evaluation or checkpoint is counted"]


def _memory_gb(known: Known, card: str) -> float:
    return float(known.cards[card]["memory_gb"])


def _least(known: Known, question: Question, card: str, peak: Peak | None) -> int:
    """Return how many cards hold what a training keeps, or held what was measured, whichever is less."""
    least = max(1, ceil(question.kept_gb / (ROOM * _memory_gb(known, card))))
    return min(least, peak.cards) if peak and _fits(known, card, peak.cards, peak) == "yes" else least


def _too_small(known: Known, question: Question, card: str, least: int) -> str:
    return (
        f"{question.state_gb:,.4g} GB of state ({question.state_bytes:g} bytes a parameter), "
        f"{question.sequence_gb:,.3g} of a sequence's layers and a tenth for the rest need {least} cards of "
        f"{_memory_gb(known, card):g} GB"
    )


def _measured(point: Point) -> dict[str, Any]:
    return {"card": point.card, "precision": point.precision, "tokens_per_second_per_card": point.rate}


def _answer(rate: Rate, bills: Mapping[str, Bill | None], tokens: float, count: int) -> dict[str, Any]:
    seconds = [tokens / (one * count) for one in (rate.middle, rate.high, rate.low)]
    return {
        "card": rate.card,
        "tokens_per_second_per_card": {"low": rate.low, "middle": rate.middle, "high": rate.high},
        "basis": rate.basis,
        "rows_until": rate.rows_until or None,
        "rows_are_old": rate.is_old,
        "cards": count,
        "hours": {"low": seconds[1] / 3600, "middle": seconds[0] / 3600, "high": seconds[2] / 3600},
        **{way.replace("-", "_"): _bill(bill) for way, bill in bills.items()},
    }


def _fits(known: Known, card: str, count: int, peak: Peak | None) -> str:
    """Return whether what was measured fits in the memory of so many cards; of fewer nobody knows."""
    if peak is None or count < peak.cards:
        return "unknown"
    room = _memory_gb(known, card) * 1e9 / 2**20
    return "yes" if card == peak.card or peak.memory_mib * _MARGIN <= room else "not as measured"


def _bill(bill: Bill | None) -> dict[str, Any] | None:
    if bill is None:
        return None
    usd = {"low": bill.usd_low, "cheapest": bill.usd, "high": bill.usd_high}
    return {
        "usd": usd | {"median": bill.median_usd, "dearest": bill.dearest_usd},
        "hours": bill.seconds / 3600,
        "second": bill.second and {"provider": bill.second.provider, "usd": bill.second_usd},
        "offers": bill.offers,
        "cheapest": asdict(bill.cheapest),
    }


def _choice(
    answers: Sequence[Mapping[str, Any]],
    usd: Array,
    covariance: Array,
    minutes: Array,
    market: Mapping[str, Any] | None,
) -> dict[str, Any] | None:
    """Return which card costs least, or what to measure; None where no card has a price."""
    if not answers:
        return None
    found = choice.choose(usd, covariance, minutes)
    names = [one["card"] for one in answers]
    falls = [{"card": names[place], "expected_fall_usd": fall} for place, fall in found.falls.items()][: choice.MOST]
    decided = not found.rivals
    flips = _flips(answers, found, usd, covariance)
    said = [_sentence(answers[found.first], len(names), [names[place] for place in found.rivals], falls)]
    if flips:
        said.append(
            f"{flips['card']} at {flips['provider']} is expected to cost less if those machines rise from "
            f"{number(flips['from_usd_per_hour'])} to {rounded(flips['usd_per_hour'])} USD an hour."
        )
    if market and _usd(market) < usd[found.first]:
        said.append(
            f"At a market place, whose hosts are strangers: from {rounded(_usd(market), 2)} USD "
            f"({_place(market['card'], market['cheapest'])})."
        )
    return {
        "decided": decided,
        "card": names[found.first],
        "rivals": [names[place] for place in found.rivals],
        "chances": dict(zip(names, map(float, found.chances), strict=True)),
        "measure": [] if decided else falls,
        "flips": flips,
        "sentence": " ".join(said),
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
        (float(usd[place] * more[place]), one["card"], one["on_demand"]["cheapest"]["provider"])
        for place, one in enumerate(answers)
        if place != found.first
    ]
    if second := first["on_demand"]["second"]:
        follow.append((second["usd"] * float(more[found.first]), first["card"], second["provider"]))
    if not follow:
        return None
    least, card, provider = min(follow)
    offer = first["on_demand"]["cheapest"]
    now = offer["usd_per_hour"] * offer["machines"]
    share = least / float(usd[found.first] * more[found.first])
    return {"card": card, "provider": provider, "from_usd_per_hour": now, "usd_per_hour": now * share}


def _place(card: str, offer: Mapping[str, Any]) -> str:
    return f"{offer['cards'] * offer['machines']} x {card} at {offer['provider']}, price of {offer['as_of']}"


def _sentence(first: Mapping[str, Any], count: int, rivals: Sequence[str], falls: Sequence[Mapping[str, Any]]) -> str:
    bill = first["on_demand"]
    offer, usd = bill["cheapest"], bill["usd"]
    machine = _place(first["card"], offer)
    digits = digits_within(usd["low"], usd["high"])
    hours, low, high = (rounded(of, digits) for of in (first["hours"]["middle"], usd["low"], usd["high"]))
    cost = f"{rounded(usd['cheapest'], digits)} USD ({low} to {high} by the 80 % of its speed) in {hours} h"
    if not rivals:
        which = "The one card" if count == 1 else f"Cheapest of the {count} cards"
        return f"{which} with an answer and an offer: {machine}, {cost}."
    between = _listed([first["card"], *rivals])
    if not falls:
        return f"Too close to call between {between}, and no minute is worth what it costs: {machine}, {cost}, will do."
    saved = [rounded(one["expected_fall_usd"], 2) for one in falls]
    saved[0] = f"expected to save {saved[0]} USD beyond what it costs"
    named = [f"{one['card']} ({words})" for one, words in zip(falls, saved, strict=True)]
    on = ("on", "on one of these two:", "on one of these three:")[len(falls) - 1]
    return (
        f"Too close to call between {between}: measure a minute {on} {_listed(named, 'or')}; "
        f"unmeasured, {machine} comes to {cost}."
    )


def _listed(names: Sequence[str], last: str = "and") -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} {last} {names[-1]}"
