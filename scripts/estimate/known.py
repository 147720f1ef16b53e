"""What a quote is made from: the tables' points, cards, models, and how good quotes from them were found to be."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from difflib import get_close_matches
from typing import Any

from scripts.estimate.points import Point
from scripts.storage.errors import InputError

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
        known = {_plain(one) for one in names}
        tried = [name, _of_hub(name), re.sub(r"(?i)(llama[- ]?3)\.[13]", r"\1", _of_hub(name))]
        asked = next((one for one in tried if _plain(one) in known), name)
        return _named("--model", asked, names, "of any other say --billion, --layers and --width")

    def aged(self, kind: str, until: str, today: date) -> float:
        """Return the variance that the age of rows adds: of those that are not old none, of others as a random walk."""
        passed = months(until, today) if until else 0.0
        return self.ageing[kind] ** 2 * passed / AGEING_MONTHS if passed > OLD_MONTHS[kind] else 0.0

    def card(self, option: str, name: str) -> str:
        """Return the card that a person, a driver or an offer calls so. Raises InputError with the nearest names."""
        names = {**{card: card for card in self.cards}, **self.card_names}
        return _named(option, name, names, f"cards are {', '.join(self.cards)}")


def _of_hub(name: str) -> str:
    """Return the name of a model without its owner on a hub, and without what was made of it."""
    return re.sub(r"(?i)^meta-|[-_](instruct|chat|base|hf|it|pt|v0\.\d)\b.*$", "", name.rpartition("/")[2])


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9.]", "", name.lower())


def _named(option: str, name: str, names: Mapping[str, str], otherwise: str) -> str:
    known = {_plain(one): found for one, found in names.items()}
    asked = _plain(name)
    if asked in known:
        return known[asked]
    near = [known[one] for one in known if asked and asked in one]
    near += [known[one] for one in get_close_matches(asked, known, 5, 0.5)]
    hint = f"did you mean {' or '.join(_first(near, 3))}? " if near else ""
    raise InputError(f"{option}: {name!r} is unknown: {hint}{otherwise}")


def _first(names: Iterable[str], count: int) -> list[str]:
    return list(dict.fromkeys(names))[:count]


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
