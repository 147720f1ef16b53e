"""What an hour of a card costs that is owned: reckoned from what it cost to have, and apart from what is on offer."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from scripts.costs import fields, ownership
from scripts.estimate.dollars import Offer
from scripts.estimate.known import Known
from scripts.storage.errors import InputError
from scripts.storage.numbers import number

#: Who offers it, and how it is bought.
OWNED = "owned"


@dataclass(frozen=True)
class Owned:
    """An hour of use of one card (USD), since when, and in words how it was reckoned and who says so.

    `cards` is how many a person has, None of an example, which is of any number and never decides.
    """

    usd_per_hour: float
    as_of: str
    reckoned: str
    source: str
    cards: int | None = None

    def enough(self, asked: int | None, least: int, most: float, rented: int) -> int:
        """Return how many of them train: those asked for, else all there are and `most` that can; of an example as
        many as are rented.

        0 where there are fewer than are asked for, or than the `least` that hold the training.
        """
        if self.cards is None:
            return rented
        return (asked or int(min(self.cards, most))) if (asked or least) <= self.cards else 0

    def offer(self, cards: int) -> Offer:
        """Return so many of them as an offer: nobody rounds, nobody preempts."""
        return Offer(OWNED, self.reckoned, "", OWNED, cards, self.usd_per_hour * cards, self.as_of, 1.0, 0.0)


def owned(
    known: Known, entries: Mapping[str, Mapping[str, Any]], place: str, is_example: bool = False
) -> dict[str, Owned]:
    """Return the cards of a file (config/schemas/owned.schema.json), as data sheets call them.

    Raises InputError for a card that is unknown or has two entries, and figures that cannot be.
    """
    found: dict[str, Owned] = {}
    for name, about in entries.items():
        card = known.card(place, name)
        if card in found:
            raise InputError(f"{place}: {name}: {card} has an entry already: one is allowed")
        try:
            machine = ownership.machine(about)
        except ValueError as error:
            raise InputError(f"{place}: {name}: {error}") from error
        fields.day(f"{place}: {name}", "as_of", str(about["as_of"]))
        cards, hours = about.get("cards", 1), about["hours_per_month"]
        upkeep = machine.maintenance_usd_per_month
        residual = f", sold for {number(machine.residual_usd)}" if machine.residual_usd else ""
        reckoned = (
            f"{number(machine.acquisition_usd)} USD for {cards} card{'s' * (cards > 1)} over {machine.life_months:g} "
            f"months of {hours:g} hours of use{residual}"
            f"{f', {number(upkeep)} USD a month of maintenance' if upkeep else ''}, "
            f"{machine.power_watts:g} W at {machine.usd_per_kwh:g} USD a kWh"
        )
        source = "; ".join(filter(None, (about["source"], about.get("inferred", ""))))
        each = float(ownership.usd_per_hour(machine, hours)) / cards
        if not each > 0:
            raise InputError(f"{place}: {name}: an hour costs nothing: acquisition, maintenance or power must")
        found[card] = Owned(each, str(about["as_of"]), reckoned, source, None if is_example else cards)
    return found
