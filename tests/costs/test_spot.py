from math import ceil, e, inf, nan, sqrt

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from scripts.costs import spot

useful = st.floats(1, 1e6)
rates = st.just(0.0) | st.floats(1e-4, 3)
intervals = st.floats(60, 1e5) | st.just(inf)
waits = st.floats(0, 600)

HOUR = 3600.0


def simulate_seconds(
    useful_seconds: float,
    preemptions_per_hour: float,
    checkpoint_seconds: float,
    restart_seconds: float,
    save_seconds: float = 0.0,
    *,
    trials: int,
    seed: int,
) -> np.ndarray:
    """Return the machine time (s) of `trials` trainings, played event by event; see the module for the model.

    It uses no formula for the time and takes as long as there are events: not for trainings that hardly end.
    """
    random = np.random.default_rng(seed)
    intervals = int(spot._intervals(np.asarray(useful_seconds), np.asarray(checkpoint_seconds)))
    full = min(checkpoint_seconds, useful_seconds)
    stages = np.append(np.full(intervals - 1, full + save_seconds), useful_seconds - (intervals - 1) * full)

    def until_preempted(machines: int) -> np.ndarray:
        with np.errstate(divide="ignore", over="ignore"):
            return random.standard_exponential(machines) / np.float64(preemptions_per_hour / HOUR)

    seconds = np.zeros(trials)
    done = np.zeros(trials, dtype=int)
    restarting = np.zeros(trials, dtype=bool)
    left = until_preempted(trials)
    going = np.arange(trials)
    while len(going):
        needed = np.where(restarting[going], restart_seconds, stages[done[going]])
        reached = needed <= left[going]
        spent = np.minimum(needed, left[going])
        seconds[going] += spent
        left[going] -= spent
        done[going] += reached & ~restarting[going]
        restarting[going] = ~reached
        left[going[~reached]] = until_preempted(int(np.sum(~reached)))
        going = going[done[going] < intervals]
    return seconds


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        # never preempted: the work and its saves, the last interval without one
        ((HOUR, 0, 600, 120, 10), HOUR + 5 * 10),
        ((HOUR + 1, 0, 600, 120, 10), HOUR + 1 + 6 * 10),
        ((HOUR, 0, inf, 120, 10), HOUR),
        ((HOUR, 0, 2 * HOUR, 120, 10), HOUR),
        ((2.1, 0, 0.3, 0, 1), 2.1 + 6 * 1),
        ((0, 2, 600, 120, 10), 0),
        # once an hour: M (e^(w/M) - 1) for an hour without a checkpoint, e^(R/M) times that with a restart
        ((HOUR, 1, inf, 0, 10), HOUR * (e - 1)),
        ((HOUR, 1, HOUR, 0, 10), HOUR * (e - 1)),
        ((HOUR, 1, inf, HOUR, 10), HOUR * (e - 1) * e),
        ((2 * HOUR, 0.5, inf, HOUR, 0), 2 * HOUR * (e - 1) * sqrt(e)),
        # two intervals, one save
        ((2 * HOUR, 1, HOUR, 0, 0), 2 * HOUR * (e - 1)),
        ((2 * HOUR, 1, HOUR, 0, HOUR), HOUR * (e**2 - 1) + HOUR * (e - 1)),
        # a whole and a half one
        ((1.5 * HOUR, 1, HOUR, 0, 0), HOUR * (e - 1) + HOUR * (sqrt(e) - 1)),
        # hopeless
        ((HOUR, 1e6, HOUR, 0, 0), inf),
        ((HOUR, 1e6, inf, HOUR, 0), inf),
        ((2 * HOUR, 1e6, HOUR, 1e6, 1e6), inf),
        ((0, 1e6, HOUR, HOUR, 0), 0),
        ((HOUR, nan, HOUR, 0, 0), nan),
        ((nan, 1, HOUR, 0, 0), nan),
    ],
)
def test_expected_time(arguments: tuple, expected: float) -> None:
    assert spot.expected_seconds(*arguments) == pytest.approx(expected, rel=1e-12, nan_ok=True)


@pytest.mark.filterwarnings("error")
def test_columns_are_reckoned_row_by_row_without_a_warning() -> None:
    times = spot.expected_seconds(pd.Series([HOUR, HOUR, 0.0, nan]), np.array([0, 1, 1e6, 1]), inf, 60)
    assert times == pytest.approx([HOUR, HOUR * (e - 1) * e ** (60 / HOUR), 0, nan], nan_ok=True)
    assert spot.expected_seconds(HOUR, np.array([[0.0], [1e9]]), np.array([60.0, inf]), 0).shape == (2, 2)
    assert isinstance(spot.expected_seconds(HOUR, 1, 600, 60), float)


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ((-1, 1, 600, 60, 10), "useful_seconds is -1"),
        ((HOUR, -1, 600, 60, 10), "preemptions_per_hour is -1"),
        ((HOUR, 1, -600, 60, 10), "checkpoint_seconds is -600"),
        ((HOUR, 1, 0, 60, 10), "checkpoint_seconds is 0; more than 0"),
        ((HOUR, 1, 600, -60, 10), "restart_seconds is -60"),
        ((HOUR, 1, 600, 60, -10), "save_seconds is -10"),
    ],
)
def test_figures_that_cannot_be_are_refused(arguments: tuple, named: str) -> None:
    with pytest.raises(ValueError, match=named):
        spot.expected_seconds(*arguments)


#: useful, preemptions per hour, checkpoint, restart, save
TRAININGS = [
    (6 * HOUR, 0.05, 1800, 120, 15),
    (6 * HOUR, 0.05, inf, 120, 0),
    (10 * HOUR, 1.0, 600, 300, 30),
    (10 * HOUR, 1.0, 3000, 300, 30),
    (5000, 3.0, 700, 600, 60),
    (1000, 6.0, 1000, 0, 60),
    (900, 2.0, 400, 1800, 400),
]


@pytest.mark.parametrize("training", TRAININGS)
def test_simulation_confirms_the_formula(training: tuple) -> None:
    seconds = simulate_seconds(*training, trials=20_000, seed=20_181_119)
    error = seconds.std(ddof=1) / sqrt(len(seconds))
    assert abs(seconds.mean() - spot.expected_seconds(*training)) < 4 * error
    assert error < 0.02 * seconds.mean()  # or any formula would do


def test_simulation_distinguishes_a_wrong_formula_from_the_right_one() -> None:
    """A restart at the first start, a save after the last interval: each would be seen."""
    work, rate, checkpoint, restart, save = training = TRAININGS[4]
    seconds = simulate_seconds(*training, trials=20_000, seed=1)
    error = seconds.std(ddof=1) / sqrt(len(seconds))
    expected = spot.expected_seconds(*training)
    saved_last = ceil(work / checkpoint) * spot.expected_seconds(checkpoint + save, rate, inf, restart)
    for wrong in (expected + restart, saved_last):
        assert abs(seconds.mean() - wrong) > 4 * error


def test_simulation_is_the_same_for_the_same_seed() -> None:
    first, again, other = (simulate_seconds(*TRAININGS[0], trials=50, seed=seed) for seed in (1, 1, 2))
    assert first.tolist() == again.tolist()
    assert first.tolist() != other.tolist()


def test_simulation_without_preemptions_is_the_work_and_its_saves() -> None:
    assert simulate_seconds(HOUR, 0, 600, 120, 10, trials=3, seed=1) == pytest.approx([HOUR + 50] * 3)
    assert simulate_seconds(0, 5, 600, 120, 10, trials=3, seed=1).tolist() == [0, 0, 0]


@given(st.floats(1, 1e4), st.floats(0, 4), st.floats(100, 1e4), waits, st.floats(0, 100), st.integers(0, 99))
def test_no_simulated_training_is_shorter_than_its_work_and_saves(
    work: float, rate: float, checkpoint: float, restart: float, save: float, seed: int
) -> None:
    assume(spot.expected_seconds(work, rate, checkpoint, restart, save) < 1e6)
    seconds = simulate_seconds(work, rate, checkpoint, restart, save, trials=5, seed=seed)
    assert min(seconds) >= spot.expected_seconds(work, 0, checkpoint, restart, save) * (1 - 1e-9)


@given(useful, rates, intervals, waits, waits)
def test_no_training_is_expected_to_be_shorter_than_its_work_and_saves(
    work: float, rate: float, checkpoint: float, restart: float, save: float
) -> None:
    least = spot.expected_seconds(work, 0, checkpoint, restart, save)
    assert least >= work * (1 - 1e-9)
    assert spot.expected_seconds(work, rate, checkpoint, restart, save) >= least * (1 - 1e-9)


@given(st.tuples(useful, rates, intervals, waits, waits), st.sampled_from([0, 1, 3, 4]), st.floats(1, 3))
def test_time_rises_with_work_preemptions_restart_and_saving(figures: tuple, which: int, factor: float) -> None:
    more = list(figures)
    more[which] = figures[which] * factor
    assert spot.expected_seconds(*more) >= spot.expected_seconds(*figures) * (1 - 1e-9)


@given(useful, st.floats(1e-4, 3), waits, st.integers(2, 9))
def test_free_checkpoints_are_worth_it(work: float, rate: float, restart: float, parts: int) -> None:
    often, never = (spot.expected_seconds(work, rate, checkpoint, restart) for checkpoint in (work / parts, inf))
    assert often <= never * (1 + 1e-9)


@given(st.floats(0.01, 1e5), st.floats(1e-15, 1e-9))
def test_rare_preemptions_cost_no_precision(work: float, rate: float) -> None:
    """Half of the time between two checkpoints is lost on average: 1 + w / 2M."""
    time = spot.expected_seconds(work, rate, inf, 0)
    assert time == pytest.approx(work * (1 + work * rate / 3600 / 2), rel=1e-12)


@pytest.mark.parametrize(
    ("save", "rate", "expected"),
    [(50, 0.01, 6000), (30, 0.1, 1469.6938), (0, 0.1, 0), (30, 0, inf), (0, 0, inf), (nan, 1, nan)],
)
def test_optimum_interval(save: float, rate: float, expected: float) -> None:
    assert spot.optimum_checkpoint_seconds(save, rate) == pytest.approx(expected, nan_ok=True)


@pytest.mark.parametrize(("save", "rate", "named"), [(-1, 1, "save_seconds is -1"), (1, -1, "per_hour is -1")])
def test_optimum_of_what_cannot_be_is_refused(save: float, rate: float, named: str) -> None:
    with pytest.raises(ValueError, match=named):
        spot.optimum_checkpoint_seconds(save, rate)


@given(st.floats(1, 60), st.floats(0.001, 0.1), waits)
def test_no_other_interval_is_much_better_than_the_optimum(save: float, rate: float, restart: float) -> None:
    best = spot.optimum_checkpoint_seconds(save, rate)
    others = best * np.geomspace(0.05, 20, 81)
    work = 1e3 * max(others)
    times = spot.expected_seconds(work, rate, others, restart, save)
    assert spot.expected_seconds(work, rate, best, restart, save) <= min(times) * 1.01
