"""The first step is timed apart, also where an epoch is one batch."""

import pytest

keras = pytest.importorskip("keras", reason="no framework is installed")

from scripts.measurement import stopwatch  # noqa: E402


@pytest.fixture
def rows(monkeypatch: pytest.MonkeyPatch):
    """Return a function that plays two epochs to a stopwatch, a second per event, and returns its rows."""

    def play(batches: int, validation: bool) -> list[dict]:
        ticks = iter(range(1000))
        monkeypatch.setattr(stopwatch, "perf_counter", lambda: next(ticks))
        reported: list[dict] = []
        watch = stopwatch.Stopwatch(lambda: None, 10, reported.append, lambda reading: None)
        for epoch in range(2):
            watch.on_epoch_begin(epoch)
            for batch in range(batches):
                watch.on_train_batch_begin(batch)
            if validation:
                watch.on_test_begin()
                watch.on_test_end()
            watch.on_epoch_end(epoch, {"loss": 1.0})
        return reported

    return play


@pytest.mark.parametrize("validation", [True, False])
@pytest.mark.parametrize("batches", [1, 2, 5])
def test_first_step_is_in_the_first_epoch_alone(rows, batches: int, validation: bool) -> None:
    first, second = rows(batches, validation)
    assert first["first_step_seconds"] == 1
    assert second["first_step_seconds"] == 0
    for row in (first, second):
        parts = row["first_step_seconds"] + row["training_seconds"] + row["validation_seconds"]
        assert parts == row["elapsed"]
        assert row["validation_seconds"] == (1 if validation else 0)
