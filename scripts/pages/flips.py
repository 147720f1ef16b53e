"""At which price another machine wins, in a sentence: `trainings` has compared them by the rule of verdicts.

Each names two prices: the even one, at which the lowest medians cost as much, and that below which it wins clearly.
"""

from collections.abc import Mapping
from typing import Any

from scripts.analysis.names import workload_name
from scripts.analysis.trainings import Answer, Flip
from scripts.storage.numbers import number

#: Why the price in a page's answer is another than that of one of its workloads.
_BESIDE = " The answer at the top is over all workloads, in pairs that are alike in all else."


def beside(study: Mapping[str, Any]) -> str:
    """Return what stands behind the price of one workload on a page that answers a question on all of them."""
    return _BESIDE if "question" in study else ""


def of_workload(flip: Flip | None, workload: str, labels: Mapping[str, str], more: str = "") -> str:
    """Return at which price another machine wins a workload; empty where there is no other (`trainings.flip`).

    `more` is what `beside` says of the page's study.
    """
    if flip is None:
        return ""
    clear = (
        f"clearly cheaper below {number(flip.below)}" if flip.below else "no price is known at which it wins clearly"
    )
    return f"For {workload_name(workload)} alone, {labels[flip.hardware]} is {_even(flip)}, and {clear}.{more}"


def of_answer(name: str, answer: Answer) -> str:
    """Return up to or below which price the machine that a study asks about pays; empty where something is free."""
    if not answer.flips:
        return ""
    (flip,) = answer.flips
    if not flip.below:
        why = ", as there are too few runs" if answer.few else ""
        return f" {name} is {_even(flip, 'of half of the pairs')}; no price is known at which it clearly pays{why}."
    until = "up to" if answer.word == "Yes" else "below"
    pays = f"clearly pays {until} {number(flip.below)}: cheaper in half of the pairs or more, dearer in none"
    return f" {name} is {_even(flip, 'of half of the pairs')}, and {pays}."


def _even(flip: Flip, of: str = "") -> str:
    """Return at which price of its hour a machine costs as much by medians, or by what they are of."""
    by = " by one run of each" if flip.is_single else f" by medians {of}".rstrip() if of else " by medians"
    return f"even{by} at {number(flip.even)} USD an hour (now {number(flip.now)})"


def of_cards(at: Mapping[str, Answer]) -> str:
    """Return at which price of its hour each newer card is even with the older one, and below which it pays clearly.

    `at` are the answers by what their price is called: the first says where, all say what the hour costs now, in their
    order. Empty where no clear price is known.
    """
    answers = list(at.values())
    now = [{(flip.hardware, flip.than): number(flip.now) for flip in answer.flips} for answer in answers]
    said = [
        f"{flip.hardware} over {flip.than} even at {number(flip.even)}, clearly cheaper below {number(flip.below)} "
        f"(now {', '.join(each.get((flip.hardware, flip.than), '—') for each in now)})"
        for flip in answers[0].flips
        if flip.below
    ]
    if not said:
        return ""
    each_at = f" (now: at {', '.join(at)})" if len(at) > 1 else ""
    return f" In times the older card's hour{each_at}: {'; '.join(said)}."
