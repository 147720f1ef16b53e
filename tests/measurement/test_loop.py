"""The tuned training is stepped over every sample of every epoch, and timed as `model.fit` is."""

from itertools import count
from pathlib import Path

import numpy as np
import pytest

from scripts.measurement import loop
from scripts.measurement.checkpoint import Keeper, Place, Preempted


class Recorder:
    """A loop that notes what it is asked for; its loss falls by one each epoch."""

    def __init__(self) -> None:
        self.settings: dict[str, str] = {}
        self.calls: list[tuple] = []
        self.orders: list[np.ndarray] = []

    def compile(self) -> None:
        self.calls.append(("compile",))

    def begin(self, order: np.ndarray) -> None:
        self.orders.append(order)

    def steps(self, first: int, last: int) -> None:
        self.calls.append((first, last))

    def rest(self) -> None:
        self.calls.append(("rest",))

    def finish(self) -> dict[str, float]:
        return {"loss": 5.0 - len(self.orders)}

    def validate(self) -> dict[str, float]:
        return {}


def fit(monkeypatch: pytest.MonkeyPatch, samples: int, warmup_steps: int, target: float | None = None, seed: int = 7):
    """Train two epochs in batches of ten, a second per reading of the clock; return loop, rows, why it ended."""
    ticks = count()
    monkeypatch.setattr(loop, "perf_counter", lambda: next(ticks))
    recorder, rows, clock = Recorder(), [], []
    why = loop.fit(recorder, 2, samples, 10, warmup_steps, seed, target, lambda: None, rows.append, clock.append)
    assert clock == [0], "the clock starts once, before the first batch"
    return recorder, rows, why


def test_every_batch_is_trained_once_an_epoch(monkeypatch: pytest.MonkeyPatch) -> None:
    recorder, _, _ = fit(monkeypatch, 1005, 20)
    assert recorder.calls == [("compile",), (0, 1), (1, 20), (20, 100), ("rest",), (0, 100), ("rest",)]
    for order in recorder.orders:
        assert sorted(order) == list(range(1005))


def test_order_is_drawn_anew_each_epoch_and_from_the_seed(monkeypatch: pytest.MonkeyPatch) -> None:
    (one, two), again = fit(monkeypatch, 100, 1)[0].orders, fit(monkeypatch, 100, 1)[0].orders
    assert not np.array_equal(one, two)
    assert np.array_equal(one, again[0])
    assert not np.array_equal(one, fit(monkeypatch, 100, 1, seed=8)[0].orders[0])


def test_first_step_and_warm_up_are_in_the_first_epoch_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    _, (first, second), _ = fit(monkeypatch, 1000, 20)
    assert (first["first_step_seconds"], first["warmup_seconds"], first["warmup_samples"]) == (1, 1, 190)
    assert (second["first_step_seconds"], second["warmup_seconds"], second["warmup_samples"]) == (0, 0, 0)


@pytest.mark.parametrize("samples", [5, 10, 15])
def test_epoch_of_one_batch_or_less(monkeypatch: pytest.MonkeyPatch, samples: int) -> None:
    recorder, rows, _ = fit(monkeypatch, samples, 1)
    assert [row["samples"] for row in rows] == [samples, samples]
    assert [row["warmup_samples"] for row in rows] == [0, 0]
    assert recorder.calls.count(("rest",)) == 2


def test_target_ends_the_training(monkeypatch: pytest.MonkeyPatch) -> None:
    _, rows, why = fit(monkeypatch, 100, 1, target=4.0)
    assert (len(rows), why) == (1, "target")
    assert fit(monkeypatch, 100, 1)[2] is None


class Resumable(Recorder):
    """Its state is the number of steps that it was trained."""

    trained = 0

    def steps(self, first: int, last: int) -> None:
        super().steps(first, last)
        self.trained += last - first

    def state(self) -> list[np.ndarray]:
        return [np.array(self.trained)]

    def restore(self, state: list[np.ndarray]) -> None:
        self.trained = int(state[0])


def resumed(folder: Path, notices: list[bool]) -> tuple[Resumable, list[dict], bool]:
    """Train three epochs of 40 steps and an odd one; return loop, rows, and whether it was preempted."""
    notice = iter(notices)
    place = Place(str(folder), "run")
    keeper = Keeper(place, lambda: next(notice, False), lambda seconds: None)
    recorder, rows = Resumable(), []
    try:
        loop.fit(recorder, 3, 405, 10, 20, 7, None, lambda: None, rows.append, lambda reading: None, keeper)
    except Preempted:
        return recorder, rows, True
    return recorder, rows, False


@pytest.mark.parametrize(
    ("asked", "cut"), [(8, set()), (20, {0}), (24, set()), (25, {1})], ids=["warm-up", "first", "between", "second"]
)
def test_training_goes_on_where_the_notice_came(tmp_path: Path, asked: int, cut: set[int]) -> None:
    whole, _, _ = resumed(tmp_path / "whole", [])
    assert whole.trained == 120
    first, begun, was_preempted = resumed(tmp_path / "cut", [False] * asked + [True, True])
    assert was_preempted
    assert 0 < first.trained < 120
    second, ended, was_preempted = resumed(tmp_path / "cut", [])
    assert not was_preempted
    assert second.trained == 120, "no step is lost or done twice"
    assert [row["epoch"] for row in ended] == [0, 1, 2]
    assert ended[: len(begun)] == begun
    assert {row["epoch"] for row in ended if row["cut"]} == cut
    np.testing.assert_array_equal(second.orders[-1], whole.orders[-1])
