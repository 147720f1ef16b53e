"""What the linear model makes of points, by rules that hold for any such model."""

from dataclasses import replace
from math import log

import numpy as np
import pytest

from scripts.estimate import linear, simple
from scripts.estimate.points import Point
from tests.estimate.test_points import CARDS

CARD = CARDS["cards"]
POINT = Point("A", "A", "dense", 8, 8, "H100", "bf16", "llm-foundry", "pretrain", 4096, 50, 8000)


def test_without_tables_the_data_sheet_speaks() -> None:
    """An H100 in bf16 does 396 TFLOP/s: 7,920 tokens of 50 GFLOP."""
    expected, deviation = linear.predict(linear.fit([], CARD), [POINT])
    assert expected[0] == pytest.approx(log(7920))
    assert deviation[0] > 0.3


def test_a_measured_point_is_believed_by_its_own_noise() -> None:
    fast = replace(POINT, rate=12000)
    expected, deviation = linear.predict(linear.fit([], CARD), [POINT], [fast])
    assert abs(expected[0] - log(12000)) < 0.02
    assert linear.MEASURED < deviation[0] < 0.1


def test_a_point_says_less_of_another_card_and_still_less_of_another_arithmetic() -> None:
    asked = [POINT, replace(POINT, card="A100 80 GB"), replace(POINT, card="B200", precision="mxfp8")]
    _, deviations = linear.predict(linear.fit([], CARD), asked, [POINT])
    assert list(deviations) == sorted(deviations)


def test_tables_first_and_a_point_after_is_as_both_at_once() -> None:
    """Conditioning may be done in steps, where the point is as noisy as the tables' own."""
    table = [replace(POINT, model="B", family="B", rate=9000), replace(POINT, model="C", family="C", rate=7000)]
    own = replace(POINT, rate=10000)
    asked = replace(POINT, card="H200")
    step, _ = linear.predict(linear.fit(table, CARD), [asked], [own])
    both, _ = linear.predict(linear.fit([], CARD), [asked], [*table, own])
    assert step[0] == pytest.approx(both[0], abs=0.01)


def test_unseen_software_shares_what_is_not_known_of_it() -> None:
    """Its deviation is that of software, and one measured point takes most of it away."""
    table = [replace(POINT, model=f"model {n}", rate=8000 + 10 * n) for n in range(20)]
    fitted = linear.fit(table, CARD)
    other = replace(POINT, software="other")
    (seen, unseen) = linear.predict(fitted, [POINT, other])[1]
    assert unseen**2 - seen**2 > 0.15**2
    assert linear.predict(fitted, [replace(other, card="H200")], [other])[1][0] < unseen / 1.5


def test_columns_are_ones_for_what_a_point_is() -> None:
    names = list(linear.columns(CARD))
    active = {name for name, value in zip(names, linear.design([POINT], CARD)[0], strict=True) if ":" in name and value}
    is_one_of = {"kind: dense", "software: llm-foundry", "software x kind: llm-foundry x dense", "card: H100"}
    assert active == is_one_of | {"attention by card: H100"}


def test_size_and_attention_count_on_each_card_by_themselves() -> None:
    """20 billion are 2.5 times 8; 1 of 49 GFLOP is for no parameter; what is below a billion counts as a billion."""
    names = list(linear.columns(CARD))
    points = [replace(POINT, active_billion=billion, gflop=6.125 * billion) for billion in (20, 0.5)]
    large, small = (dict(zip(names, row, strict=True)) for row in linear.design(points, CARD))
    assert large["size above 1 billion by card: H100"] == pytest.approx(log(2.5))
    assert small["size above 1 billion by card: H100"] == pytest.approx(log(1 / 8))
    assert large["attention by card: H100"] == pytest.approx(1 / 49)
    assert large["size above 1 billion by card: H200"] == large["attention by card: H200"] == 0


def test_the_simple_rule_is_the_median_of_models() -> None:
    """Of 8,000, 9,000 and 12,000 tokens it is 9,000, however often the fastest was timed."""
    table = [replace(POINT, model=str(rate), rate=rate) for rate in (8000, 9000, 12000, 12000, 12000)]
    assert np.exp(simple.predict(table, POINT, CARD)) == pytest.approx(9000)


def test_a_calculator_takes_two_fifths_of_the_peak() -> None:
    assert np.exp(simple.flat(POINT, CARD)) == pytest.approx(0.4 * 989 * 1000 / 50)
