from math import comb, inf, nan
from statistics import median

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from scripts.analysis import statistics

runs = st.lists(st.integers(1, 20).map(float), min_size=1, max_size=5)

SLOW = [10.0, 10.1, 10.2, 10.3, 10.4, 10.5]


@pytest.mark.parametrize(
    ("values", "expected"),
    [([], None), ([3], None), ([3, nan], None), ([2, 2], 0), ([9, 10, 11], 0.2), ([nan, 8, 10, 10, 14], 0.6)],
)
def test_spread_is_the_range_over_the_median(values: list[float], expected: float | None) -> None:
    assert statistics.spread(values) == pytest.approx(expected)


def test_cell_is_unstable_only_above_the_limit_and_never_for_one_run() -> None:
    assert not statistics.is_unstable([9, 10, 11], 0.2)
    assert statistics.is_unstable([9, 10, 11.1], 0.2)
    assert not statistics.is_unstable([9], 0)


@pytest.mark.parametrize(
    ("seconds", "mean", "dropped"),
    [
        ([], None, ()),
        ([nan], None, ()),
        ([4, 8], 6, ()),
        ([1, 2, 3, 100], 26.5, ()),
        ([100, 3, 1, 2, 4], 3, (2, 0)),
        ([100, 3, nan, 2, 4], 27.25, ()),
        ([100, 3, nan, 2, 4, 5], 4, (3, 0)),
        ([7, 7, 7, 7, 7], 7, (0, 4)),
        ([5, 6, inf, 7, 8], 7, (0, 2)),  # one that did not converge may be the slowest
        ([5, inf, inf, 7, 8], inf, (0, 2)),
    ],
)
def test_fastest_and_slowest_are_dropped_from_five_runs_on(seconds: list, mean: float | None, dropped: tuple) -> None:
    assert statistics.trimmed(seconds) == (mean, dropped)


@pytest.mark.parametrize(
    ("n", "confidence", "expected"),
    [
        (0, 0.95, None),
        (1, 0.95, None),
        (5, 0.95, None),
        (5, 0.93, (1, 5, 0.9375)),
        (5, 0.9375, (1, 5, 0.9375)),
        (6, 0.95, (1, 6, 0.96875)),
        (7, 0.95, (1, 7, 0.984375)),
        (8, 0.95, (1, 8, 0.9921875)),
        (9, 0.95, (2, 8, 0.9609375)),
        (10, 0.95, (2, 9, 0.978515625)),
        (20, 0.95, (6, 15, 0.9586105346679688)),
        (2, 0.5, (1, 2, 0.5)),
        (3, 0.01, (1, 3, 0.75)),
    ],
)
def test_interval_of_the_median(n: int, confidence: float, expected: tuple | None) -> None:
    values = list(range(n, 0, -1))
    assert statistics.median_interval(values, confidence) == expected
    assert statistics.median_interval([*values, nan], confidence) == expected


@pytest.mark.parametrize("confidence", [0, 1, -0.1, 95, nan])
def test_confidence_that_cannot_be_is_refused(confidence: float) -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        statistics.median_interval([1, 2, 3], confidence)


@given(st.integers(2, 200), st.floats(0.3, 0.999))
def test_coverage_is_that_of_the_binomial_and_no_closer_pair_has_it(n: int, confidence: float) -> None:
    found = statistics.median_interval(range(1, n + 1), confidence)
    whole = 1 - 2 * comb(n, 0) / 2**n
    if found is None:
        assert whole < confidence
        return
    low, high, coverage = found
    assert low + high == n + 1
    tosses = stats.binom(n, 0.5)
    assert coverage == pytest.approx(tosses.cdf(high - 1) - tosses.cdf(low - 1))
    assert coverage >= confidence
    assert low + 1 >= high - 1 or tosses.cdf(high - 2) - tosses.cdf(low) < confidence


@given(st.lists(st.floats(-1e6, 1e6), min_size=6, max_size=50))
def test_median_lies_in_its_interval(values: list[float]) -> None:
    found = statistics.median_interval(values)
    assert found is not None
    assert found[0] <= median(values) <= found[1]


def test_interval_covers_the_median_as_often_as_it_says() -> None:
    random = np.random.default_rng(7)
    draws = np.sort(random.lognormal(size=(20_000, 9)), axis=1)  # median 1, far from normal
    low, high, coverage = statistics.median_interval(range(9))
    covered = np.mean((draws[:, int(low)] <= 1) & (draws[:, int(high)] >= 1))
    assert covered == pytest.approx(coverage, abs=4 * (coverage * (1 - coverage) / 20_000) ** 0.5)
