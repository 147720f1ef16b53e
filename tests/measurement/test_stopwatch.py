"""The first step and the warm-up are timed apart, also where an epoch is no longer than they are."""

import numpy as np
import pytest

pytestmark = pytest.mark.slow


@pytest.fixture
def model():
    """A model with a top-3 accuracy beside its accuracy, each called what the other might be."""
    keras = pytest.importorskip("keras", reason="no framework is installed")
    top = keras.metrics.SparseTopKCategoricalAccuracy(3, name="acc")
    model = keras.Sequential([keras.Input((1,)), keras.layers.Dense(4)])
    model.compile(loss="sparse_categorical_crossentropy", metrics=[top, "accuracy"])
    model._symbolic_build(data_batch=(np.zeros((1, 1)), np.zeros((1, 1))))
    return model


@pytest.fixture
def rows(monkeypatch: pytest.MonkeyPatch, model):
    """Return a function that plays two epochs to a stopwatch, a second per event, and returns its rows."""
    from scripts.measurement import stopwatch

    def play(batches: int, validation: bool, warmup_steps: int = 1, target: float | None = None) -> list[dict]:
        ticks = iter(range(1000))
        monkeypatch.setattr(stopwatch, "perf_counter", lambda: next(ticks))
        reported: list[dict] = []
        watch = stopwatch.Stopwatch(
            lambda: None, batches * 10, 10, warmup_steps, target, reported.append, lambda reading: None
        )
        watch.set_model(model)
        for epoch in range(2):
            watch.on_epoch_begin(epoch)
            for batch in range(batches):
                watch.on_train_batch_begin(batch)
            if validation:
                watch.on_test_begin()
                watch.on_test_end()
            watch.on_epoch_end(epoch, {"loss": 1.0, "val_accuracy": 0.5 + epoch / 10, "val_acc": 0.9})
            if watch.ended:
                break
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
        assert (row["warmup_seconds"], row["warmup_samples"]) == (0, 0)


@pytest.mark.parametrize(("batches", "warm"), [(5, 20), (3, 20), (3, 30), (2, 10)])
def test_warm_up_ends_with_its_steps_or_the_epoch(rows, batches: int, warm: int) -> None:
    first, second = rows(batches, True, warmup_steps=3)
    assert first["first_step_seconds"] == 1
    assert first["warmup_seconds"] == 1, "the clock is read once for it"
    assert first["warmup_samples"] == min(batches, 3) * 10 - 10
    assert (second["warmup_seconds"], second["warmup_samples"]) == (0, 0)


def test_target_is_one_of_the_plain_accuracy(rows) -> None:
    assert [row["val_acc"] for row in rows(2, True)] == [0.5, 0.6]
    assert len(rows(2, True, target=0.5)) == 1
    assert len(rows(2, True, target=0.6)) == 2
