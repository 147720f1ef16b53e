"""What an hour of a card cost by date, and what each provider asks: every dated offer of the price books."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from statistics import median

from scripts.costs.cards import MARKETS, Offer, largest

#: Offers are those of machines of up to so many cards.
CARDS = 8

#: An offer that nobody confirmed for so long is no longer known.
KNOWN_DAYS = 365

#: From here on a price should be read again.
OLD_DAYS = 60

#: Two sources of one price are of one time when they are no further apart (days), and agree within a share of it.
SAME_DAYS, SAME = 90, 0.01


@dataclass(frozen=True)
class Day:
    """What was known of a card on a day when an offer of it was read: `new` are that day's, `known` one a cloud.

    `market` is the lowest of what market places ask, whose hosts are strangers.
    """

    as_of: str
    new: Sequence[Offer]
    known: Sequence[Offer]
    market: Offer | None

    @property
    def lowest(self) -> Offer:
        """The lowest of the offers of clouds, in USD an hour of one card."""
        return self.known[0]

    @property
    def highest(self) -> Offer:
        """The highest of the offers of clouds, in USD an hour of one card."""
        return self.known[-1]

    @property
    def median(self) -> float:
        """The median of the offers of clouds, in USD an hour of one card."""
        return median(offer.usd_per_hour for offer in self.known)


@dataclass(frozen=True)
class Asked:
    """What a provider asks for an hour of a card in its machines of one size in one region: the newest of each way.

    `otherwise` are prices of the same in other rows, at most `SAME_DAYS` older, that differ by more than `SAME`.
    """

    provider: str
    cards: int
    region: str
    on_demand: Offer | None
    spot: Offer | None
    otherwise: Sequence[Offer]


def day_of(as_of: str) -> date:
    """Return the first day of a date that may be a month or a year."""
    return date.fromisoformat(as_of + "YYYY-01-01"[len(as_of) :])


def age(offers: Iterable[Offer], today: date) -> int | None:
    """Return how old (days) the newest of the offers is; None without one."""
    return min(((today - day_of(offer.as_of)).days for offer in offers), default=None)


def of_late(cards: Mapping[str, Sequence[Offer]]) -> dict[str, Sequence[Offer]]:
    """Return the offers of those cards that have one of at most `KNOWN_DAYS` before the newest of all.

    Not before today: books that nobody refreshes would say nothing, and no price of them were old.
    """
    newest = {name: max(day_of(offer.as_of) for offer in of) for name, of in cards.items() if of}
    last = max(newest.values(), default=date.min)
    return {name: cards[name] for name, day in newest.items() if (last - day).days <= KNOWN_DAYS}


def old(cards: Mapping[str, Sequence[Offer]], today: date) -> dict[str, int]:
    """Return which cards have no price of the last `OLD_DAYS`, and how old (days) their newest is."""
    ages = {name: age(of, today) for name, of in cards.items()}
    return {name: days for name, days in ages.items() if days is not None and days >= OLD_DAYS}


def days(offers: Sequence[Offer]) -> list[Day]:
    """Return each day on which a price of a card was read and one of a cloud was known, the oldest first.

    Known on a day is an offer of each provider that is no older than `KNOWN_DAYS`: the newest of its largest machine of
    up to `CARDS`.
    """
    found = []
    for as_of in sorted({offer.as_of for offer in offers}, key=lambda one: (day_of(one), one)):
        day = day_of(as_of)
        seen = [offer for offer in offers if 0 <= (day - day_of(offer.as_of)).days <= KNOWN_DAYS]
        each = largest(seen, CARDS)
        known = [offer for offer in each if offer.provider not in MARKETS]
        market = next((offer for offer in each if offer.provider in MARKETS), None)
        new = largest([offer for offer in offers if offer.as_of == as_of], CARDS)
        if known:
            found.append(Day(as_of, new, known, market))
    return found


def asked(offers: Sequence[Offer]) -> list[Asked]:
    """Return what each provider asked for one card within `KNOWN_DAYS` of the newest offer, by size and region.

    The lowest on demand first, what is had as spot alone last.
    """
    last = max((day_of(offer.as_of) for offer in offers), default=date.min)
    kinds: dict[tuple[str, int, str], dict[str, list[Offer]]] = {}
    for offer in offers:
        if (last - day_of(offer.as_of)).days <= KNOWN_DAYS:
            ways = kinds.setdefault((offer.provider, offer.cards, offer.region), {})
            ways.setdefault(offer.purchase, []).append(offer)
    found = []
    for (provider, cards, region), ways in kinds.items():
        newest = {way: max(of, key=lambda one: (day_of(one.as_of), -one.usd_per_hour)) for way, of in ways.items()}
        otherwise = [offer for way, of in ways.items() for offer in of if _contradicts(offer, newest[way])]
        found.append(Asked(provider, cards, region, newest.get("on-demand"), newest.get("spot"), otherwise))
    return sorted(found, key=_order)


def _contradicts(offer: Offer, newest: Offer) -> bool:
    """Return whether another source says another price of the same; in one list several machines may have a card."""
    is_near = (day_of(newest.as_of) - day_of(offer.as_of)).days <= SAME_DAYS
    return (
        is_near
        and offer.source != newest.source
        and abs(offer.usd_per_hour - newest.usd_per_hour) > SAME * newest.usd_per_hour
    )


def _order(one: Asked) -> tuple[bool, float, str, int, str]:
    first = one.on_demand or one.spot
    return one.on_demand is None, first.usd_per_hour if first else 0.0, one.provider, one.cards, one.region
