"""What a training costs on the machines of a card that are on offer: their own cards, minimum bill and rounding."""

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from math import inf
from statistics import median
from typing import Any

from scripts.costs import spot
from scripts.costs.billing import billed_seconds, cost_usd
from scripts.costs.cards import MARKETS, machines_of
from scripts.costs.cards import wanted as wanted_of
from scripts.estimate.known import months

#: Offers of older days are left out.
OLDEST_MONTHS = 12

#: Preemptions an hour of one spot machine, an assumption: one a day. Google said that 5 to 15 % of preemptible machines
#: are preempted a day (.002 to .007 an hour; its documentation of about 2020, second hand); the first two days of two
#: traces of V100s at AWS, of April 2023, have one in two to four hours (Wu et al., "Can't Be Late", NSDI 2024,
#: github.com/skypilot-org/spot-traces, counted by eye).
PREEMPTIONS_PER_HOUR = 0.042

#: What a checkpoint takes, and a restart, from losing a machine to training on; both assumptions.
SAVE_SECONDS, RESTART_SECONDS = 60.0, 600.0

#: Where preemptions make it last so many times as long, nobody trains on spot machines: these are no offers.
MOST_TIMES = 10.0

#: Whatever is shorter would be no use at all, which nobody bills.
_SHORTEST_SECONDS = 1e-6


@dataclass(frozen=True)
class Offer:
    """A machine of so many cards: who offers it, at what an hour (USD), since when, and how time is counted (s)."""

    provider: str
    item: str
    region: str
    purchase: str
    cards: int
    usd_per_hour: float
    as_of: str
    increment_seconds: float
    minimum_seconds: float
    #: Of these machines so many are rented.
    machines: int = 1
    #: What an hour of one costs in each region that has a price, from the lowest; none where the price is of no region.
    regions: Sequence[float] = field(default_factory=list)

    @property
    def way(self) -> str:
        """How it is bought: on demand of a cloud, of a market place, or as spot."""
        if self.provider in MARKETS:
            return "market" if self.purchase == "on-demand" else "market spot"
        return self.purchase

    @property
    def all_cards(self) -> int:
        """Cards of all machines that are rented."""
        return self.cards * self.machines

    def seconds(self, tokens: float, rate: float) -> float:
        """Return how long the machines train so many tokens, at a rate a card, if never preempted."""
        return tokens / (rate * self.all_cards)

    def expected_seconds(self, tokens: float, rate: float, preemptions_per_hour: float) -> float:
        """Return how long it is expected to take: spot machines are preempted, and one of several stops all.

        The model is that of studies (`costs.spot`), with a checkpoint at Young's interval.
        """
        useful = self.seconds(tokens, rate)
        if self.purchase != "spot":
            return useful
        per_hour = preemptions_per_hour * self.machines
        every = spot.optimum_checkpoint_seconds(SAVE_SECONDS, per_hour)
        return float(spot.expected_seconds(useful, per_hour, every, RESTART_SECONDS, SAVE_SECONDS))

    def usd(self, tokens: float, rate: float, preemptions_per_hour: float = 0.0) -> float:
        """Return what is billed for it."""
        return self.usd_of(self.expected_seconds(tokens, rate, preemptions_per_hour))

    def usd_of(self, seconds: float) -> float:
        """Return what is billed for a time: every increment begun, at least the minimum, of each machine."""
        billed = billed_seconds(max(seconds, _SHORTEST_SECONDS), self.increment_seconds, self.minimum_seconds)
        return self.machines * float(cost_usd(billed, self.usd_per_hour))


@dataclass(frozen=True)
class Bill:
    """What the offers of a card come to at the middle rate (USD), and the cheapest at both ends of the interval."""

    cheapest: Offer
    #: The offer that is the cheapest after it, and what that comes to; None of a single one.
    second: Offer | None
    second_usd: float | None
    usd: float
    usd_low: float
    usd_high: float
    median_usd: float
    dearest_usd: float
    offers: int
    seconds: float


def of_rows(
    rows: Iterable[Mapping[str, Any]],
    today: date,
    cards: int | None = None,
    at_least: int = 1,
    at_most: float = inf,
    without: Container[str] = (),
) -> list[Offer]:
    """Return the offers of rows (`costs.offers`) of one card, the newest and then the cheapest of each kind.

    With `cards` those whose machines make up so many (`costs.cards.machines_of`); else each machine, or as many whole
    ones as have `at_least` so many (`costs.cards.wanted`). None has more than `at_most`, nor is it of a provider that
    is `without`. The same size at one provider is one offer, whatever its name, its region and its list.
    """
    found: dict[tuple[str, str, int, str], Offer] = {}
    for row in rows:
        size = int(row["cards"])
        wanted = wanted_of(row["card"], row["provider"], size, at_least) if cards is None else cards
        machines = machines_of(row["card"], row["provider"], size, wanted)
        is_old = months(row["as_of"], today) > OLDEST_MONTHS
        if not machines or is_old or wanted > at_most or row["provider"] in without:
            continue
        offer = Offer(
            row["provider"], row["item"], row["region"], row["purchase"], size, float(row["usd_per_hour"]),
            row["as_of"], float(row["increment_seconds"]), float(row["minimum_seconds"]), machines,
        )  # fmt: skip
        key = (offer.provider, offer.purchase, size, offer.region)
        if key not in found or (_newness(offer) > _newness(found[key])):
            found[key] = offer
    return _of_regions(found.values())


def _of_regions(offers: Iterable[Offer]) -> list[Offer]:
    """Return the cheapest region of each kind, with the prices of the others.

    A list without regions is of all: the newer of both counts.
    """
    kinds: dict[tuple[str, str, int], list[Offer]] = {}
    for offer in offers:
        kinds.setdefault((offer.provider, offer.purchase, offer.cards), []).append(offer)
    found = []
    for each in kinds.values():
        everywhere = max((one.as_of for one in each if not one.region), default="")
        somewhere = max((one.as_of for one in each if one.region), default="")
        kept = [one for one in each if one.as_of >= (everywhere if one.region else somewhere)]
        low = min(kept, key=lambda one: (one.usd_per_hour, one.region))
        found.append(replace(low, regions=sorted(one.usd_per_hour for one in kept if one.region and low.region)))
    return found


def _newness(offer: Offer) -> tuple[str, float]:
    return offer.as_of, -offer.usd_per_hour


def bill(
    offers: Sequence[Offer], tokens: float, low: float, middle: float, high: float, preemptions_per_hour: float = 0.0
) -> Bill | None:
    """Return what a training costs by these offers, at the rates of an interval; None without one."""
    offers = [one for one in offers if _goes_on(one, tokens, low, preemptions_per_hour)]
    if not offers:
        return None
    prices = [offer.usd(tokens, middle, preemptions_per_hour) for offer in offers]
    place, *others = sorted(range(len(offers)), key=prices.__getitem__)
    first = offers[place]
    second, second_usd = (offers[others[0]], prices[others[0]]) if others else (None, None)
    return Bill(
        first, second, second_usd, prices[place], first.usd(tokens, high, preemptions_per_hour),
        first.usd(tokens, low, preemptions_per_hour), median(prices), max(prices), len(offers),
        first.expected_seconds(tokens, middle, preemptions_per_hour),
    )  # fmt: skip


def _goes_on(offer: Offer, tokens: float, rate: float, preemptions_per_hour: float) -> bool:
    """Return whether preemptions leave time to train."""
    return offer.expected_seconds(tokens, rate, preemptions_per_hour) <= MOST_TIMES * offer.seconds(tokens, rate)
