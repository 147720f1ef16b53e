"""One rate carried to other points, and machines picked by it, against points whose answer is known."""

from dataclasses import replace
from math import log

import pytest

from scripts.estimate import ageing, picks, transfers
from tests.estimate.test_linear import CARD, POINT

OTHERS = [replace(POINT, model=f"model {n}", rate=8000.0) for n in range(4)]


def test_a_point_is_asked_by_what_differs_and_never_across_software() -> None:
    own = [
        replace(POINT, model="own"),
        replace(POINT, model="own", card="H200"),
        replace(POINT, model="own", precision="fp8"),
        replace(POINT, model="own", length=8192.0),
        replace(POINT, model="own", software="MaxText", card="TPU v5p"),
    ]
    found = transfers.transfers([*OTHERS, *own], CARD)
    counts = {question: len(of) for question, of in found.items()}
    assert counts == {
        "another card": 2, "another precision": 2, "another length": 2, "another card and precision": 2,
    }  # fmt: skip


def test_the_same_share_of_the_peak() -> None:
    """An A100 has 312 of an H100's 989 TFLOP/s: 8,000 tokens there are 2,523.7 here."""
    found = transfers.same_share(POINT, replace(POINT, card="A100 80 GB", rate=None), CARD)
    assert found == pytest.approx(log(8000 * 312 / 989))


def test_a_model_twice_as_fast_everywhere_is_so_on_the_other_card_too() -> None:
    cards = [replace(one, card="A100 80 GB", rate=3000.0) for one in OTHERS]
    own = [replace(POINT, model="own", rate=16000.0), replace(POINT, model="own", card="A100 80 GB", rate=6000.0)]
    trials = transfers.transfers([*OTHERS, *cards, *own], CARD)["another card"]
    assert all(abs(one.error) < log(1.3) for one in trials if one.point.model == "own")


def test_the_machine_is_picked_by_rates_and_prices() -> None:
    """Four machines a card: an A100 at 3 USD and 3,000 tokens is cheaper than an H100 at 10 and 8,000."""
    points = [*OTHERS, *(replace(one, card="A100 80 GB", rate=3000.0) for one in OTHERS)]
    found = list(picks.picks(points, CARD, {"H100": [10.0, 11, 12, 13], "A100 80 GB": [3.0, 14, 15, 16]}))
    assert len(found) == 8
    assert all(one.machines == 8 and one.places["this model"] == 1 for one in found)
    assert all(one.regrets["this model"] == 0 for one in found)


def test_the_regret_is_what_the_wrong_machine_costs_more() -> None:
    """By the peak an H100 at 9 USD is cheaper than an A100 at 3; by the clock it costs 9/8000 for 3/3000."""
    points = [*OTHERS, *(replace(one, card="A100 80 GB", rate=3000.0) for one in OTHERS)]
    found = list(picks.picks(points, CARD, {"H100": [9.0] * 4, "A100 80 GB": [3.0] * 4}))
    assert {round(one.regrets["same share of the peak"], 6) for one in found} == {0.125}
    assert {one.places["same share of the peak"] for one in found} == {5}


def test_a_choice_among_few_is_none() -> None:
    points = [*OTHERS, *(replace(one, card="A100 80 GB", rate=3000.0) for one in OTHERS)]
    assert list(picks.picks(points, CARD, {"H100": [9.0], "A100 80 GB": [3.0]})) == []


def test_gains_are_of_the_same_row_half_a_year_later() -> None:
    releases = [
        (("row",), replace(POINT, published="2025-09", rate=100.0)),
        (("row",), replace(POINT, published="2025-12", rate=105.0)),
        (("row",), replace(POINT, published="2026-04", rate=120.0)),
        (("other row",), replace(POINT, published="2026-04", rate=999.0)),
        (("row",), replace(POINT, kind="moe", published="2026-04", rate=999.0)),
    ]
    assert ageing.gains(releases, "dense") == pytest.approx([log(1.2)])
