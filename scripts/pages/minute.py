"""What a reader asks of any page, a line each: what is cheapest, how surely, at which price another wins, N samples.

What a training of one's own should run on follows them (`yours`).
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from scripts.analysis import clocks
from scripts.analysis.audit import UNLIKE
from scripts.analysis.names import provider_name, workload_name
from scripts.analysis.trainings import CHEAPEST, SAME
from scripts.analysis.verdicts import EQUAL, FALSE_PAGES
from scripts.costs.billing import billed_seconds, cost_usd
from scripts.pages import header
from scripts.pages.days import when
from scripts.pages.inputs import Inputs
from scripts.storage.numbers import TIE, duration, number
from scripts.studies import definition

_HEADS = {"which": "Cheapest", "sure": "How sure", "price": "Price at which another wins", "samples": "For N {noun}"}

#: Of more workloads the machines are counted.
_MOST = 4

#: Of unlike things so many words are said, the others counted.
_MOST_WORDS = 40


def rows(
    panels: Sequence[Mapping[str, Any]], given: Mapping[str, str], price: str, inputs: Inputs, mixed: str = ""
) -> list[tuple[str, str]]:
    """Return the questions and their answers, those that an article has `given`, or of a ranking of each workload.

    What stands behind an empty line of an answer is for who wants to know more, and folded.

    `panels` are those of `first.context`, `price` says at which price the answer to the page's question changes,
    `mixed` in how many rankings a gap may be one of software.
    """
    nouns = {definition.unit(inputs.study, str(name)) for name in inputs.runs["workload"]}
    noun = nouns.pop() if len(nouns) == 1 else "samples"
    if inputs.has_no_samples:
        noun = "trainings"
    if not given and panels:
        given = {
            "which": _which(panels, inputs),
            "sure": _sure(panels, inputs),
            "price": _own(panels, price, inputs),
            "samples": _samples(panels, inputs, noun),
        }
        price = ""
    said = {"price": price.strip(), **given}
    if price:
        said["price"] = "\n".join(filter(None, [price.strip(), given.get("price")]))
    if said.get("sure"):
        answer, *more = said["sure"].split("\n\n")
        said["sure"] = "\n\n".join([f"{answer} {mixed}".strip() + _unlike(inputs), *more])
    return [(head.format(noun=noun), said[key]) for key, head in _HEADS.items() if said.get(key)]


def _unlike(inputs: Inputs) -> str:
    """Return in what the compared differ beside what is asked, as the audit has it; empty where it has nothing."""
    said = list(dict.fromkeys(str(one["message"]) for one in inputs.findings if one["kind"] == UNLIKE))
    if not said:
        return ""
    words = np.cumsum([len(text.split()) for text in said])
    kept = max(1, int((words <= _MOST_WORDS).sum()))
    more = f" And {len(said) - kept} more: [the audit](#audit)." if len(said) > kept else ""
    return f"\nUnlike things are compared: {'; '.join(said[:kept])}.{more}"


def _which(panels: Sequence[Mapping[str, Any]], inputs: Inputs) -> str:
    """Return what has the lowest cost of each workload, clearly by the rule of verdicts or not, or how often."""
    if len(panels) > _MOST:
        counted = Counter(panel["best"][CHEAPEST]["hardware_name"] for panel in panels)
        each = "; ".join(f"{name} in {count}" for name, count in counted.most_common())
        at = inputs.option_labels[inputs.price]
        return _with_more(
            f"{_today(panels, inputs)}{at[:1].upper()}{at[1:]}{_days(inputs, at)}: lowest cost measured, of "
            f"{len(panels)} workloads: {each}{_range(panels)}. {_first(panels[0], inputs)} Each has its own line "
            f"[at a glance](#glance).{_types(panels, inputs)}",
            _lower(panels, inputs),
        )
    said = []
    for panel in panels:
        best = panel["best"][CHEAPEST]
        cost = f"{number(best['usd'] * panel['times'])} {panel['unit']}{_billed(panel, inputs)}"
        measured = best["said"] if best["why"] == EQUAL else f"lowest measured; {best['why']}"
        about = panel["clear"].strip(" .") or ("clearly the lowest" if not best["near"] else measured)
        only = f" (run on {panel['only']} only)" if panel["only"] else ""
        said.append(
            f"{workload_name(panel['workload'])}{only}: {best['machine']}, {cost}: {about[:1].lower()}{about[1:]}."
        )
    return _with_more(
        _today(panels, inputs) + "\n".join(said) + _types(panels, inputs), _tuned(panels) + _lower(panels, inputs)
    )


def _with_more(answer: str, more: str) -> str:
    """Return an answer with what is folded behind it, if anything is."""
    return f"{answer}\n\n{more.strip()}" if more.strip() else answer


def _first(panel: Mapping[str, Any], inputs: Inputs) -> str:
    """Return the lowest cost of the first workload."""
    best = panel["best"][CHEAPEST]
    cost = f"{number(best['usd'] * panel['times'])} {panel['unit']}{_billed(panel, inputs)}"
    return f"{workload_name(panel['workload'])}: {best['machine']}, {cost}."


def _today(panels: Sequence[Mapping[str, Any]], inputs: Inputs) -> str:
    """Return what has the lowest cost at prices of now, where those of the page are older; empty where they are of now
    themselves, or none are: how often each machine, and of the first workload its dollars.
    """
    ways = [way for panel in panels if (way := _way_of_now(panel, inputs))]
    if len(ways) < len(panels):
        return ""
    first, lead = ways[0], panels[0]
    each = Counter(inputs.labels[way["cell"]["hardware"]] for way in ways).most_common()
    counted = "; ".join(f"{name} in {count}" for name, count in each)
    of = f" of {len(panels)} workloads the lowest is {counted};" if len(each) > 1 else ""
    usd = f"{number(first['usd'] * lead['times'])} {lead['unit']}{_least(first)}"
    return f"At {first['option']}:{of} {workload_name(lead['workload'])} on {first['machine']} {usd}.\n"


def _least(way: Mapping[str, Any]) -> str:
    """Return how trainings are billed that are bought so."""
    if way["seconds"] < way["minimum_seconds"]:
        return f", one by one, as {duration(way['minimum_seconds'])} are billed at least"
    return ", one by one or in a row" if way["minimum_seconds"] else ""


def _way_of_now(panel: Mapping[str, Any], inputs: Inputs) -> Mapping[str, Any] | None:
    """Return the first way to buy a workload at prices of now, None where the page's own are."""
    shown = inputs.prices[inputs.prices["price_option"] == inputs.price]["price_as_of"].dropna()
    if any(when(str(day), inputs.newest) == "now" for day in shown):
        return None
    return next((way for way in panel["ways"] if when(way["price_as_of"], inputs.newest) == "now"), None)


def _range(panels: Sequence[Mapping[str, Any]]) -> str:
    """Return from and to what the lowest costs of workloads are; empty where they are not of the same."""
    usd = [panel["best"][CHEAPEST]["usd"] * panel["times"] for panel in panels]
    units = {panel["unit"] for panel in panels}
    return f", from {number(min(usd))} to {number(max(usd))} {units.pop()}" if len(units) == 1 else ""


def _tuned(panels: Sequence[Mapping[str, Any]]) -> str:
    """Return what tuned is, where the lowest of a workload is; empty elsewhere."""
    if not any("tuned" in panel["best"][CHEAPEST]["machine"] for panel in panels):
        return ""
    return (
        "\nTuned is this project's own training loop with the same mathematics; the others are ordinary Keras programs."
    )


def _billed(panel: Mapping[str, Any], inputs: Inputs) -> str:
    """Return how the trainings of the lowest cost are billed, and what they come to in the other way: one by one, or in
    a row on one machine. Empty where both are as much, or nothing is known of it.
    """
    best = panel["best"][CHEAPEST]
    shown = inputs.prices[inputs.prices["price_option"] == inputs.price].set_index("hardware").loc[best["hardware"]]
    if panel["is_rate"] or not shown["increment_seconds"] > 0:
        return ""
    alone = float(billed_seconds(best["seconds"], shown["increment_seconds"], shown["minimum_seconds"]))
    seconds = best["seconds"] if not shown["in_a_row"] else alone
    other = cost_usd(seconds, float(shown["usd_per_hour"]))
    if not best["usd"] or abs(other / best["usd"] - 1) < TIE:
        return ""
    usd = number(other * panel["times"])
    minimum = duration(float(shown["minimum_seconds"]))
    least = f", as {minimum} are billed at least" if best["seconds"] < shown["minimum_seconds"] else ""
    if shown["in_a_row"]:
        return f", in a row on one machine (one by one {usd}{least})"
    return f", one by one{least} (in a row on one machine {usd})"


def _lower(panels: Sequence[Mapping[str, Any]], inputs: Inputs) -> str:
    """Return in how many workloads another way to buy asks less than the price of the page, and how much less; and
    whether interruptions are counted where any of these prices is one of spot.
    """
    found: dict[str, list[float]] = {}
    for panel in panels:
        usd = panel["best"][CHEAPEST]["usd"]
        for way in panel["ways"]:
            if 0 < way["usd"] < usd * (1 - TIE):
                found.setdefault(way["option"], []).append(usd / way["usd"])
    less = {option: number(100 * (1 - 1 / max(times)), 2) for option, times in found.items()}
    each = [
        f"{option}{_days(inputs, option)} in {len(times)} of {len(panels)}, up to {less[option]} % less"
        for option, times in found.items()
    ]
    lower = f"\nLower at other prices, below: {'; '.join(each)}." if each else ""
    options = [inputs.price, *(name for name, label in inputs.option_labels.items() if label in found)]
    spot = inputs.prices[inputs.prices["price_option"].isin(options) & inputs.prices["purchase"].eq("spot")]
    if spot.empty:
        return lower
    rate = float(spot["preemptions_per_hour"].max())
    counted = (
        f"{number(rate, 2)} interruptions an hour of spot machines are"
        if rate
        else "No interruption of spot machines is"
    )
    return f"{lower} {counted} counted."


def _days(inputs: Inputs, label: str) -> str:
    """Return of which days the prices of an option are, in brackets; empty where its label names the year."""
    options = [name for name, called in inputs.option_labels.items() if called == label]
    days = set(inputs.prices.loc[inputs.prices["price_option"].isin(options), "price_as_of"].dropna()) - {""}
    return f" ({' and '.join(sorted(days))})" if days and not any(day[:4] in label for day in days) else ""


def _types(panels: Sequence[Mapping[str, Any]], inputs: Inputs) -> str:
    """Return as which type of whose machines the lowest of each workload is priced; empty where none is named."""
    instead = inputs.study["prices"][inputs.price].get("instead", {})
    named = []
    for name in dict.fromkeys(panel["best"][CHEAPEST]["hardware"] for panel in panels):
        if rent := instead.get(name, inputs.machines[name].get("rent")):
            items = " + ".join(f"{count} {item}" if count > 1 else item for item, count in rent["items"].items())
            region = f", {rent['region']}" if "region" in rent else ""
            named.append(f"{inputs.labels[name]} as {items} ({provider_name(rent['provider'])}{region})")
    ran = "; ".join(dict.fromkeys(machine["what"] for machine in header.machines(inputs.runs)))
    measured = f"; measured on {ran}" if ran else ""
    return f"\nPriced: {', '.join(named)}{measured}." if named else ""


def _sure(panels: Sequence[Mapping[str, Any]], inputs: Inputs) -> str:
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
    often = f"{1 / FALSE_PAGES:.0f}"
    errs = f"At most 1 such page in {often} calls a difference clear that is chance"
    length = clocks.extrapolated(inputs.runs).partition(";")[0] if inputs.trained else clocks.AS_MEASURED
    whole = "" if length == clocks.AS_MEASURED else f" All times and costs are of a whole training, {length}."
    return _with_more(f"{', '.join(said)}.{more}{whole}", f"{errs}.")


def _own(panels: Sequence[Mapping[str, Any]], price: str, inputs: Inputs) -> str:
    """Return at which price the first workload has another winner, the `price` of the answer, and where others are."""
    if any(panel["flip"] for panel in panels):
        lead = next((panel["lead"] for panel in panels if panel["lead"]), "")
        now = _way_of_now(panels[0], inputs)
        today = f"At {now['option']}: {now['lead']}" if now and now["lead"] else ""
        each = "Each workload has its own price [below](#first)." if len(panels) > 1 else ""
        more = "\n".join(filter(None, [each, price.strip()]))
        return _with_more("\n".join(filter(None, [today, lead])), more) if lead else more
    return price.strip() or "No price changes it: each workload has one machine alone, or one that is free."


def _minimum(inputs: Inputs, option: str) -> float:
    """Return the least that is billed of a training alone (s) at a price option."""
    shown = inputs.prices[inputs.prices["price_option"] == option]
    least = shown.loc[~shown["in_a_row"].astype(bool), "minimum_seconds"].dropna()
    return float(least.max()) if len(least) else 0.0


def _samples(panels: Sequence[Mapping[str, Any]], inputs: Inputs, noun: str) -> str:
    """Return how cost and order depend on the number of samples."""
    if all(panel["is_rate"] for panel in panels):
        lead, best = panels[0], panels[0]["best"][CHEAPEST]
        one = f"{workload_name(lead['workload'])} on {best['machine']}: {number(best['usd'])} {lead['unit']}"
        return f"{one}, in proportion to N, in the same order: no start and no minimum is counted."
    least = {option: seconds for option in inputs.study["prices"] if (seconds := _minimum(inputs, option))}
    reasons = ["start and compilation are paid once"] if inputs.trained else []
    reasons += [f"{duration(least[inputs.price])} are billed at least"] if inputs.price in least else []
    if noun == "trainings":
        others = [
            f"at {inputs.option_labels[option]}, each is billed at least {duration(least[option])}" for option in least
        ]
        same = "" if reasons else " cost in proportion to N, in the same order"
        said = "; ".join([f"No samples are recorded: N trainings{same}", *others]) + "."
    elif reasons:
        said = f"Fill in N in the form below. As {' and '.join(reasons)}, with another N another may be cheapest."
    else:
        said = "In proportion to N, in the same order: no start and no minimum is counted."
    return _with_more(_thousand(next(panel for panel in panels if not panel["is_rate"]), inputs), said)


def _thousand(panel: Mapping[str, Any], inputs: Inputs) -> str:
    """Return what a thousand trainings of a workload come to, and how they are billed."""
    best = panel["best"][CHEAPEST]
    billed = _billed({**panel, "times": 1000}, inputs)
    usd = f"{number(1000 * best['usd'])} USD{billed or ', one by one or in a row'}"
    of = f"1,000 trainings of {workload_name(panel['workload'])}{_each(panel, inputs)}"
    now = _way_of_now(panel, inputs)
    if now is None:
        return f"{of} on {best['machine']}: {usd}."
    of, on = (f"{of} on {best['machine']}", "") if now["machine"] == best["machine"] else (of, f", on {now['machine']}")
    today = f"{number(1000 * now['usd'])} USD at {now['option']}{on}{_least(now)}"
    return f"{of}: {today}.\n{number(1000 * best['usd'])} USD at {inputs.option_labels[inputs.price]}{billed}."


def _each(panel: Mapping[str, Any], inputs: Inputs) -> str:
    """Return how many samples a training of a workload has, in brackets; empty where that is not known."""
    samples = inputs.runs.loc[inputs.runs["workload"] == panel["workload"], "published_samples"].dropna()
    if samples.empty:
        return ""
    return f" ({float(samples.median()):,.0f} {definition.unit(inputs.study, panel['workload'])} each)"
