"""The words of the page of a study's history."""

from datetime import UTC, datetime, timedelta

import pytest

from scripts.pages import history

NOW = datetime(2026, 11, 23, 12, 0, 0, tzinfo=UTC)


def rows(*given: tuple[float, str], every: str = "1h") -> list[dict[str, str]]:
    """Return rows of triggers.csv: hours before `NOW`, and what."""
    return [
        {
            "at": (NOW - timedelta(hours=ago)).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "what": what,
            "seconds": "60",
            "exit_code": "1",
            "every": every,
        }
        for ago, what in given
    ]


def said(*given: tuple[float, str], every: str = "1h") -> list[str]:
    return [row["what"] for row in history.triggers(rows(*given, every=every), NOW)]


def test_nothing_is_said_of_triggers_that_came_and_ended() -> None:
    assert said((2, "started"), (1.9, "done"), (1, "started"), (0.9, "done")) == []


def test_missed_triggers_are_counted_also_those_that_never_came_again() -> None:
    assert said((5, "started"), (4.9, "done"), (1, "started"), (0.9, "done")) == [
        "3 triggers were missed from here on: nothing called"
    ]
    assert said((2, "started"), (1.9, "done")) == ["a trigger was missed from here on: nothing called"]


def test_triggers_by_hand_are_not_missed() -> None:
    assert said((50, "started"), (49, "done"), every="") == []
    found = rows((5, "started"), (4.9, "done")) + rows((4.5, "started"), (4.4, "done"), every="")
    assert [row["what"] for row in history.triggers(found, NOW)] == [
        "4 triggers were missed from here on: nothing called"
    ]


def test_after_the_schedule_was_removed_none_is_missed() -> None:
    found = rows((50, "started"), (49.9, "done")) + rows((49.5, "unscheduled"), every="")
    assert history.triggers(found, NOW) == []


def test_overlapped_failed_and_killed_are_told_the_newest_first() -> None:
    told = said((2.4, "started"), (1.4, "overlapped"), (1.2, "failed"), (0.5, "started"), (0.1, "resumed"))
    assert told == [
        "resumed what was interrupted",
        "no end is recorded: it was killed",
        "failed after 60 s, exit code 1",
        "overlapped: the repetition before was at work still, nothing was started",
    ]


@pytest.mark.parametrize(
    ("names", "words"),
    [
        (["2026-11-22T021015Z", "2026-11-23T021015Z"], ["11-22", "11-23"]),
        (["2026-11-23T021015Z", "2026-11-23T021215Z"], ["02:10", "02:12"]),
        (
            ["2026-11-22T235915Z", "2026-11-23T021015Z", "2026-11-23T021215Z"],
            ["11-22\n23:59", "11-23\n02:10", "11-23\n02:12"],
        ),
    ],
)
def test_repetitions_are_told_by_the_day_or_the_minute(names: list[str], words: list[str]) -> None:
    assert history.days(names) == words


def test_of_packages_only_those_that_differ_are_told() -> None:
    change = {"what": "packages", "old": ["keras 3, jax 1, numpy 2"], "new": ["keras 4, jax 1, numpy 2"]}
    cell = {"workload": "mnist_mlp", "name": "a cell", "changes": [{"repetition": "b", "versions": [change]}]}
    (row,) = history.changes([cell])
    assert row["versions"] == [{"what": "packages", "old": ["keras 3"], "new": ["keras 4"]}]
