"""The one rule for the seconds of a log: figures worked out by hand."""

import pytest

from scripts.importers._seconds import Found, Given, Said, find

HOUR = 3600.0
BEGAN = 1_700_000_000.0


def clock(*seconds: float, step: float = 100.0) -> list[tuple[float, float]]:
    """Rows so many seconds after the beginning, each a hundred steps after the last."""
    return [(BEGAN + at, step * (index + 1)) for index, at in enumerate(seconds)]


#: A training of which everything is said, each with another number: the rules in their order.
ALL = {
    "stated": 100.0,
    "epoch_seconds": [60.0, 50.0],
    "clock": clock(60, 120),
    "pace": [(10.0, 13.0)],
    "steps": 140.0,
    "steps_per_second": 1.0,
    "samples": 1500.0,
    "samples_per_second": 10.0,
    "epochs": 2.0,
    "began": BEGAN,
}
GIVEN = Given(seconds=160.0, seconds_per_epoch=85.0, files=(BEGAN, BEGAN + 180))
ORDER = [
    ("stated", 100.0, "stated: "),
    ("epoch_seconds", 110.0, "stated: the seconds of each epoch"),
    ("clock", 120.0, "the clock of its rows"),
    ("pace", 130.0, "the time of a step x steps"),
    ("steps", 140.0, "steps / steps per second"),
    ("samples", 150.0, "samples / samples per second"),
]


@pytest.mark.parametrize("gone", range(len(ORDER)))
def test_the_first_rule_that_finds_a_time_counts(gone: int) -> None:
    without = {name for name, _, _ in ORDER[:gone]} | ({"began"} if gone > 2 else set())
    found = find(Said(**{key: value for key, value in ALL.items() if key not in without}), GIVEN)
    _, seconds, source = ORDER[gone]
    assert (found.seconds, found.source) == (pytest.approx(seconds), source)


@pytest.mark.parametrize(
    ("given", "seconds", "source"),
    [
        (GIVEN, 160.0, "the study: seconds"),
        (Given(None, 85.0, GIVEN.files), 170.0, "the study: seconds_per_epoch x epochs"),
        (Given(None, None, GIVEN.files), 180.0, "the times of its files"),
    ],
)
def test_what_the_study_says_counts_where_the_log_is_silent(given: Given, seconds: float, source: str) -> None:
    found = find(Said(epochs=2.0, lacks="no times"), given)
    assert found == Found(seconds, source)


def test_what_has_none_says_what_is_missing() -> None:
    assert find(Said(lacks="add the callback"), Given()) == Found(None, None, ("without time: add the callback",))


@pytest.mark.parametrize("stated", [0.0, -3.0, float("nan"), float("inf")])
def test_a_time_that_cannot_be_is_none(stated: float) -> None:
    assert find(Said(stated=stated), Given()).seconds is None


def test_a_rate_alone_needs_no_time() -> None:
    assert find(Said(samples_per_second=5.0), Given()) == Found(None, None)


def test_rows_at_one_moment_are_no_clock() -> None:
    assert find(Said(clock=[(BEGAN, 1.0), (BEGAN, 2.0)]), Given()).seconds is None


def test_a_night_between_two_parts_is_not_counted_and_said() -> None:
    """Ten minutes of training, a row each minute; eight hours after the fifth."""
    rows = [60.0 * minute + (8 * HOUR if minute > 5 else 0) for minute in range(1, 11)]
    found = find(Said(clock=clock(*rows), began=BEGAN), Given())
    assert found.seconds == pytest.approx(600)
    assert found.remarks == ("a pause of 8.00 h after step 500: not counted",)


def test_evaluations_are_part_of_the_training_and_said() -> None:
    """A row each ten seconds, and fifteen minutes of evaluation after each tenth: longer than any break that counts."""
    rows, at = [], 0.0
    for index in range(1, 41):
        at += 10.0 + (900.0 if index % 10 == 1 and index > 1 else 0)
        rows.append(at)
    found = find(Said(clock=clock(*rows), began=BEGAN), Given())
    assert found.seconds == pytest.approx(40 * 10 + 3 * 900)
    assert found.remarks == ("3 pauses of about 15.0 min (evaluation, checkpoints): counted",)


def test_a_short_pause_is_counted_and_said() -> None:
    rows = [10.0 * index + (200 if index > 5 else 0) for index in range(1, 11)]
    found = find(Said(clock=clock(*rows), began=BEGAN), Given())
    assert found.seconds == pytest.approx(300)
    assert found.remarks == ("a pause of 3.33 min after step 500: counted",)


def test_a_run_that_was_left_open_ends_with_its_last_row() -> None:
    found = find(Said(clock=clock(60, 120, 180), began=BEGAN, ended=BEGAN + 20 * HOUR), Given())
    assert found.seconds == pytest.approx(180)
    assert "not counted" in found.remarks[0]


def test_what_comes_before_the_first_row_is_counted_however_long() -> None:
    """Twenty minutes of loading data are paid for."""
    found = find(Said(clock=clock(1200, 1260, 1320), began=BEGAN), Given())
    assert found.seconds == pytest.approx(1320)


def test_steps_before_the_first_row_go_at_the_pace_of_the_others() -> None:
    found = find(Said(clock=[(BEGAN, 50.0), (BEGAN + 20, 60.0), (BEGAN + 40, 70.0)]), Given())
    assert found.seconds == pytest.approx(40 + 50 * 2)
    assert "the first 50 steps have no clock" in found.remarks[0]


def test_a_step_that_was_timed_stands_as_it_was_and_the_others_at_the_median() -> None:
    """nanoGPT prints each tenth: the first compiles, the last evaluates."""
    pace = [(1.0, 30.0), (11.0, 2.0), (21.0, 2.0), (31.0, 2.0), (41.0, 12.0)]
    assert find(Said(pace=pace), Given()).seconds == pytest.approx(30 + 3 * 2 + 12 + 36 * 2)
