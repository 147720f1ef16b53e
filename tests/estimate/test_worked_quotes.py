"""Eleven quotes, their dollars worked out by hand from a row of the price book, the rule of its provider, and a rate.

The rate of each is that of its own card, so that what is said is that rate within its noise; hours and dollars are
then arithmetic: tokens / (rate x cards of the machine) seconds, each increment that is begun, at least the minimum, at
the price of the machine. Prices and rules below are typed from `config/prices/cards-2026-11.csv` and `billing.csv`.
"""

from datetime import date
from math import ceil
from typing import Any

import pytest

from scripts.estimate import answer, question
from scripts.workflow import estimates

TODAY = date(2026, 11, 25)

#: What is asked: model, card, tokens, precision, the rate that is known, cards (None: of the machine as it is).
#: What is expected: provider, machines, cards of one, USD an hour of one, increment and minimum (s).
QUOTES: dict[str, tuple[tuple[Any, ...], tuple[Any, ...]]] = {
    # 42.4 GB of 2.65 billion parameters fit in one card; 2e9 / 20,000 = 100,000 s = 27.78 h at 3.20: 88.9 USD
    "H100, one card": (
        ("MPT 3b", "H100", 2e9, "bf16", 20_000, None), ("hyperstack", 1, 1, 3.2, 1, 0)),
    # 128.5 GB of 8.03 billion, of 72 a card: two; 2e9 / (10,400 x 2) = 96,154 s = 26.71 h at 6.40: 170.9 USD
    "H100, as many as hold it": (
        ("Llama 3 8B", "H100", 2e9, "bf16", 10_400, None), ("hyperstack", 2, 1, 3.2, 1, 0)),
    # 24,038 s of eight, listed by the card: 6.677 h at 25.60: 170.9 USD
    "H100, eight cards": (
        ("Llama 3 8B", "H100", 2e9, "bf16", 10_400, 8), ("hyperstack", 8, 1, 3.2, 1, 0)),
    # 1e9 / 10,000 = 100,000 s of a card = 27.78 h at 1.79: 49.7 USD
    "A100 of 80 GB": (
        ("MPT 3b", "A100 80 GB", 1e9, "bf16", 10_000, None), ("runpod-secure", 1, 1, 1.79, 1, 0)),
    # 1e9 / 15,000 = 66,667 s = 18.52 h, by the minute begun, at 1.99: 36.9 USD
    "A100 of 40 GB, by the minute": (
        ("MPT 1b", "A100 40 GB", 1e9, "bf16", 15_000, None), ("lambda", 1, 1, 1.99, 60, 0)),
    # 1e5 / 15,000 = 6.7 s: a minute is begun, 1.99 / 60 = 0.0332 USD
    "A100 of 40 GB, for seconds": (
        ("MPT 1b", "A100 40 GB", 1e5, "bf16", 15_000, None), ("lambda", 1, 1, 1.99, 60, 0)),
    # eight cards for 0.8 s: AWS bills a minute of 21.957642 (0.366 USD)
    "A100 of 40 GB, eight for seconds": (
        ("MPT 1b", "A100 40 GB", 1e5, "bf16", 15_000, 8), ("aws", 1, 8, 21.957642, 1, 60)),
    # 116 GB of 7.25 billion fit in 141; 3e9 / 14,000 = 214,286 s = 59.52 h at 3.99: 237.5 USD
    "H200, FP8": (
        ("Mistral 7B", "H200", 3e9, "fp8", 14_000, None), ("hyperstack", 1, 1, 3.99, 1, 0)),
    # 1e10 / 25,000 = 400,000 s = 111.1 h at 6.00: 666.7 USD
    "B200, FP8": (
        ("Llama 3 8B", "B200", 1e10, "fp8", 25_000, None), ("hyperstack", 1, 1, 6.0, 1, 0)),
    # 1e12 / (4,900 x 256) = 797,194 s = 221.4 h of 64 hosts of four at 42.00: 595,238 USD
    "GB200, MXFP8, 256 cards": (
        ("DeepSeek V3", "GB200", 1e12, "mxfp8", 4_900, 256), ("coreweave", 64, 4, 42.0, 1, 0)),
    # 671 x 16 = 10,736 GB, of 167.4 a card: 65 cards, 17 hosts of four; 1e11 / (4,900 x 68) = 83.4 h: 59,524 USD
    "GB200, MXFP8, as many as hold it": (
        ("DeepSeek V3", "GB200", 1e11, "mxfp8", 4_900, None), ("coreweave", 17, 4, 42.0, 1, 0)),
}  # fmt: skip


@pytest.fixture(scope="module")
def offered() -> dict[str, list[dict[str, Any]]]:
    return estimates.offered([estimates.TRIED_BOOK])


@pytest.mark.slow
@pytest.mark.parametrize("name", QUOTES)
def test_dollars_are_those_of_the_price_books_row(name: str, offered: dict[str, list[dict[str, Any]]]) -> None:
    (model, card, tokens, precision, rate, cards), (provider, machines, size, usd_per_hour, step, least) = QUOTES[name]
    known = estimates.known()
    asked = question.ask(known, model=model, tokens=tokens, precision=precision)
    own = question.measured(known, asked, "--on", f"{card}={rate}")
    found = answer.answer(known, offered, asked, [own], cards, TODAY)
    quoted = next(one for one in found["answers"] if one["card"] == card)
    said = quoted["tokens_per_second_per_card"]
    assert said["middle"] == pytest.approx(rate, rel=0.04)
    offer = quoted["on_demand"]["cheapest"]
    assert (offer["provider"], offer["machines"], offer["cards"]) == (provider, machines, size)
    for end, of in (("cheapest", "middle"), ("low", "high"), ("high", "low")):
        seconds = tokens / (said[of] * size * machines)
        billed = max(least, ceil(seconds / step - 1e-9) * step)  # a rate as given may make whole seconds
        assert quoted["on_demand"]["usd"][end] == pytest.approx(machines * usd_per_hour * billed / 3600, rel=1e-6)
    assert quoted["hours"]["middle"] == pytest.approx(tokens / (said["middle"] * size * machines) / 3600)


def test_the_books_rows_are_as_typed_here() -> None:
    """Were a price of the book mended, they would have to be worked out anew."""
    rows = {
        (row["provider"], int(row["cards"]), card): row["usd_per_hour"]
        for card, of in estimates.offered([estimates.TRIED_BOOK]).items()
        for row in of
        if row["purchase"] == "on-demand"
    }
    for (_, card, *_), (provider, _, size, usd_per_hour, _, _) in QUOTES.values():
        assert rows[provider, size, card] == usd_per_hour


def test_every_machine_of_the_book_says_which_cards_it_has() -> None:
    from scripts.costs import book, books, offers
    from scripts.storage.files import read_csv

    known = {(row["provider"], row["item"]) for _, row in read_csv(estimates.MACHINES, offers.COLUMNS[:5])}
    there = {(row["provider"], row["item"]) for row in book.read([books.path(estimates.TRIED_BOOK)])}
    assert there - known == set()


@pytest.mark.slow
def test_the_median_and_the_dearest_are_of_all_offers(offered: dict[str, list[dict[str, Any]]]) -> None:
    """An A100 of 40 GB is offered twice: Lambda's at 1.99, and AWS's eight at 21.957642, 2.7447 each."""
    known = estimates.known()
    asked = question.ask(known, model="MPT 1b", tokens=1e9)
    found = answer.answer(
        known, offered, asked, [question.measured(known, asked, "--on", "A100 40 GB=15000")], None, TODAY
    )
    bill = next(one for one in found["answers"] if one["card"] == "A100 40 GB")["on_demand"]
    assert bill["offers"] == 2
    assert bill["usd"]["dearest"] / bill["usd"]["cheapest"] == pytest.approx(21.957642 / 8 / 1.99, rel=1e-3)
    assert bill["usd"]["median"] == pytest.approx((bill["usd"]["cheapest"] + bill["usd"]["dearest"]) / 2)
