"""What a quote is made from: the tables' points, cards, models, and how good quotes from them were found to be."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from scripts.costs.cards import without_maker
from scripts.estimate.points import Point
from scripts.storage.spelling import named, plain

#: Months after which what tables print of a kind is old: its interval is widened by what software gained since.
OLD_MONTHS = {"dense": 12, "moe": 6}

#: Between two releases of which the ageing was taken.
AGEING_MONTHS = 7


@dataclass(frozen=True)
class Known:
    """Points of tables, cards and models by name, and of trials the widening of intervals and the ageing of rows.

    `factors` are by question of `trial` or `transfers` and kind; `ageing` is the standard deviation of a logarithm that
    seven months make, by kind.
    """

    points: Sequence[Point]
    cards: Mapping[str, Any]
    card_names: Mapping[str, str]
    models: Mapping[str, Any]
    factors: Mapping[str, Mapping[str, float]]
    ageing: Mapping[str, float]

    def model(self, name: str) -> str:
        """Return the model that a person, or a hub, calls so. Raises InputError with the nearest names."""
        names = {one: model for model, about in self.models.items() for one in (model, *about["names"])}
        known = {plain(one) for one in names}
        tried = [name, _of_hub(name), re.sub(r"(?i)(llama[- ]?3)\.[13]", r"\1", _of_hub(name))]
        asked = next((one for one in tried if plain(one) in known), name)
        return named("--model", asked, names, "of any other say --billion, --layers and --width")

    def aged(self, kind: str, until: str, today: date) -> float:
        """Return the variance that the age of rows adds: of those that are not old none, of others as a random walk."""
        passed = months(until, today) if until else 0.0
        return self.ageing[kind] ** 2 * passed / AGEING_MONTHS if passed > OLD_MONTHS[kind] else 0.0

    def card(self, option: str, name: str) -> str:
        """Return the card that a person, a driver or an offer calls so. Raises InputError with the nearest names."""
        return named(option, without_maker(name), self._cards, f"cards are {', '.join(self.cards)}")

    def left_out(self, option: str, name: str, providers: Mapping[str, str]) -> str:
        """Return the provider, of those by what they are called, or the card that is meant. Raises InputError."""
        names = dict(providers) | {one: one for one in providers.values()} | self._cards
        asked = without_maker(name) or name  # Google rents what Google makes
        return named(option, asked, names, f"it is one of {', '.join([*providers.values(), *self.cards])}")

    @property
    def _cards(self) -> dict[str, str]:
        return {card: card for card in self.cards} | dict(self.card_names)


def _of_hub(name: str) -> str:
    """Return the name of a model without its owner on a hub, and without what was made of it."""
    return re.sub(r"(?i)^meta-|[-_](instruct|chat|base|hf|it|pt|v0\.\d)\b.*$", "", name.rpartition("/")[2])


def day(text: str) -> date:
    """Return the first day that a date (YYYY, YYYY-MM or YYYY-MM-DD) may mean."""
    return date.fromisoformat(text + "YYYY-01-01"[len(text) :])


def months(text: str, today: date) -> float:
    """Return how many months have passed since a date."""
    return max(0.0, (today - day(text)).days / 30.44)


def age(text: str, today: date) -> str:
    """Return in words how old something of a date is."""
    passed = months(text, today)
    if passed < 2:
        days = max(0, (today - day(text)).days)
        return f"{days} day{'s' * (days != 1)} old" if len(text) == len("YYYY-MM-DD") else "a month old at most"
    return f"{passed:.0f} months old" if passed < 24 else f"{passed / 12:.1f} years old"
