"""At which price another machine wins, in a sentence: `trainings` has compared them by the rule of verdicts.

Each names two prices: the even one, at which the lowest medians cost as much, and that below which it wins clearly.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from scripts.analysis.names import workload_name
from scripts.analysis.trainings import Answer, Flip
from scripts.pages.days import when
from scripts.storage.numbers import number

#: Why the price in a page's answer is another than that of one of its workloads in the form.
_BESIDE = " The answer at the top is of pairs that are alike in all else."


def beside(study: Mapping[str, Any]) -> str:
    """Return what stands behind the price of one workload on a page that answers a question on all of them."""
    return _BESIDE if "question" in study else ""


def by_card(study: Mapping[str, Any], cards: Mapping[str, tuple[str, int]]) -> dict[str, int]:
    """Return how many cards each machine has, where the price of a study is an offer of an hour of one; else none."""
    is_offer = "offer" in study["prices"].get(study["price"], {})
    return {name: count for name, (_, count) in cards.items()} if is_offer else {}


def of_workload(
    flip: Flip | None,
    workload: str,
    labels: Mapping[str, str],
    newest: str,
    more: str = "",
    of_cards: Mapping[str, int] = MappingProxyType({}),
) -> str:
    """Return at which price another machine wins a workload; empty where there is no other (`trainings.flip`).

    `newest` is the day beside which a price is old (`days.when`), `more` what `beside` says of the page's study. Prices
    are of an hour of one card where `of_cards` has the machine.
    """
    if flip is None:
        return ""
    cards = of_cards.get(flip.hardware, 0)
    clear = (
        f"clearly cheaper below {number(flip.below / (cards or 1))}"
        if flip.below
        else "no price is known at which it wins clearly"
    )
    even = f"even by {_by(flip.is_single)} at {_now(flip.even, flip.now, when(flip.as_of, newest), cards)}"
    return f"For {workload_name(workload)} alone, {labels[flip.hardware]} is {even}, and {clear}.{more}"


def of_answer(name: str, than: str, answer: Answer, newest: str) -> str:
    """Return up to or below which price the machine that a study asks about pays; empty where something is free."""
    if not answer.flips:
        return ""
    (flip,) = answer.flips
    pairs, some = (f"all {answer.pairs} pairs", " in half of them") if answer.pairs > 1 else ("the one pair", "")
    half = (
        f"Against {than}, over {pairs}: {name} costs no more{some} at "
        f"{_now(flip.even, flip.now, when(flip.as_of, newest))}, by {_by(flip.is_single)}"
    )
    if not flip.below:
        why = ", as there are too few runs" if answer.few else ""
        return f"{half}; no price is known at which it clearly pays{why}."
    until = "up to" if answer.word == "Yes" else "below"
    pays = f"clearly pays {until} {number(flip.below)}: cheaper in at least half of the pairs, dearer in none"
    return f"{half}, and {pays}."


def of_lead(cells: Sequence[Mapping[str, Any]], workload: str, labels: Mapping[str, str], newest: str) -> str:
    """Return at which price the next machine takes over from that of the lowest cost, and at which of the latter.

    `cells` are those of one workload, the cheapest first. Empty where there is no other machine, or one is free.
    """
    firsts = list({cell["cell"]["hardware"]: cell for cell in reversed(cells)}.values())
    firsts.sort(key=lambda cell: float(cell["usd"]))
    if len(firsts) < 2 or not firsts[0]["usd"] > 0:
        return ""
    one, other = firsts[:2]
    ratio = other["usd"] / one["usd"]
    is_single = all(len(cell["of"]["usd"]) == 1 for cell in (one, other))
    (up_to, now, since), (at, then, of) = (
        (cell["usd_per_hour"] * times, cell["usd_per_hour"], when(cell["price_as_of"], newest))
        for cell, times in ((one, ratio), (other, 1 / ratio))
    )
    same = " (both are billed the minimum)" if one["is_least"] and other["is_least"] else ""
    first, second = (labels[cell["cell"]["hardware"]] for cell in (one, other))
    return (
        f"{workload_name(workload)}, by {_by(is_single)}: {second} takes over at {_now(at, then, of)}{same}, or if "
        f"{first} rises to {number(up_to)} ({_priced(now, since)})."
    )


def _by(is_single: bool) -> str:
    return "one run of each" if is_single else "medians"


def _now(usd: float, now: float, since: str, cards: int = 0) -> str:
    """Return a price of an hour, of one card where a machine has so many, and what it is now, or was."""
    hour = "a card-hour" if cards else "an hour"
    return f"{number(usd / (cards or 1))} USD {hour} ({_priced(now / (cards or 1), since)})"


def _priced(usd: float, since: str) -> str:
    return f"{since}{'' if since == 'now' else ':'} {number(usd)}"
