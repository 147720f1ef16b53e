from math import inf, nan

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scripts.costs import outcomes

positive = st.floats(1e-3, 1e6)


def test_office_study_to_imagenet() -> None:
    """ResNet50, batches of 64: 153.6 million samples at 947 per second on the box of $1.1028."""
    assert outcomes.seconds_to_samples(153_600_000, 947) == pytest.approx(162_196.41)
    assert outcomes.usd_to_samples(153_600_000, 947, 1.1028) == pytest.approx(49.6861, abs=1e-4)


@pytest.mark.parametrize(
    ("usd_per_hour", "samples_per_second", "per_million", "per_usd"),
    [
        (0.36, 100, 1.0, 1e6),
        (3.6, 1000, 1.0, 1e6),
        (0.72, 100, 2.0, 5e5),
        (0, 100, 0, inf),
        (0.36, 0, inf, 0),
        (nan, 100, nan, nan),
        (0.36, nan, nan, nan),
    ],
)
def test_cost_per_sample(usd_per_hour: float, samples_per_second: float, per_million: float, per_usd: float) -> None:
    assert outcomes.usd_per_million_samples(usd_per_hour, samples_per_second) == pytest.approx(per_million, nan_ok=True)
    assert outcomes.samples_per_usd(usd_per_hour, samples_per_second) == pytest.approx(per_usd, nan_ok=True)


def test_columns_keep_their_index() -> None:
    prices = pd.Series([0.36, 0.72], index=["k80", "p100"])
    assert outcomes.usd_per_million_samples(prices, 100.0).to_dict() == pytest.approx({"k80": 1.0, "p100": 2.0})
    assert outcomes.relative(prices, prices["k80"]).to_dict() == pytest.approx({"k80": 1.0, "p100": 2.0})


@given(positive, positive)
def test_samples_per_dollar_are_the_inverse_of_dollars_per_sample(usd_per_hour: float, speed: float) -> None:
    per_million = outcomes.usd_per_million_samples(usd_per_hour, speed)
    assert per_million * outcomes.samples_per_usd(usd_per_hour, speed) == pytest.approx(1e6)
    assert outcomes.usd_to_samples(1e6, speed, usd_per_hour) == per_million


@pytest.mark.parametrize(
    ("value", "base", "expected"), [(3, 2, 1.5), (2, 2, 1), (1, 0, inf), (nan, 1, nan), (1, nan, nan)]
)
def test_relative_to_a_base(value: float, base: float, expected: float) -> None:
    assert outcomes.relative(value, base) == pytest.approx(expected, nan_ok=True)


def epochs(run: str, *rows: tuple[float, float], samples: int = 100) -> pd.DataFrame:
    return pd.DataFrame(
        [{"run": run, "epoch": i, "elapsed": s, "samples": samples, "acc": v} for i, (s, v) in enumerate(rows)]
    )


def test_target_is_reached_at_the_end_of_the_first_epoch_that_has_it() -> None:
    table = outcomes.to_target(
        pd.concat(
            [
                epochs("late", (10, 0.1), (8, 0.5), (8, 0.9), (8, 0.95)),
                epochs("never", (10, 0.1), (8, 0.89999)),
                epochs("at once", (10, 0.9), (8, 0.1)),
                epochs("and back", (10, 0.1), (8, 0.91), (8, 0.5), (8, 0.92)),
            ]
        ),
        "acc",
        0.9,
        True,
    )
    assert table.index.name == "run"
    assert table.to_dict("index") == {
        "late": {"epoch": 2, "seconds": 26, "samples": 300},
        "never": {"epoch": pytest.approx(nan, nan_ok=True)}
        | dict.fromkeys(("seconds", "samples"), pytest.approx(nan, nan_ok=True)),
        "at once": {"epoch": 0, "seconds": 10, "samples": 100},
        "and back": {"epoch": 1, "seconds": 18, "samples": 200},
    }
    assert table.index.to_list() == ["late", "never", "at once", "and back"]


def test_lower_may_be_better() -> None:
    table = outcomes.to_target(epochs("a", (1, 2.5), (1, 0.3), (1, 0.1)), "acc", 0.3, False)
    assert table.loc["a"].to_list() == [1, 2, 200]


def test_epochs_may_come_in_any_order() -> None:
    ordered = pd.concat([epochs("a", (1, 0.1), (2, 0.5), (4, 0.9)), epochs("b", (8, 0.9))], ignore_index=True)
    mixed = ordered.iloc[[2, 3, 0, 1]]
    pd.testing.assert_frame_equal(
        outcomes.to_target(mixed, "acc", 0.5, True), outcomes.to_target(ordered, "acc", 0.5, True)
    )


def test_epoch_without_a_time_or_a_value() -> None:
    untimed = outcomes.to_target(epochs("a", (nan, 0.1), (2, 0.9), (2, 0.9)), "acc", 0.9, True)
    assert untimed.loc["a"].to_list() == pytest.approx([1, nan, 200], nan_ok=True)
    unknown = outcomes.to_target(epochs("a", (1, nan), (2, 0.9)), "acc", 0.9, True)
    assert unknown.loc["a"].to_list() == [1, 3, 200]


def test_nullable_columns_are_followed() -> None:
    table = outcomes.to_target(epochs("a", (1, nan), (2, 0.9)).convert_dtypes(), "acc", 0.9, True)
    assert table.loc["a"].to_list() == [1, 3, 200]
    assert {str(kind) for kind in table.dtypes} == {"float64"}


def test_no_epochs_reach_nothing() -> None:
    assert len(outcomes.to_target(epochs("a", (1, 1)).iloc[:0], "acc", 0.9, True)) == 0


@given(st.lists(st.lists(st.tuples(st.integers(1, 9), st.integers(0, 9)), min_size=1, max_size=6), max_size=4))
def test_target_is_that_of_a_loop(runs: list[list[tuple[int, int]]]) -> None:
    table = outcomes.to_target(
        pd.concat([epochs(str(i), *run) for i, run in enumerate(runs)] or [epochs("none", (1, 1)).iloc[:0]]),
        "acc",
        7,
        True,
    )
    for i, run in enumerate(runs):
        reached = next((epoch for epoch, (_, value) in enumerate(run) if value >= 7), None)
        if reached is None:
            assert table.loc[str(i)].isna().all()
        else:
            seconds = sum(elapsed for elapsed, _ in run[: reached + 1])
            assert table.loc[str(i)].to_list() == [reached, seconds, 100 * (reached + 1)]


@pytest.mark.parametrize(
    ("seconds", "usd", "front"),
    [
        ([], [], []),
        ([1], [1], [True]),
        ([1, 2, 3], [3, 2, 1], [True, True, True]),
        ([1, 2, 3], [1, 2, 3], [True, False, False]),
        ([3, 2, 1], [3, 2, 1], [False, False, True]),
        ([1, 1], [2, 2], [True, True]),
        ([1, 1], [2, 3], [True, False]),
        ([1, 2], [2, 2], [True, False]),
        ([2, 2, 1], [3, 3, 3], [False, False, True]),
        ([2, 1, 2, 3], [1, 5, 1, 1], [True, True, True, False]),
        ([nan, 1, 5], [0, nan, 5], [False, False, True]),
        ([nan], [1], [False]),
        ([1, 2], [inf, 5], [True, True]),
        ([1], [inf], [True]),
    ],
)
def test_front_is_what_nothing_beats(seconds: list, usd: list, front: list) -> None:
    assert outcomes.pareto_front(np.array(seconds), np.array(usd)).tolist() == front


coordinates = st.integers(0, 6).map(float) | st.just(nan)


@given(st.lists(st.tuples(coordinates, coordinates), max_size=25))
def test_front_is_that_of_all_pairs(points: list[tuple[float, float]]) -> None:
    seconds, usd = ([point[axis] for point in points] for axis in (0, 1))
    front = outcomes.pareto_front(pd.Series(seconds, dtype=float), pd.Series(usd, dtype=float))
    for (time, cost), kept in zip(points, front, strict=True):
        beaten = any(t <= time and c <= cost and (t < time or c < cost) for t, c in points)
        assert kept == (not beaten and not np.isnan(time) and not np.isnan(cost))
