"""Intervals end below what a card can reach, against SciPy's truncated normal and what the tables print."""

from datetime import date
from math import exp
from pathlib import Path

import pandas as pd
import pytest
from scipy.stats import truncnorm

from scripts.estimate import ceiling, question, rates
from scripts.workflow import estimates

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("place", [-2.9, -1.0, 0.0, 0.3, 2.0, 5.9])
def test_what_is_left_below_a_ceiling_is_a_truncated_normal(place: float) -> None:
    found = ceiling.below(9.0, 0.3, 9.0 + 0.3 * place)
    assert found is not None
    of = truncnorm(-float("inf"), place, loc=9.0, scale=0.3)
    assert [found.low, found.middle, found.high] == pytest.approx(of.ppf([0.1, 0.5, 0.9]), rel=1e-9)
    assert found.times == pytest.approx(of.std() / 0.3, rel=1e-6)
    assert found.high < 9.0 + 0.3 * place


def test_far_below_a_ceiling_nothing_is_cut_and_far_above_nothing_is_answered() -> None:
    found = ceiling.below(9.0, 0.3, 20.0)
    assert found == ceiling.below(9.0, 0.3, 30.0)
    assert found is not None
    assert (found.middle, found.times) == (pytest.approx(9.0), 1.0)
    assert ceiling.below(9.0, 0.1, 8.69) is None


def test_no_printed_row_comes_to_more_of_its_peak() -> None:
    """By the publishers' own count of TFLOPs where they print one, and by ours of tokens."""
    known = estimates.known()
    rows = pd.read_csv(ROOT / "reports" / "published" / "sources" / "language-models.csv")
    rows = rows[rows["precision"].fillna("").str.lower().isin(["bf16", "amp_bf16"])]
    printed = [
        row.model_tflops_per_card / known.cards[row.card]["peak_tflops"]["bf16"]
        for row in rows.itertuples()
        if row.card in known.cards and row.model_tflops_per_card > 0
    ]
    assert len(printed) > 150
    assert max(printed) < ceiling.MOST_OF_PEAK
    ours = [exp(one.tflops) / known.cards[one.card]["peak_tflops"][one.precision] for one in known.points]
    assert 0.6 < max(ours) < ceiling.MOST_OF_PEAK


@pytest.mark.parametrize("software", ["nemo", "", "llm-foundry"])
def test_no_quote_of_a_model_of_8_billion_promises_more_than_a_card_can(software: str) -> None:
    """Six times 8.03 billion parameters and the attention are 51.4 GFLOP a token: an A100 reaches 6,070 tokens a second
    at its peak of 312, of which no table has seven tenths.
    """
    known = estimates.known()
    asked = question.ask(known, tokens=2e9, model="Llama 3 8B", software=software)
    found = rates.rates(known, asked, [], date(2026, 11, 25))
    assert len(found.answers) > 5
    for one in found.answers:
        assert one.low < one.middle < one.high < 0.7 * known.cards[one.card]["peak_tflops"]["bf16"] / 51.4 * 1000


def test_what_was_measured_is_not_shifted_by_the_peak_of_its_card() -> None:
    """A rate a hundredth below the peak, known within 3 %: the middle stays, the upper end is the peak."""
    found = ceiling.up_to(9.0, 0.03, 9.01)
    assert (found.middle, found.high, found.times) == (9.0, 9.01, 1.0)
    assert found.low == pytest.approx(9.0 - 0.03 * 1.2815515655446004)
