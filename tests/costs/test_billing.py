from fractions import Fraction
from math import ceil, inf, nan

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scripts.costs import billing
from scripts.costs.billing import N1_TIERS, N2_TIERS, Rule

GCE = Rule(1, 60)
GCE_BEFORE_2017_09 = Rule(60, 600)
PER_HOUR_BEGUN = Rule(3600)

seconds = st.integers(0, 10**12).map(lambda microseconds: microseconds / 1e6)
increments = st.sampled_from([0.1, 0.25, 1.0, 6.0, 60.0, 600.0, 3600.0])
minimums = st.sampled_from([0.0, 60.0, 600.0])


def billed(used: object, rule: Rule) -> object:
    return billing.billed_seconds(used, rule.increment_seconds, rule.minimum_seconds)


@pytest.mark.parametrize(
    ("used", "rule", "expected"),
    [
        (0, GCE, 0),
        (0.0, PER_HOUR_BEGUN, 0),
        (1, GCE, 60),
        (60, GCE, 60),
        (60.000001, GCE, 61),
        (61, GCE, 61),
        (61.2, GCE, 62),
        (1, GCE_BEFORE_2017_09, 600),
        (600, GCE_BEFORE_2017_09, 600),
        (601, GCE_BEFORE_2017_09, 660),
        (1, PER_HOUR_BEGUN, 3600),
        (3600, PER_HOUR_BEGUN, 3600),
        (3601, PER_HOUR_BEGUN, 7200),
        (90, Rule(60), 120),
        (90, Rule(60, 100), 120),
        (30, Rule(60, 100), 100),
        (0.1 * 3 / 0.1, Rule(), 3),
        (2.1, Rule(0.3), 2.1),
        (0.1 + 0.2, Rule(0.1), 0.3),
        (3600.0000001, PER_HOUR_BEGUN, 3600),
        (1e-9, GCE, 0),
        (inf, GCE, inf),
    ],
)
def test_increments_begun_are_billed_and_a_minimum(used: float, rule: Rule, expected: float) -> None:
    assert billed(used, rule) == expected


def test_unknown_time_has_an_unknown_bill() -> None:
    assert np.isnan(billed(nan, GCE))
    assert np.isnan(billing.billed_seconds(100.0, nan, 0))
    assert np.isnan(billing.billed_seconds(100.0, 1, nan))


def test_rows_are_billed_each_by_its_rule_and_keep_their_index() -> None:
    rows = pd.DataFrame(
        {"used": [61.5, 61.5, nan, 0], "increment": [1, 3600, 1, 60], "minimum": [60, 0, 60, 600]}, index=[7, 3, 5, 1]
    )
    result = billing.billed_seconds(rows["used"], rows["increment"], rows["minimum"])
    pd.testing.assert_series_equal(result, pd.Series([62.0, 3600.0, nan, 0.0], index=[7, 3, 5, 1]), check_names=False)
    assert billing.billed_seconds(np.array([1.0, 100.5]), 1, 60).tolist() == [60, 101]


def test_nullable_columns_are_billed() -> None:
    result = billed(pd.Series([61.5, None], dtype="Float64"), GCE)
    assert result.iloc[0] == 62
    assert result.isna().tolist() == [False, True]


@pytest.mark.parametrize(
    ("used", "increment", "minimum", "named"),
    [
        (-1.0, 1, 0, "used_seconds is -1.0"),
        (np.array([3.0, -2.0, nan]), 1, 0, "used_seconds is -2.0"),
        (1.0, 0, 0, "increment_seconds is 0"),
        (1.0, np.array([1.0, -60.0]), 0, "increment_seconds is -60.0"),
        (1.0, 1, -1, "minimum_seconds is -1"),
    ],
)
def test_negative_times_are_refused(used: object, increment: object, minimum: object, named: str) -> None:
    with pytest.raises(ValueError, match=named):
        billing.billed_seconds(used, increment, minimum)


@pytest.mark.parametrize(
    ("rule", "named"),
    [
        ({"increment_seconds": 0}, "increment_seconds is 0"),
        ({"increment_seconds": -1}, "increment_seconds is -1"),
        ({"increment_seconds": nan}, "increment_seconds is nan"),
        ({"minimum_seconds": -0.5}, "minimum_seconds is -0.5"),
        ({"minimum_seconds": nan}, "minimum_seconds is nan"),
    ],
)
def test_rules_that_cannot_be_are_refused(rule: dict, named: str) -> None:
    with pytest.raises(ValueError, match=named):
        Rule(**rule)


@given(st.lists(seconds, min_size=1, max_size=20), increments, minimums)
def test_bill_is_the_exact_arithmetic_of_every_row(used: list[float], increment: float, minimum: float) -> None:
    result = billing.billed_seconds(np.array(used), increment, minimum)
    step = Fraction(str(increment))
    for time, bill in zip(used, result, strict=True):
        exact = max(ceil(Fraction(round(time * 1e6), 10**6) / step) * step, Fraction(minimum)) if time else 0
        assert bill == pytest.approx(float(exact), rel=1e-15)


@given(seconds, seconds, increments, minimums)
def test_bill_covers_the_use_grows_with_it_and_is_billed_as_itself(
    used: float, more: float, increment: float, minimum: float
) -> None:
    bill = billing.billed_seconds(used, increment, minimum)
    assert bill >= used
    assert bill - used < max(increment, minimum) + 1e-6
    assert billing.billed_seconds(used + more, increment, minimum) >= bill
    if minimum % increment == 0:
        assert billing.billed_seconds(bill, increment, minimum) == bill


@given(st.integers(1, 10**6), st.integers(1, 100))
def test_multiples_of_an_increment_are_not_billed_one_more(count: int, tenths: int) -> None:
    increment = tenths / 10
    assert billing.billed_seconds(count * increment, increment, 0) == pytest.approx(count * increment, rel=1e-12)


def test_cost_is_time_at_the_hourly_price() -> None:
    assert billing.cost_usd(1800, 0.5) == 0.25
    assert billing.cost_usd(np.array([3600, 0, 7200]), np.array([0.1, 0.1, 0.2])).tolist() == [0.1, 0, 0.4]


@pytest.mark.parametrize(
    ("part_of_month", "tiers", "expected"),
    [
        (0, N1_TIERS, 1),
        (0.1, N1_TIERS, 1),
        (0.25, N1_TIERS, 1),
        (0.5, N1_TIERS, 0.9),
        (0.75, N1_TIERS, 0.8),
        (1, N1_TIERS, 0.7),
        (1.02, N1_TIERS, 0.7),
        (0.25, N2_TIERS, 1),
        (0.5, N2_TIERS, 0.9339),
        (1, N2_TIERS, 0.8002),
    ],
)
def test_sustained_use_is_cheaper(part_of_month: float, tiers: tuple, expected: float) -> None:
    assert billing.sustained_use_share(part_of_month * 720, 720, tiers) == pytest.approx(expected, abs=1e-9)


def test_published_example_of_sustained_use() -> None:
    """n1-standard-1 at $0.0475, a month of 730 hours at 30 % off."""
    assert 730 * 0.0475 * billing.sustained_use_share(730) == pytest.approx(24.2725)
    assert billing.sustained_use_share(pd.Series([365, nan], index=[4, 2])).round(9).to_dict() == {
        4: 0.9,
        2: pytest.approx(nan, nan_ok=True),
    }


def test_negative_hours_are_refused() -> None:
    with pytest.raises(ValueError, match="hours is -1"):
        billing.sustained_use_share(np.array([5, -1]))


@given(st.floats(0, 730), st.floats(0, 730), st.sampled_from([N1_TIERS, N2_TIERS]))
def test_more_hours_cost_more_in_all_and_less_each(hours: float, more: float, tiers: tuple[float, ...]) -> None:
    shares = billing.sustained_use_share(np.array([hours, min(hours + more, 730)]), tiers=tiers)
    assert shares[1] <= shares[0] * (1 + 1e-12)
    assert hours * shares[0] <= min(hours + more, 730) * shares[1] * (1 + 1e-12)
    assert shares[1] >= sum(tiers) / len(tiers) - 1e-12


#: "Cheap cron" (2018): 2 minutes up per run; a month of 30 days; starting and stopping take a minute of a
#: function each; 10 GB of disk, two rules.
FUNCTIONS_USD = 2 * 0.000000463 * 10 * 60
FIXED_USD = 0.40 + 0.20


def cron(runs_per_day: int, rule: Rule) -> float:
    return billing.scheduled_usd_per_month(runs_per_day * 30, 120, 0.01, rule, FIXED_USD, FUNCTIONS_USD)


def test_cheap_cron_costs_what_was_published() -> None:
    assert round(cron(6, GCE), 2) == 0.76
    assert round(cron(24, GCE), 2) == 1.24


def test_old_minimum_of_ten_minutes_would_have_cost_what_was_published() -> None:
    extra = cron(6, GCE_BEFORE_2017_09) - cron(6, GCE)
    assert extra == pytest.approx(0.24)
    assert int(100 * extra / 0.76) == 31


def test_schedule_without_runs_costs_its_fixed_parts() -> None:
    costs = billing.scheduled_usd_per_month(np.array([0, 100]), 3600, 0.5, PER_HOUR_BEGUN, 2.0)
    assert costs.tolist() == [2, 52]
