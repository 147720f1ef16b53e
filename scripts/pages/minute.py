"""What a reader asks of any page, a line each: what is cheapest, how surely, at which price another wins, N samples.

What a training of one's own should run on follows them (`yours`).
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from scripts.analysis.names import workload_name
from scripts.analysis.trainings import CHEAPEST, SAME
from scripts.analysis.verdicts import FALSE_PAGES
from scripts.pages.inputs import Inputs
from scripts.storage.numbers import duration, number
from scripts.storage.words import few
from scripts.studies import definition

_HEADS = {"which": "Cheapest", "sure": "How sure", "price": "Price at which another wins", "samples": "For N {noun}"}

#: Of more workloads the machines are counted.
_MOST = 4


def rows(
    panels: Sequence[Mapping[str, Any]], given: Mapping[str, str], price: str, inputs: Inputs
) -> list[tuple[str, str]]:
    """Return the questions and their answers, those that an article has `given`, or of a ranking of each workload.

    `panels` are those of `first.context`, `price` says at which price the answer to the page's question changes.
    """
    nouns = {definition.unit(inputs.study, str(name)) for name in inputs.runs["workload"]}
    noun = nouns.pop() if len(nouns) == 1 else "samples"
    if not given and panels:
        given = {"which": _which(panels), "sure": _sure(panels), "price": _own(panels, price)}
        given = {**given, "samples": _samples(panels, inputs, noun)}
    if price:
        given = {"price": "", **given}
    said = {key: f"{price.strip()} {text}".strip() if key == "price" else text for key, text in given.items()}
    return [(head.format(noun=noun), said[key]) for key, head in _HEADS.items() if key in said]


def _which(panels: Sequence[Mapping[str, Any]]) -> str:
    """Return what has the lowest cost of each workload, or of many how often each machine has it."""
    if len(panels) > _MOST:
        counted = Counter(panel["best"][CHEAPEST]["hardware_name"] for panel in panels)
        each = [f"{name} in {count}" for name, count in counted.most_common()]
        return f"The lowest cost measured, of {len(panels)} workloads: {few(each)}. Each has its own line at a glance."
    said = []
    for panel in panels:
        best = panel["best"][CHEAPEST]
        cost = f"{number(best['usd'] * panel['times'])} {panel['unit']}"
        about = panel["clear"].strip(" .") or ("clearly" if not best["near"] else f"lowest measured; {best['why']}")
        said.append(f"{workload_name(panel['workload'])}: {best['machine']}, {cost}: {about[:1].lower()}{about[1:]}.")
    return "\n".join(said)


def _sure(panels: Sequence[Mapping[str, Any]]) -> str:
    """Return in how many workloads what is clear, why the others are not, and how often such a page errs."""
    of = f"of {len(panels)} workload{'s' if len(panels) != 1 else ''}"
    best = [panel["best"][CHEAPEST] for panel in panels]
    clear = sum(not one["near"] for one in best)
    axes = Counter(
        f"{axis} alone" for panel in panels for axis, (_, tied, all_) in panel["axes"].items() if tied == 1 < all_
    )
    said = [f"Configuration clear in {clear} {of}", *(f"{what} in {count}" for what, count in axes.items())]
    left = [one for one, panel in zip(best, panels, strict=True) if one["near"] and not panel["clear"]]
    reasons = Counter(one["why"] for one in left)
    said += [f"{why} in {count}" for why, count in reasons.items()]
    settled = list(dict.fromkeys(one["settled_by"] for one in best if one["near"] and one["settled_by"] != SAME))
    more = f" What would settle it: {'; '.join(settled)}." if settled else ""
    return (
        f"{', '.join(said)}. At most {100 * FALSE_PAGES:g} % of such pages call any two that are alike different.{more}"
    )


def _own(panels: Sequence[Mapping[str, Any]], price: str) -> str:
    """Return where the price of each workload stands, or that there is none; `price` may have said so."""
    if any(panel["flip"] for panel in panels):
        return "Each workload has its own price below."
    return "" if price else "No price changes it: each workload has one machine alone, or one that is free."


def _samples(panels: Sequence[Mapping[str, Any]], inputs: Inputs, noun: str) -> str:
    """Return how cost and order depend on the number of samples."""
    if all(panel["is_rate"] for panel in panels):
        amount = definition.per_samples(inputs.study)
        return f"In proportion to what {amount} cost, in the same order: no start and no minimum is counted."
    shown = inputs.prices[inputs.prices["price_option"] == inputs.price]
    least = shown.loc[~shown["in_a_row"].astype(bool), "minimum_seconds"].dropna()
    reasons = ["start and compilation are paid once"] if inputs.trained else []
    reasons += [f"{duration(float(least.max()))} are billed at least"] if len(least) and least.max() > 0 else []
    if not reasons:
        return "In proportion to N, in the same order: no start and no minimum is counted."
    return f"Fill in N in the form below. As {' and '.join(reasons)}, with another N another may be cheapest."
