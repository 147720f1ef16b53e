"""What a quote is made from: the tables' points, cards, models, and how good quotes from them were found to be."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import cached_property
from math import ceil
from typing import Any

from scripts.costs import cards as names_of_cards
from scripts.estimate.memory import Memory
from scripts.estimate.points import KINDS, Point
from scripts.storage.errors import InputError
from scripts.storage.spelling import find, named, plain

#: Months after which what tables print of a kind is old: its interval is widened by what software gained since.
OLD_MONTHS = {"dense": 12, "moe": 6}

#: Models of up to so many times more parameters than the largest of the tables, or fewer than the smallest; sequences
#: of so many times fewer tokens.
BEYOND = 2.0

_KINDS = {"dense": "dense models", "moe": "mixtures of experts"}

#: Between two releases of which the ageing was taken.
AGEING_MONTHS = 7


@dataclass(frozen=True)
class Known:
    """Points of tables, cards and models by name, and of trials the widening of intervals and the ageing of rows.

    `others` are models that the tables lack; `memory` is what trainings were printed to take of it; `refused` what is
    no model, by how its name begins; `off_logs`, by card and precision, how many times the speed in MLPerf's logs is
    said, where most of these lie outside the interval. `factors` are by question of `trial` or `transfers` and kind;
    `ageing`, by kind, is the standard deviation of a logarithm that seven months make.
    """

    points: Sequence[Point]
    cards: Mapping[str, Any]
    card_names: Mapping[str, str]
    models: Mapping[str, Any]
    factors: Mapping[str, Mapping[str, float]]
    ageing: Mapping[str, float]
    others: Mapping[str, Any] = field(default_factory=dict)
    refused: Mapping[str, str] = field(default_factory=dict)
    memory: Memory = field(default_factory=Memory)
    off_logs: Mapping[tuple[str, str], float] = field(default_factory=dict)

    @property
    def memory_gb(self) -> dict[str, float]:
        """Return the memory of a card by its name."""
        return {card: float(about["memory_gb"]) for card, about in self.cards.items()}

    @property
    def askable(self) -> dict[str, Any]:
        """Return all models that can be asked for, by name."""
        return {**self.models, **self.others}

    @cached_property
    def _names(self) -> dict[str, str]:
        return {one: model for model, about in self.askable.items() for one in (model, *about["names"])}

    def model(self, name: str) -> str:
        """Return the model that a person, or a hub, calls so. Raises InputError with the nearest names."""
        names = self._names
        called = name.rpartition("/")[2]
        short = _of_hub(called)
        for one in (name, called, short, re.sub(r"(?i)(llama[- ]?3)\.[13]", r"\1", short)):
            if found := find(one, names):
                return found
        if why := next((why for start, why in self.refused.items() if plain(short).startswith(plain(start))), ""):
            sizes = " and ".join(f"{_KINDS[kind]} of {self.span(kind)}" for kind in KINDS)
            raise InputError(
                f"--model: {name!r} is {why}, and how fast that is follows from no table: measure it, epd run; "
                f"{sizes} are answered for"
            )
        return named("--model", called or name, names, "of any other say --billion, --layers and --width", short)

    def sizes(self, kind: str) -> tuple[float, float]:
        """Return the fewest and the most active parameters (billions) of models of a kind that are answered for."""
        found = sorted(one["active_billion"] for one in self.models.values() if _is_sized(one, kind))
        return found[0] / BEYOND, found[-1] * BEYOND

    def span(self, kind: str) -> str:
        """Return these in words."""
        low, high = self.sizes(kind)
        return f"{low:g} to {high:g} billion {'' if kind == 'dense' else 'active '}parameters"

    def most_in_all(self, kind: str) -> float:
        """Return the most parameters (billions) in all, active or not, of models of a kind that are answered for."""
        found = [
            one.get("total_billion", one["active_billion"]) for one in self.models.values() if _is_sized(one, kind)
        ]
        return BEYOND * max(found)

    def reach(self, key: str) -> tuple[int, int]:
        """Return the fewest and the most layers, or the least and the largest width, that are answered for."""
        found = [one[key] for one in self.models.values()]
        return ceil(min(found) / BEYOND), int(max(found) * BEYOND)

    def lengths(self) -> tuple[float, float]:
        """Return the shortest and the longest sequence that is answered for, in tokens."""
        found = sorted(point.length for point in self.points if point.length)
        return found[0] / BEYOND, found[-1]

    def aged(self, kind: str, until: str, today: date) -> float:
        """Return the variance that the age of rows adds: of those that are not old none, of others as a random walk."""
        passed = months(until, today) if until else 0.0
        return self.ageing[kind] ** 2 * passed / AGEING_MONTHS if passed > OLD_MONTHS[kind] else 0.0

    def cards_called(self, option: str, name: str) -> list[str]:
        """Return the cards that a person, a driver or an offer calls so: several where the name does not
        distinguish them, the largest memory first. Raises InputError with the nearest names.
        """
        if not (found := names_of_cards.meant(name, self._cards)):
            raise self._unknown(option, name, self._cards, f"cards are {', '.join(self.cards)}")
        return sorted(found, key=lambda card: -self.cards[card]["memory_gb"])

    def card(self, option: str, name: str) -> str:
        """Return the card that is called so, of several the one that is taken (`taken`). Raises InputError."""
        return self.cards_called(option, name)[0]

    def several(self, name: str) -> tuple[int | None, str]:
        """Return of how many cards a name is (8xH100, H100:8, a machine of a cloud) and what one of them is called;
        None of a card alone.
        """
        if not names_of_cards.meant(name, self._cards):
            for count, card in names_of_cards.counted_in(name):
                if names_of_cards.meant(card, self._cards):
                    return count, card
        return None, name

    def taken(self, option: str, name: str) -> list[str]:
        """Return, in a line, which card is taken where a name means several; none where it means one."""
        first, *others = self.cards_called(option, name)
        return [f"{name}: read as {first}, and not as {' or '.join(others)}"] if others else []

    def left_out(self, option: str, name: str, providers: Mapping[str, str]) -> list[str]:
        """Return the provider, by all that providers are called, and its parts (RunPod, community), or the cards that
        are meant. Raises InputError.
        """
        if provider := find(name, dict(providers) | {one: one for one in providers.values()}):
            parts = [one for label, one in providers.items() if label.lower().startswith(f"{name.lower()}, ")]
            return [provider, *parts]
        if found := names_of_cards.meant(name, self._cards) or self._of_make(name):
            return found
        sellers = dict.fromkeys(providers.values())
        names = dict(providers) | self._cards
        raise self._unknown(option, name, names, f"it is one of {', '.join([*sellers, *self.cards])}")

    def _unknown(self, option: str, name: str, names: Mapping[str, str], otherwise: str) -> InputError:
        return names_of_cards.unknown(option, name, names, otherwise, "no data sheet of it is here", "--cards")

    def _of_make(self, name: str) -> list[str]:
        """Return the cards that are called by a word and a number, by the word: TPU, RTX."""
        start = plain(name)
        return [card for card in self.cards if len(start) > 1 and start.isalpha() and plain(card).startswith(start)]

    @property
    def _cards(self) -> dict[str, str]:
        return {card: card for card in self.cards} | dict(self.card_names)


#: What a hub's name says of how a model was made, tuned or packed: it is as fast as without.
_MADE_OF_IT = (
    "instruct", "chat", "base", "hf", "it", "pt", "thinking", "intermediate", "deduped", r"v[01]\.\d", "fp8", "bf16",
    "bnb", "awq", "gptq", "gguf", "unsloth",
)  # fmt: skip


def _is_sized(about: Mapping[str, Any], kind: str) -> bool:
    return about["kind"] == kind and "active_billion" in about


def _of_hub(name: str) -> str:
    """Return the name of a model on a hub, without its owner, without what was made of it."""
    short = re.sub(rf"(?i)[-_ ]({'|'.join(_MADE_OF_IT)})\b.*$", "", name)
    short = re.sub(r"(?i)^meta[- ]|(?<=2\.5)[- ](coder|math)", "", short)
    return re.sub(r"(?i)\s*\b([mb])illion\b", r"\1", short)


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
