"""A price is of an offer: a page says from what to what its cards are offered, and with which it reckons."""

from dataclasses import replace

import pandas as pd
import pytest

from scripts.analysis import trainings
from scripts.costs.cards import Offer
from scripts.pages import offers, report
from tests.made import STUDY, inputs, offer, price_book, run, runs
from tests.reading import Read

CARD = "H100 SXM"
MACHINE = {"label": "8 × H100", "gpus": {"model": CARD, "count": 8}, "rent": {"provider": "cloud", "items": {"box": 1}}}
ASKED = {"aws": 6.88, "lambda": 4.0, "hyperstack": 3.2, "vast": 1.8, "azure": 12.29}


def made(card: str = CARD, **given):
    """Return a page whose machine costs 32 USD an hour, beside the offers of four clouds and a market place."""
    asked = [
        Offer(card, 8, provider, "8x", "", "on-demand", usd, "2026-09-01", "a list") for provider, usd in ASKED.items()
    ]
    study = STUDY | {
        "machines": {"h100": MACHINE},
        "price": "on-demand",
        "prices": {"on-demand": {"purchase": "on-demand"}},
        "base": {},
    }
    rows = runs(run(hardware="h100"))
    return inputs(study, rows, {"h100": MACHINE}, price_book(offer("box", 32.0)), offered={card: asked}, **given)


def test_offers_are_from_the_lowest_to_the_highest_of_clouds() -> None:
    (row,) = offers.context(made())["offers"]
    assert (row["lowest"], row["provider"], row["as_of"]) == (3.2, "Hyperstack", "2026-09-01")
    assert (row["median"], row["highest"], row["count"]) == (pytest.approx((4.0 + 6.88) / 2), 12.29, 4)
    assert (row["market"], row["here"]) == ((1.8, "Vast.ai"), (4.0, 4.0))


def test_page_of_few_cards_begins_with_them() -> None:
    text = Read(report.page(made())).text
    assert "8 × H100 SXM from 3.20 (Hyperstack, 2026-09-01) to 12.3, median 5.44 of 4, here 4.00" in text
    assert "Offers of these cards" in text


def test_offers_are_of_as_many_cards_as_the_machine_has() -> None:
    """A machine of one card makes up no larger one, but in a list by the card."""
    one = [Offer(CARD, 1, provider, "1x", "", "on-demand", usd, "2026-09-01", "") for provider, usd in ASKED.items()]
    (row,) = offers.context(replace(made(), offered={CARD: one}))["offers"]
    assert (row["provider"], row["count"]) == ("Hyperstack", 1)
    assert offers.context(made("B200"))["offers"] == [], "nobody offers the card of the machine"


def test_an_offer_alone_is_no_range_and_prices_of_years_ago_are_beside_none() -> None:
    asked = [Offer(CARD, 8, "aws", "8x", "", "on-demand", 6.88, "2026-09-01", "a list")]
    alone = replace(made(), offered={CARD: asked})
    assert offers.context(alone)["offers_words"].endswith("8 × H100 SXM 6.88 (AWS, 2026-09-01 alone), here 4.00.")
    old = replace(alone, prices=alone.prices.assign(price_as_of="2018-02"))
    assert (offers.context(old)["offers_words"], len(offers.context(old)["offers"])) == ("", 1)


def generations(usd: float) -> pd.DataFrame:
    """A newer card of half the hours whose hour costs so many times that of the older one."""
    row = {"new": "new card", "old": "old card", "label": "BERT", "hours": 0.5, "told_hours": trainings.LESS}
    told = trainings.LESS if usd < 2 else ""
    row |= {"usd": usd / 2, "told_usd": told, "new_results": 9, "old_results": 9}
    return pd.DataFrame([row | {"pays_share": 1.8 / usd, "dearer_share": 2.2 / usd}])


def test_newer_card_pays_below_a_multiple_of_the_older_at_each_price() -> None:
    """It is clearly cheaper below 1.8 times the older one's price, whatever that is."""
    for usd in (3.0, 1.5):
        answer = trainings.newer_pay(generations(usd))
        assert answer is not None
        (flip,) = answer.flips
        assert (flip.even, flip.below, flip.now) == pytest.approx((2.0, 1.8, usd))
