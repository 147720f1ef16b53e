"""Why a card is not answered, and what is to be known of so many cards: one text for a terminal and the page.

The page fills in what stands in braces as Python does (reports/scripts/quote.js).
"""

from collections.abc import Mapping
from statistics import median
from typing import Any

from scripts.storage.numbers import rounded

TEXTS = {
    "precision": "it has no {precision}: its data sheet has {has}",
    "nvfp4": "NVFP4 of a mixture of experts follows from no other precision: measure it",
    "no experts": "no table has a mixture of experts on it: measure it",
    "software on TPU": "on a TPU no table has {software}",
    "software on GPU": "no table has {software} on a GPU: the interval allows for that",
    "adapters on TPU": "on a TPU no table has LoRA: measure it",
    "too wide": "its 80 % interval is a factor of {factor} either way, more than {widest}{why}: measure it{or_name}",
    "wide": "wide, measure it",
    "beside": (
        "your rate on {card} is {rate} tokens a second and card in {precision}: a factor of {factor} {side} the {said} "
        "that would be said without it ({basis})"
    ),
    "as said": (
        "your rate on {card} is {rate} tokens a second and card in {precision}, about the {said} that would be said "
        "without it ({basis})"
    ),
    "far": (
        "No printed row is off by a factor of {limit}, so that nothing else follows from it: is it of this model and "
        "of one card, in tokens, with a sequence a card and step or more?"
    ),
    "not carried": (
        "your rate on {card} is a factor of {factor} {side} what would be said without it, farther than any printed "
        "row, so that nothing else follows from it: measure it"
    ),
    "near the peak": (
        "That is {share} of its peak, and no printed row is above {most}: is it of a whole machine, or counted in "
        "another way?"
    ),
    "capped": "Other cards follow from {limit} of it",
    "above the peak": "by its like it would reach {rate} tokens a second, more than {share} of its peak: measure it",
    "old rows": ", as its rows are old ({until})",
    "name the software": ", or name the software",
    "left out": "left out, as asked",
    "PCIe": "no table of speed has several cards that PCIe alone links{yours}, and this takes {cards}: measure it",
    "of so many": ", your rate is of {of}",
    "no offer": (
        "No cloud offers {what} that can be answered for{without}, at a price younger than {months} months: nothing is "
        "left that decides."
    ),
    "too small": (
        "{state} GB of state ({bytes} bytes a parameter) and {sequence} GB of a sequence's layers, a tenth left free, "
        "need {needed} cards of {memory} GB"
    ),
    "ran out": (
        "{model} ran out of memory with {tokens} tokens at once on {cards} x {card}, as printed ({source}): measure it"
    ),
    "memory": (
        "memory: all cards together hold the state; activations come on top. Of LoRA and QLoRA a card takes so much of "
        "a sequence as LitGPT's runs on an A10G did, which compute no layer again. Models that were left out took up "
        "to {over} times that. Of other tasks it is known where a run is printed"
    ),
    "printed": "fits, as a printed run did",
    "likely": "fits by LitGPT's runs, {peak} GB a card",
    "may run out": "may run out of memory: by LitGPT's runs {peak} GB a card unless layers are computed again",
    "as you say": "fits by your word",
    "not as measured": "does not fit as measured",
    "regions": "{regions} regions: {low} to {high} USD, median {median}",
    "one price": "as in all {regions} regions",
    "by region": "{median} USD in the median of {regions} regions, from {low} in {region} to {high} USD",
    "order": (
        "order: by expected cost, in which a wide interval counts: a lower middle may stand below. What is named is "
        "the first"
    ),
    "links": (
        "links: cards of a machine are linked as its maker says. Cards that are listed one by one are taken to stand "
        "in whole machines, and links between machines to be those of printed trainings, whatever the offer"
    ),
    "few sequences": "it takes {cards} cards, and {of} has {sequences} sequences for them",
    "few steps": (
        "at most {steps} steps, of {of_step} tokens or more, as each card takes a sequence: no record of the NanoGPT "
        "speedrun took fewer than {fewest} steps; fewer cards cost about as much and leave more"
    ),
    "many cards": "no table of speed goes beyond {limit} cards",
    "positions": "{model} has {positions} positions, and a sequence {length} tokens",
    "learned": ": each position is learned, and none beyond",
    "stretched": ": they are stretched (RoPE), which costs no speed, and what it learns is another question",
    "is it right": "First, is your rate on {card} right? Until that is sure nothing is decided. As it stands",
    "not worth a minute": (
        "No table of speed has {card}, whose data sheet makes it cost least, and no minute is worth its time"
    ),
    "short": "By its speed alone {card} costs least; of the others",
    "measure first": "Measure a minute first: no table of speed has this card, whose data sheet makes it cost least",
    "stay or move": "Until then stay on {own}",
    "stay": "Stay on {own}: no other card on demand of a cloud is expected to cost less",
    "stay for now": "Stay on {own}: nothing on demand of a cloud clearly costs less",
    "stay until tried": (
        "Stay on {own} until a minute on one of these says otherwise: data sheets alone make them cost clearly less"
    ),
    "move": "Move from {own} to {card}, on cost alone",
    "move to some": "Move from {own}, on cost alone: to one of these; which one is not decided",
    "move safely": (
        "Move from {own} to {card} ({ends} USD, yours {usd}), on cost alone: {why}; "
        "which one costs least is not decided"
    ),
    "one below": "its whole interval lies below yours",
    "several below": "of {count} whose whole interval lies below yours the safe one, as its upper end is the lowest",
    "data sheet only": "known by its data sheet alone",
    "ARM": "ARM host: wheels may be missing",
    "off logs": "{times} times its speed in MLPerf's logs",
}


def text(key: str, **values: object) -> str:
    """Return one of these texts with its values."""
    return TEXTS[key].format(**values)


def of_logs(times: float | None) -> str:
    """Return how far a speed is from MLPerf's logs, empty if it is not."""
    return text("off logs", times=f"{times:.2f}") if times else ""


def caveats(basis: str, host: str | None, fits: str, off_logs: float | None) -> str:
    """Return what is to be known of a card before it is rented, in brackets, empty if nothing is."""
    found = [TEXTS[key] for key in (basis, host) if key in ("data sheet only", "ARM")]
    found += [of_logs(off_logs)] if off_logs else []
    found += [of_memory(fits)] if of_memory(fits) else []
    return f" ({'; '.join(found)})" if found else ""


def of_memory(fits: str) -> str:
    """Return what is to be known of a card's memory before it is rented, empty if nothing is."""
    return TEXTS[fits].partition(":")[0] if fits in ("may run out", "as you say", "not as measured") else ""


def in_region(offer: Mapping[str, Any], usd: float | None = None) -> str:
    """Return in which region an offer has its price, and what others ask where it comes to so many USD; empty where the
    price is of no region.
    """
    if not offer["region"]:
        return ""
    if usd is None or len(prices := offer["regions"]) < 2:
        return f" in {offer['region']}"
    if prices[0] == prices[-1]:
        return f" in {offer['region']} ({text('one price', regions=len(prices))})"
    low, middle, high = (
        rounded(usd * price / offer["usd_per_hour"], 2) for price in (prices[0], median(prices), prices[-1])
    )
    spread = text("regions", regions=len(prices), low=low, high=high, median=middle)
    return f" in {offer['region']} ({spread})"


def by_region(offer: Mapping[str, Any], usd: float, cost: str) -> str | None:
    """Return what an offer comes to by its regions, the median first: a spot machine is seldom free in the cheapest,
    where it costs so many `usd`, in words `cost`. None where all regions ask the same.
    """
    prices = offer["regions"]
    if not offer["region"] or len(prices) < 2 or prices[0] == prices[-1]:
        return None
    middle, high = (rounded(usd * price / offer["usd_per_hour"], 2) for price in (median(prices), prices[-1]))
    return text("by region", median=middle, regions=len(prices), low=cost, region=offer["region"], high=high)
