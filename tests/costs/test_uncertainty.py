from math import nan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scripts.costs import uncertainty

samples = st.lists(st.integers(0, 20).map(float), min_size=1, max_size=12)
prices = st.floats(0, 5, allow_subnormal=False)
ranges = st.tuples(prices, prices).map(sorted)


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


def test_error_of_an_extrapolation_widens_the_ends_and_moves_no_middle() -> None:
    ends = [1800, 3600, 4500], [7200, 14400, 18000]
    assert uncertainty.cost_range([3600, 7200, 9000], 1, 1, 1, ends) == pytest.approx((0.5, 2.0, 5.0))
    for wrong in (([2.0], [3.0]), ([0.5], [0.9]), ([-1.0], [1.0])):
        with pytest.raises(ValueError, match="what encloses the runs is allowed"):
            uncertainty.cost_range([1], 1, 1, 1, wrong)


def test_what_takes_longer_is_billed_anew() -> None:
    """A minute at least: 30 and 50 s by the second; 5 s are billed besides of the third; the last runs in a row."""
    runs = {
        "used_seconds": [30.0, 50.0, 70.0, 30.0],
        "paid_seconds": [60.0, 60.0, 75.0, 30.0],
        "increment_seconds": [1.0, 1.0, 1.0, nan],
        "minimum_seconds": [60.0, 60.0, 60.0, nan],
        "in_a_row": [False, False, False, True],
    }
    assert uncertainty.paid_if(runs, 1.5).tolist() == [60.0, 75.0, 110.0, 45.0]
    assert uncertainty.paid_if(runs, 0.5).tolist() == [60.0, 60.0, 65.0, 15.0]


@given(samples, st.lists(st.floats(0, 1), min_size=3, max_size=3).map(sorted))
def test_median_cost_lies_in_its_range(seconds: list[float], prices: list[float]) -> None:
    low, middle, high = uncertainty.cost_range(seconds, *prices)
    assert low <= middle <= high
