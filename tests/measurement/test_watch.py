"""The watcher of a training looks at it at fixed intervals, whatever holds the watcher itself up."""

import pytest

from scripts.measurement import watch


@pytest.mark.parametrize(
    ("now", "due"),
    [(10.0, 11.0), (10.4, 11.0), (16.2, 17.0), (9.9, 11.0)],
    ids=["in time", "a little late", "after a stall of six", "early by rounding"],
)
def test_what_a_stall_has_missed_is_not_caught_up(monkeypatch: pytest.MonkeyPatch, now: float, due: float) -> None:
    monkeypatch.setattr(watch, "perf_counter", lambda: now)
    assert watch._next(10.0, 1.0) == due
