"""The whole answer to a question, as programs read it: config/schemas/estimate.schema.json says what its keys mean."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import date
from math import inf
from typing import Any

import numpy as np

from scripts.estimate import choice, dollars
from scripts.estimate.dollars import Bill
from scripts.estimate.known import Known
from scripts.estimate.linear import Array
from scripts.estimate.points import Point
from scripts.estimate.question import Question
from scripts.estimate.rates import Rate, rates
from scripts.storage.numbers import number, rounded

_MINUTE = 60.0

#: What is measured once may be a little more another time.
_MARGIN = 1.05

#: Of the question's fields those that answers repeat.
_ASKED = (
    "model", "kind", "active_billion", "total_billion", "layers", "width", "tokens", "length", "task", "precision",
    "software",
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
) -> dict[str, Any]:
    """Return what is to be said of a question. `offered` are rows of offers by card, `cards` how many are rented.

    Machines of more cards than a step has `sequences` are left out.
    """
    found = rates(known, question, measured, today)
    answers, priced, costs, minutes = [], [], [], []
    for place, rate in enumerate(found.answers):
        of = dollars.of_rows(offered.get(rate.card, ()), today, cards, inf if sequences is None else sequences)
        bill, spot = (
            dollars.bill(
                [one for one in of if one.purchase == purchase], question.tokens, rate.low, rate.middle, rate.high
            )
            for purchase in ("on-demand", "spot")
        )
        count = cards or (bill.cheapest.all_cards if bill else 1)
        fits = _fits(known, rate.card, count, peak)
        answers.append(_answer(rate, bill, spot, question.tokens, count) | {"fits": fits})
        if bill is not None:
            priced.append(place)
            costs.append(bill.usd)
            minutes.append(bill.cheapest.usd_of(_MINUTE))
    told: dict[str, Any] = {
        "asked": {key: getattr(question, key) for key in _ASKED}
        | {"cards": cards, "sequences": sequences, "measured": [_measured(point) for point in measured]},
        "assumed": list(question.assumed),
        "answers": answers,
        "refused": [{"card": card, "reason": reason} for card, reason in found.refused.items()],
    }
    covariance = found.covariance[np.ix_(priced, priced)]
    return told | {
        "choice": _choice([answers[place] for place in priced], np.array(costs), covariance, np.array(minutes))
    }


def _measured(point: Point) -> dict[str, Any]:
    return {"card": point.card, "precision": point.precision, "tokens_per_second_per_card": point.rate}


def _answer(rate: Rate, bill: Bill | None, spot: Bill | None, tokens: float, count: int) -> dict[str, Any]:
    seconds = [tokens / (one * count) for one in (rate.middle, rate.high, rate.low)]
    return {
        "card": rate.card,
        "tokens_per_second_per_card": {"low": rate.low, "middle": rate.middle, "high": rate.high},
        "basis": rate.basis,
        "rows_until": rate.rows_until or None,
        "rows_are_old": rate.is_old,
        "cards": count,
        "hours": {"low": seconds[1] / 3600, "middle": seconds[0] / 3600, "high": seconds[2] / 3600},
        "on_demand": _bill(bill),
        "spot": _bill(spot),
    }


def _fits(known: Known, card: str, count: int, peak: Peak | None) -> str:
    """Return whether what was measured fits in the memory of so many cards; of fewer nobody knows."""
    if peak is None or count < peak.cards:
        return "unknown"
    room = known.cards[card]["memory_gb"] * 1e9 / 2**20
    return "yes" if card == peak.card or peak.memory_mib * _MARGIN <= room else "not as measured"


def _bill(bill: Bill | None) -> dict[str, Any] | None:
    if bill is None:
        return None
    usd = {"low": bill.usd_low, "cheapest": bill.usd, "high": bill.usd_high}
    return {
        "usd": usd | {"median": bill.median_usd, "dearest": bill.dearest_usd},
        "offers": bill.offers,
        "cheapest": asdict(bill.cheapest),
    }


def _choice(
    answers: Sequence[Mapping[str, Any]], usd: Array, covariance: Array, minutes: Array
) -> dict[str, Any] | None:
    """Return which card costs least, or what to measure; None where no card has a price."""
    if not answers:
        return None
    found = choice.choose(usd, covariance, minutes)
    names = [one["card"] for one in answers]
    falls = [{"card": names[place], "expected_fall_usd": fall} for place, fall in found.falls.items()][: choice.MOST]
    decided = not found.rivals
    return {
        "decided": decided,
        "card": names[found.first],
        "rivals": [names[place] for place in found.rivals],
        "chances": dict(zip(names, map(float, found.chances), strict=True)),
        "measure": [] if decided else falls,
        "sentence": _sentence(answers[found.first], len(names), [names[place] for place in found.rivals], falls),
    }


def _sentence(first: Mapping[str, Any], count: int, rivals: Sequence[str], falls: Sequence[Mapping[str, Any]]) -> str:
    bill = first["on_demand"]
    offer, usd = bill["cheapest"], bill["usd"]
    machine = f"{first['cards']} x {first['card']} at {offer['provider']}"
    cost = f"{number(usd['cheapest'])} USD ({number(usd['low'])} to {number(usd['high'])} at 80 %)"
    if not rivals:
        which = "The one card" if count == 1 else f"Cheapest of the {count} cards"
        hours = number(first["hours"]["middle"])
        return f"{which} with an answer and an offer: {machine}, {cost}, in {hours} h."
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
