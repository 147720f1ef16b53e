"""What an hour of a card cost by date: every dated offer of the price books, of each provider the newest then."""

from collections.abc import Iterable, Sequence
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
    def median(self) -> float:
        """The median of the offers of clouds, in USD an hour of one card."""
        return median(offer.usd_per_hour for offer in self.known)


def day_of(as_of: str) -> date:
    """Return the first day of a date that may be a month or a year."""
    return date.fromisoformat(as_of + "YYYY-01-01"[len(as_of) :])


def age(offers: Iterable[Offer], today: date) -> int | None:
    """Return how old (days) the newest of the offers is; None without one."""
    return min(((today - day_of(offer.as_of)).days for offer in offers), default=None)


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
