"""What an hour of a machine like this one costs: the offers of `offers.csv`, and what a provider bills for a run."""

from __future__ import annotations

import csv
import io
import pkgutil
import re
from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil

from epochs_per_dollar import words
from epochs_per_dollar.machine import Machine

#: Cards as their drivers name them, and as offers do; the first that is found counts.
_CARDS = (
    ("GB300", "GB300"),
    ("GB200", "GB200"),
    ("GH200", "GH200"),
    ("B300", "B300"),
    ("B200", "B200"),
    ("H200 NVL", "H200 NVL"),
    ("H200", "H200 SXM"),
    ("H100 PCIe", "H100 PCIe"),
    ("H100 NVL", "H100 NVL"),
    ("H100", "H100 SXM"),
    (r"A100.SXM.-80GB", "A100 SXM 80GB"),
    (r"A100.SXM.-40GB", "A100 SXM 40GB"),
    (r"A100.*80GB.PCIe", "A100 PCIe 80GB"),
    (r"A100.PCIE-40GB", "A100 PCIe 40GB"),
    (r"V100.*32GB", "V100 32GB"),
    (r"V100", "V100 16GB"),
    (r"A10G\b", "A10G"),
    (r"A10\b", "A10"),
    (r"L40S\b", "L40S"),
    (r"L4\b", "L4"),
    (r"RTX PRO 6000 Blackwell Workstation", "RTX PRO 6000"),
    (r"RTX 6000 Ada", "RTX 6000 Ada"),
    (r"RTX 5880 Ada", "RTX 5880 Ada"),
    (r"Quadro RTX 6000", "Quadro RTX 6000"),
    (r"RTX A6000", "RTX A6000"),
    (r"RTX A5000", "RTX A5000"),
    (r"RTX A4000", "RTX A4000"),
    (r"RTX 5090\b", "RTX 5090"),
    (r"RTX 5070$", "RTX 5070"),
    (r"RTX 4090", "RTX 4090"),
    (r"RTX 4070 Ti SUPER", "RTX 4070 Ti SUPER"),
    (r"RTX 4060 Ti", "RTX 4060 Ti"),
    (r"RTX 3090", "RTX 3090"),
    (r"RTX 3060 Ti", "RTX 3060 Ti"),
    (r"RTX 3060$", "RTX 3060"),
    (r"T4\b", "T4"),
    (r"P100", "P100"),
    (r"P4000", "P4000"),
    (r"K80", "K80"),
    (r"M60", "M60"),
    (r"M4000", "M4000"),
)


#: A bill that is above the time by less than this share, or a second, needs no word.
_ROUNDED = 0.01


@dataclass(frozen=True)
class Offer:
    """What a provider asks for an hour of a machine (USD), on which day, and how it counts time (s)."""

    provider: str
    item: str
    card: str
    cards: int
    cores: int
    region: str
    purchase: str
    usd_per_hour: float
    as_of: str
    increment_seconds: float
    minimum_seconds: float

    def billed_seconds(self, seconds: float) -> float:
        """Return the time that is billed for so many seconds: every increment begun, at least the minimum."""
        begun = ceil(round(seconds / self.increment_seconds, 6)) * self.increment_seconds
        return max(begun, self.minimum_seconds)

    def usd(self, seconds: float) -> float:
        """Return what is billed for so many seconds."""
        return self.usd_per_hour * self.billed_seconds(seconds) / 3600

    def rounding(self, seconds: float) -> str:
        """Return in words why clearly more is billed than so many seconds, nothing where that is not so."""
        billed = self.billed_seconds(seconds)
        if billed - seconds <= max(1.0, _ROUNDED * seconds):
            return ""
        each = words.seconds(self.increment_seconds)
        why = "the least that is billed" if billed == self.minimum_seconds else f"billed by {each} begun"
        return f"{words.seconds(billed)}, {why}"


def read() -> list[Offer]:
    """Return all offers that this package carries."""
    text = (pkgutil.get_data("epochs_per_dollar", "offers.csv") or b"").decode("utf-8")
    return [
        Offer(
            row["provider"],
            row["item"],
            row["card"],
            int(row["cards"] or 0),
            int(row["cores"] or 0),
            row["region"],
            row["purchase"],
            float(row["usd_per_hour"]),
            row["as_of"],
            float(row["increment_seconds"]),
            float(row["minimum_seconds"]),
        )
        for row in csv.DictReader(io.StringIO(text))
    ]


def card(name: str) -> str | None:
    """Return what offers call a card that a driver names so, None for one that they do not know."""
    return next((known for pattern, known in _CARDS if re.search(rf"(?i)\b{pattern}", name)), None)


def of(machine: Machine, offers: Sequence[Offer], cards: int) -> list[Offer]:
    """Return the offers of so many of the same card, or without a card of as many cores; cheapest first.

    An offer that leaves out the form of the card or its memory (`A100`, `V100`) is one of each.
    """
    if machine.cards:
        name = card(machine.cards[0].name)
        same = [one for one in offers if name and one.card and _is_same(one.card, name) and one.cards == cards]
    else:
        same = [one for one in offers if not one.card and one.cores == machine.cores]
    return sorted(same, key=lambda one: one.usd_per_hour)


def _is_same(offered: str, name: str) -> bool:
    return offered == name or name.startswith(f"{offered} ")


def by_bill(offers: Sequence[Offer], seconds: float) -> list[Offer]:
    """Return offers by what they bill for so many seconds, and by their hour where that is the same."""
    return sorted(offers, key=lambda one: (one.usd(seconds), one.usd_per_hour))


def cheapest_of_each(offers: Sequence[Offer], seconds: float, machines: bool = False) -> list[Offer]:
    """Return of each provider and purchase the offer that bills the least for so many seconds, the least first.

    With `machines` of each of a provider's machines: that of the cheapest region.
    """
    first: dict[tuple[str, ...], Offer] = {}
    for offer in by_bill(offers, seconds):
        first.setdefault((offer.provider, offer.purchase, offer.item if machines else ""), offer)
    return list(first.values())
