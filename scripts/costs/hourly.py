"""What an hour of a study's machines costs under each of its price options. No table: a quote asks for few machines."""

from collections.abc import Callable, Container, Mapping
from functools import cache
from statistics import median
from typing import Any

import numpy as np

from scripts.costs import billing, book, books, card_history, cards, fields, ownership, spot
from scripts.costs.terms import Terms, read_terms
from scripts.storage.errors import InputError

PREEMPTION = ("preemptions_per_hour", "checkpoint_seconds", "restart_seconds", "save_seconds")

COLUMNS = [
    "hardware",
    "price_option",
    "provider",
    "region",
    "purchase",
    "usd_per_hour",
    "usd_per_hour_low",
    "usd_per_hour_high",
    "increment_seconds",
    "minimum_seconds",
    "in_a_row",
    *PREEMPTION,
    "price_as_of",
    "price_source",
    "price_inferred",
]


def _owned(hardware: str, own: Mapping[str, Any]) -> dict[str, Any]:
    """Return the price of an hour of a machine that is owned: nobody rounds, nobody preempts."""
    try:
        machine = ownership.machine(own)
    except ValueError as error:
        raise InputError(f"{hardware}: own: {error}") from error
    fields.day(f"{hardware}: own", "as_of", str(own["as_of"]))
    hourly = float(ownership.usd_per_hour(machine, own["hours_per_month"]))
    return {
        "provider": "own",
        "region": "",
        "purchase": "owned",
        "usd_per_hour": hourly,
        "usd_per_hour_low": hourly,
        "usd_per_hour_high": hourly,
        "increment_seconds": 1.0,
        "minimum_seconds": 0.0,
        "price_as_of": own["as_of"],
        "price_source": f"{own['source']}; {own['hours_per_month']:g} hours of use a month",
        "price_inferred": own.get("inferred", ""),
    }


def _rented(rent: Mapping[str, Any], option: Mapping[str, Any], rows: book.Rows, terms: Terms) -> dict[str, Any] | None:
    """Return the price of an hour of a machine that is rented under a price option, None if it is not offered so."""
    purchase = option.get("purchase", rent.get("purchase", "on-demand"))
    hours = option.get("hours_per_month", billing.HOURS_PER_MONTH)
    price = book.rent(
        rows,
        terms,
        rent["provider"],
        rent["items"],
        purchase,
        rent.get("region", ""),
        rent.get("premium", ""),
        rent.get("fee", ""),
        hours,
        option.get("months", 1.0),
        sustained_use=bool(option.get("sustained_use")),
    )
    if price is None:
        return None
    share, notes = 1.0, [price.source]
    if "discount" in option:
        share *= 1 - option["discount"]["share"]
        notes.append(f"{option['discount']['share']:.0%} off: {option['discount']['source']}")
    if option.get("sustained_use"):
        notes.append(f"sustained use of {hours:g} hours a month, where that discount applies")
    return {
        "provider": price.provider,
        "region": price.region,
        "purchase": purchase,
        "usd_per_hour": price.usd_per_hour * share,
        "usd_per_hour_low": price.usd_per_hour_low * share,
        "usd_per_hour_high": price.usd_per_hour_high * share,
        "increment_seconds": price.rule.increment_seconds,
        "minimum_seconds": price.rule.minimum_seconds,
        "price_as_of": price.as_of,
        "price_source": "; ".join(notes),
        "price_inferred": price.inferred,
    }


def _gpus(about: Mapping[str, Any]) -> tuple[str, int] | None:
    """Return the card of a machine and how many it has: as its entry says, else those of what it rents."""
    if "gpus" in about:
        return about["gpus"]["model"], about["gpus"]["count"]
    return cards.of_rent(about["rent"]) if "rent" in about else None


def _offered(card: str, count: int, option: Mapping[str, Any], rows: book.Rows, terms: Terms) -> dict[str, Any] | None:
    """Return the price of an hour of cards by what providers ask for one, None where nobody offers it.

    The lowest offer is of one provider; the median is of none, and its range is from the lowest to the highest. Offers
    that are a year older than the newest price of the books are no longer known.
    """
    newest = max((card_history.day_of(row["as_of"]) for row in rows), default=None)
    asked = [
        offer
        for offer in cards.offers(rows, card, option.get("purchase", "on-demand"))
        if newest and (newest - card_history.day_of(offer.as_of)).days <= card_history.KNOWN_DAYS
    ]
    found = cards.chosen(cards.for_cards(asked, count), option)
    if not found:
        return None
    lowest, highest, middle = found[0], found[-1], option["offer"] == "median"
    rate = median(offer.usd_per_hour for offer in found) if middle else lowest.usd_per_hour
    used = found if middle else [lowest]
    said = [f"{one.provider} {one.item} {one.usd_per_hour:.4g} USD a card ({one.as_of})" for one in used]
    rule = terms.rule(lowest.provider, lowest.as_of)
    return {
        "provider": f"{len(found)} providers" if middle and len(found) > 1 else lowest.provider,
        "region": "" if middle else lowest.region,
        "purchase": option.get("purchase", "on-demand"),
        "usd_per_hour": rate * count,
        "usd_per_hour_low": (lowest.usd_per_hour if middle else rate) * count,
        "usd_per_hour_high": (highest.usd_per_hour if middle else rate) * count,
        "increment_seconds": rule.increment_seconds,
        "minimum_seconds": rule.minimum_seconds,
        "price_as_of": min(one.as_of for one in used),
        "price_source": f"median of {len(found)}: {'; '.join(said)}" if middle else f"{said[0]}: {lowest.source}",
        "price_inferred": "",
    }


def _preemption(about: Mapping[str, Any]) -> dict[str, Any]:
    """Return an option's `preemption` with the interval of checkpoints: as given, or the best for its saves."""
    save = about.get("save_seconds", 0.0)
    best = spot.optimum_checkpoint_seconds(save, about.get("preemptions_per_hour", 0.0)) if save else np.inf
    return {"checkpoint_seconds": float(best)} | dict(about)


def price_rows(
    machines: Mapping[str, Any],
    options: Mapping[str, Any],
    rows: Callable[[Mapping[str, Any]], book.Rows],
    terms: Terms,
) -> list[dict[str, Any]]:
    """Return one row per machine and price option that it is offered under, keys as in `COLUMNS`.

    Args:
        machines: name -> entry with `rent` (provider, items, ...), `own`, both or none; and `gpus` (model, count) for
            options with an `offer`, where its rent does not say it.
        options: name -> how it is bought: `prices` of a study; an `instead` counts for machines given here.
        rows: returns the rows of the price books of an option.
        terms: billing rules and currencies.
    """
    found: list[dict[str, Any]] = []
    for option, terms_of in options.items():
        instead = terms_of.get("instead", {})
        for hardware, about in machines.items():
            rent = instead.get(hardware, about.get("rent"))
            # Without a purchase each machine is had as it is: rented, or owned if it has no rent.
            is_plain = "purchase" not in terms_of and "offer" not in terms_of
            owned = terms_of.get("purchase") == "owned" or (rent is None and is_plain)
            if owned:
                price = _owned(hardware, about["own"]) if "own" in about else None
            elif "offer" in terms_of:
                gpus = _gpus(about)
                price = _offered(*gpus, terms_of, rows(terms_of), terms) if gpus else None
            else:
                price = _rented(rent, terms_of, rows(terms_of), terms) if rent else None
            if price is None:
                continue
            preemption = _preemption(terms_of.get("preemption", {}))
            found.append(
                {"hardware": hardware, "price_option": option}
                | price
                | {"in_a_row": bool(terms_of.get("in_a_row"))}
                | {key: float(preemption.get(key, 0.0)) for key in PREEMPTION}
            )
    return found


def of_study(study: Mapping[str, Any], machines: Mapping[str, Any], named: Container[str]) -> list[dict[str, Any]]:
    """Return the prices of those `machines` that are `named`, under every price option of a study, from its books.

    Rows as of `price_rows`. Raises InputError for an option that names a machine the study does not have.
    """
    for option, about in study["prices"].items():
        for name in about.get("instead", {}):
            if name not in machines:
                known = ", ".join(machines)
                raise InputError(f"prices: {option}: instead: {name!r} is unknown: it is one of {known}")
    read = cache(lambda *files: book.read(files))
    return price_rows(
        {name: about for name, about in machines.items() if name in named},
        study["prices"],
        lambda option: read(*books.files(option.get("book", study["book"]))),
        read_terms(),
    )
