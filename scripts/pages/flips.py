"""At which price another machine wins, in a sentence: `trainings` has compared them by the rule of verdicts."""

from collections.abc import Mapping, Sequence
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
    name, now = labels[flip.hardware], number(flip.now)
    of = f"For {workload_name(workload)} alone, among all machines:"
    if flip.below:
        return f"{of} {name} wins if an hour of it costs less than {number(flip.below)} USD (now {now}).{more}"
    by = "one run of each" if flip.is_single else "its lowest median"
    even = f"by {by} {name} costs less below {number(flip.even)} USD an hour (now {now})"
    return f"{of} no price is known at which another wins clearly; {even}.{more}"


def of_answer(name: str, answer: Answer) -> str:
    """Return up to or below which price the machine that a study asks about pays; empty where something is free."""
    if not answer.flips:
        return ""
    (flip,) = answer.flips
    now = f"USD an hour of {name} (now {number(flip.now)})"
    if flip.below:
        until = "up to" if answer.word == "Yes" else "below"
        return f" It pays, cheaper in half of the pairs or more and dearer in none, {until} {number(flip.below)} {now}."
    by = "one run of each" if flip.is_single else "the medians"
    even = f"by {by} it is cheaper in half of the pairs below {number(flip.even)} {now}"
    return f" No price is known at which it clearly pays; {even}."


def of_cards(answers: Sequence[Answer]) -> str:
    """Return below which price of its hour each newer card pays over the older one; empty where none is known.

    `answers` are those at each price: the first says where, all say what the hour costs now, in their order.
    """
    now = [{(flip.hardware, flip.than): number(flip.now) for flip in answer.flips} for answer in answers]
    said = [
        f"{flip.hardware} over {flip.than} {number(flip.below)} "
        f"({', '.join(each.get((flip.hardware, flip.than), '—') for each in now)})"
        for flip in answers[0].flips
        if flip.below
    ]
    if not said:
        return ""
    now_at = "now" if len(answers) == 1 else "now, at these prices in turn"
    return f" It pays below so many times the older card's hour ({now_at}): {'; '.join(said)}."
