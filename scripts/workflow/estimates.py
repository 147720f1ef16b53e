"""What quotes of machines that nobody measured are made from: committed facts, prices, and what trials found."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date
from functools import cache
from pathlib import Path
from statistics import median
from typing import Any

from scripts.costs import book, books, offers, terms
from scripts.costs import cards as machines_of_cards
from scripts.estimate import memory
from scripts.estimate import owned as owned_cards
from scripts.estimate.known import Known, day
from scripts.estimate.owned import Owned
from scripts.estimate.points import Point, of_facts, releases
from scripts.storage import schemas
from scripts.storage.errors import InputError
from scripts.storage.files import read_csv, read_text

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ROOT / "reports" / "published" / "sources"
FACTS = SOURCES / "language-models.csv"

#: Fine-tunings whose memory is printed.
FINE_TUNINGS = SOURCES / "litgpt-fine-tuning.csv"

#: Speeds of classic nets that NVIDIA prints, beside Lambda's.
NVIDIAS_NETS = SOURCES / "deeplearningexamples.csv"
MODELS, CARDS = ROOT / "config" / "language_models.yaml", ROOT / "config" / "cards.yaml"
MACHINES = ROOT / "config" / "machines.csv"

#: What cards cost that are owned.
OWNED = ROOT / "config" / "owned.yaml"

#: What trials found: `make simulate` writes it.
TRIALS = ROOT / "reports" / "estimates.json"

#: The books of today's offers; of a machine the newest price counts.
BOOKS = ("cards-2026-11", "current", "listed", "accelerators", "a10g-2026-07")

#: The book at whose prices trials pick machines: it stays as it is.
TRIED_BOOK = "cards-2026-11"

#: All files that quotes are made from, as rules of Snakemake name them.
MADE_FROM = [
    *(str(path.relative_to(ROOT)) for path in (FACTS, FINE_TUNINGS, TRIALS, CARDS, MODELS, MACHINES, OWNED)),
    *(str(books.path(name)) for name in BOOKS),
    *books.TERMS,
]

#: Columns of the facts that points are made of; there are more.
_COLUMNS = (
    *("source", "published", "software", "task", "model", "card", "cards", "precision"),
    *("sequence_length", "tokens_per_second_per_card", "model_tflops_per_card"),
)


def nvidias_nets() -> list[dict[str, str]]:
    """Return the rows that NVIDIA prints of classic nets."""
    return [row for _, row in read_csv(NVIDIAS_NETS, cut=False)]


@cache
def rows() -> list[dict[str, str]]:
    """Return the committed facts, as their table has them. Raises InputError for a missing column."""
    found = [row for _, row in read_csv(FACTS, cut=False)]
    if missing := [name for name in _COLUMNS if not found or name not in found[0]]:
        raise InputError(f"{FACTS}:1: column {missing[0]} is missing")
    return found


def _facts() -> tuple[list[dict[str, str]], Mapping[str, Any], Mapping[str, Any], Mapping[str, str]]:
    cards = schemas.read_yaml(CARDS, "cards")
    return rows(), schemas.read_yaml(MODELS, "language-models")["models"], cards["cards"], cards["names"]


def points() -> list[Point]:
    """Return the points of the committed facts."""
    return of_facts(*_facts())


def all_releases() -> list[tuple[tuple[Any, ...], Point]]:
    """Return the points of all releases, each with what it has in common with its like in others."""
    return list(releases(*_facts()))


def trials() -> dict[str, Any]:
    """Return what trials found, as they were last made."""
    found: dict[str, Any] = schemas.read_json(read_text(TRIALS), TRIALS)
    return found


def known(found: Mapping[str, Any] | None = None) -> Known:
    """Return all that a quote is made from, but prices; `found` is what trials found, else as they were last made."""
    _, models, cards, names = _facts()
    found = trials() if found is None else found
    ageing = {kind: one["deviation"] for kind, one in found["ageing"].items()}
    asked = schemas.read_yaml(MODELS, "language-models")
    of = Known(points(), cards, names, models, found["factors"], ageing, asked["others"], asked["refused"])
    return replace(of, memory=memory.fit(_runs(of), of.askable), off_logs=_off_logs(found.get("kept_back", ())))


#: Fewer results say nothing of a card.
_FEWEST_RESULTS = 3


def _off_logs(kept_back: Sequence[Mapping[str, Any]]) -> dict[tuple[str, str], float]:
    """Return of cards and precisions, most of whose results in MLPerf's logs lie outside the interval, how many times
    as fast they were said to be, in the median.
    """
    results: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for one in kept_back:
        if one["is_whole"]:
            results.setdefault((one["card"], one["precision"]), []).append(one)
    return {
        key: median(one["said"] / one["logged"] for one in of)
        for key, of in results.items()
        if len(of) >= _FEWEST_RESULTS and 2 * sum(one["low"] <= one["logged"] <= one["high"] for one in of) < len(of)
    }


def _runs(known: Known) -> list[memory.Run]:
    """Return the trainings that were printed to run, or to run out of memory."""
    tuned = [row for _, row in read_csv(FINE_TUNINGS)]
    ran = memory.of_speeds(rows(), known.model, known.cards, known.card_names)
    return [*memory.of_fine_tunings(tuned, known.model), *ran]


def offered(names: Sequence[str] = BOOKS) -> dict[str, list[dict[str, Any]]]:
    """Return the rows of offers of books by card, as `costs.offers` has them, in regions as people call them."""
    cards = schemas.read_yaml(CARDS, "cards")
    found: dict[str, list[dict[str, Any]]] = {card: [] for card in cards["cards"]}
    for name, rows in by_card(names).items():
        card = cards["names"].get(name, name)
        if card in found:
            found[card].extend(row | {"region": offers.region_name(row["region"])} for row in rows)
    return found


def by_card(names: Sequence[str] = BOOKS) -> dict[str, list[dict[str, Any]]]:
    """Return the rows of offers of books by card, as offers call it: also those that no data sheet is kept of."""
    priced = [row for name in names for row in book.read([books.path(name)])]
    machines = [*machines_of_cards.machines(), *machines_of_cards.named_by_cards(priced)]
    found: dict[str, list[dict[str, Any]]] = {}
    for row in offers.newest(priced, machines, terms.read_terms()):
        found.setdefault(row["card"], []).append(row)
    return found


def owned(known: Known, mine: Path | None = None) -> dict[str, Owned]:
    """Return what an hour of cards costs that are owned; those of a person's own file stand for our examples."""
    found = owned_cards.owned(known, schemas.read_yaml(OWNED, "owned"), str(OWNED.relative_to(ROOT)), True)
    return found | (owned_cards.owned(known, schemas.read_yaml(mine, "owned"), str(mine)) if mine else {})


def newest_price(rows: Mapping[str, Sequence[Mapping[str, Any]]]) -> date:
    """Return the day of the newest price of `offered`: what is made again later says the same."""
    return day(max(row["as_of"] for of in rows.values() for row in of))


#: What trials need of a card.
_FIGURES = ("peak_tflops", "memory_gb", "bandwidth_gb_per_second", "link_gb_per_second")


def inputs_sha256() -> str:
    """Return a checksum of what trials are made from: names that people use, and other models, are no part of it."""
    _, _, cards, _ = _facts()
    figures = {name: [about[key] for key in _FIGURES] for name, about in cards.items()}
    texts = [read_text(FACTS), repr(points()), repr(figures), read_text(books.path(TRIED_BOOK))]
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()
