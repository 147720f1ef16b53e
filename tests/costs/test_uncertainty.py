from itertools import product
from math import inf, nan

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from scripts.costs import uncertainty

quick = settings(deadline=None, max_examples=60)
samples = st.lists(st.integers(0, 20).map(float), min_size=1, max_size=12)
prices = st.floats(0, 5, allow_subnormal=False)
ranges = st.tuples(prices, prices).map(sorted)


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ([1], [2], 1),
        ([2], [1], 0),
        ([1], [1], 0.5),
        ([1, 3], [2], 0.5),
        ([1, 2, 3], [2, 3, 4], 7 / 9),
        ([1, 1], [1, 2, 0, inf], 0.625),
        ([1, nan], [2, nan, nan], 1),
        ([], [1], nan),
        ([1], [nan], nan),
    ],
)
def test_probability_that_a_run_is_cheaper(a: list, b: list, expected: float) -> None:
    assert uncertainty.probability_cheaper(a, b) == pytest.approx(expected, nan_ok=True)


@quick
@given(samples, samples)
def test_probability_is_the_share_of_pairs_and_mann_whitney(a: list[float], b: list[float]) -> None:
    probability = uncertainty.probability_cheaper(a, b)
    pairs = [(x < y) + 0.5 * (x == y) for x, y in product(a, b)]
    assert probability == pytest.approx(sum(pairs) / len(pairs))
    assert probability == pytest.approx(stats.mannwhitneyu(b, a).statistic / len(pairs))
    assert probability + uncertainty.probability_cheaper(b, a) == pytest.approx(1)


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        # (seconds, lowest price, highest price)
        (([1], 1, 2), ([1], 2, 3), 1),
        (([1], 1, 2), ([2], 1, 2), 1),
        (([1], 1, 3), ([1], 1, 3), 0.5),
        (([1], 1, 3), ([1], 2, 4), 0.875),
        (([1], 2, 4), ([1], 1, 3), 0.125),
        (([1], 2, 3), ([1], 1, 4), 0.5),
        (([2], 0, 1), ([1], 0, 1), 0.25),
        (([1], 2, 2), ([1], 1, 4), 2 / 3),
        (([1], 1, 4), ([1], 2, 2), 1 / 3),
        (([1], 2, 2), ([1], 1, 2), 0),
        (([1], 2, 2), ([1], 2, 3), 1),
        (([1], 2, 2), ([1], 2, 2), 0.5),
        (([1], 2, 2), ([1], 3, 3), 1),
        (([1], 0, 0), ([5], 0, 0), 0.5),
        (([1, 9], 1, 3), ([1], 2, 4), 0.4375),
        (([1, nan], 1, 3), ([nan, 1], 2, 4), 0.875),
        (([], 1, 3), ([1], 2, 4), nan),
        (([1], 1, 3), ([nan], 2, 4), nan),
    ],
)
def test_probability_with_price_ranges(a: tuple, b: tuple, expected: float) -> None:
    assert uncertainty.probability_cheaper_with_prices(*a, *b) == pytest.approx(expected, nan_ok=True)


@quick
@given(samples, ranges, samples, ranges)
def test_probability_with_price_ranges_is_that_of_prices_all_over_them(
    a: list[float], price_a: list[float], b: list[float], price_b: list[float]
) -> None:
    probability = uncertainty.probability_cheaper_with_prices(a, *price_a, b, *price_b)
    back = uncertainty.probability_cheaper_with_prices(b, *price_b, a, *price_a)
    assert probability + back == pytest.approx(1)
    middles = (np.arange(100) + 0.5) / 100
    costs_a = np.outer(a, price_a[0] + (price_a[1] - price_a[0]) * middles).ravel()
    costs_b = np.outer(b, price_b[0] + (price_b[1] - price_b[0]) * middles).ravel()
    assert probability == pytest.approx(uncertainty.probability_cheaper(costs_a, costs_b), abs=0.012)


@quick
@given(samples, st.floats(0.1, 5), samples, st.floats(0.1, 5))
def test_single_prices_are_the_limit_of_narrow_ranges(
    a: list[float], price_a: float, b: list[float], price_b: float
) -> None:
    fixed = uncertainty.probability_cheaper_with_prices(a, price_a, price_a, b, price_b, price_b)
    assert fixed == uncertainty.probability_cheaper(np.array(a) * price_a, np.array(b) * price_b)
    same = uncertainty.probability_cheaper_with_prices(a, 1, 1 + 1e-12, b, 1, 1 + 1e-12)
    assert same == pytest.approx(uncertainty.probability_cheaper(a, b), abs=1e-3)


@pytest.mark.parametrize("prices", [(2, 1, 1, 2), (1, 2, 2, 1), (-1, 1, 1, 2), (1, 2, nan, 3)])
def test_price_ranges_that_cannot_be_are_refused(prices: tuple) -> None:
    with pytest.raises(ValueError, match="the lowest first"):
        uncertainty.probability_cheaper_with_prices([1], *prices[:2], [1], *prices[2:])


@pytest.mark.parametrize(
    ("seconds", "prices", "expected"),
    [
        ([3600], (0.1, 0.2, 0.3), (0.1, 0.2, 0.3)),
        ([9000, 3600, 7200], (0.1, 0.2, 0.3), (0.1, 0.4, 0.75)),
        ([9000, nan, 3600], (0.2, 0.2, 0.2), (0.2, 0.35, 0.5)),
        ([], (0.1, 0.2, 0.3), (nan, nan, nan)),
    ],
)
def test_range_of_cost(seconds: list, prices: tuple, expected: tuple) -> None:
    assert uncertainty.cost_range(seconds, *prices) == pytest.approx(expected, nan_ok=True)


@pytest.mark.parametrize("prices", [(0.3, 0.2, 0.4), (0.1, 0.5, 0.4), (-0.1, 0.2, 0.3), (nan, 0.2, 0.3)])
def test_prices_out_of_order_are_refused(prices: tuple) -> None:
    with pytest.raises(ValueError, match="the lowest first"):
        uncertainty.cost_range([1], *prices)


@quick
@given(samples, st.lists(st.floats(0, 1), min_size=3, max_size=3).map(sorted))
def test_median_cost_lies_in_its_range(seconds: list[float], prices: list[float]) -> None:
    low, middle, high = uncertainty.cost_range(seconds, *prices)
    assert low <= middle <= high
