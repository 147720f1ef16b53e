"""The clock of a `model.fit`: a Keras callback that times epochs, the first step, warm-up and validation."""

from collections.abc import Callable
from time import perf_counter
from typing import Any

import keras

from scripts.frameworks._model import named
from scripts.measurement.protocol import ending
from scripts.records.record import epoch_row


class Stopwatch(keras.callbacks.Callback):
    """Time each epoch, waiting for the device before each reading of the clock.

    The first step (trace, compile, autotune and one batch) and the rest of the warm-up are timed apart. No hook
    runs at the end of a batch: Keras would fetch the loss from the device after each step for it.

    Args:
        synchronise: returns when the device has done its work.
        samples: training samples per epoch.
        batch_size: samples per step.
        warmup_steps: steps of the first epoch that do not count for the throughput.
        target: ends the training when it is reached, see `protocol.ending`.
        report: called with one row (a dict in the columns of `epochs.csv`) after each epoch.
        started: called with the clock's reading (s) when the first epoch begins.
        first_epoch: the number of the epoch that is the first of this process.
    """

    def __init__(
        self,
        synchronise: Callable[[], None],
        samples: int,
        batch_size: int,
        warmup_steps: int,
        target: float | None,
        report: Callable[[dict[str, Any]], None],
        started: Callable[[float], None],
        first_epoch: int = 0,
    ) -> None:
        super().__init__()
        self._synchronise = synchronise
        self._samples = samples
        self._batch_size = batch_size
        self._warmup_steps = warmup_steps
        self._target = target
        self._report = report
        self._started = started
        self._first_epoch = first_epoch
        self._first_step_seconds: float | None = None
        self._warmup_seconds: float | None = None
        self._validation_seconds = 0.0
        self.ended: str | None = None

    def _now(self) -> float:
        self._synchronise()
        return perf_counter()

    def on_epoch_begin(self, epoch: int, logs: dict | None = None) -> None:
        self._epoch_start = self._now()
        self._validation_seconds = 0.0
        if epoch == self._first_epoch:
            self._started(self._epoch_start)

    def on_train_batch_begin(self, batch: int, logs: dict | None = None) -> None:
        if self._warmup_seconds is None:
            self._read(batch)

    def _read(self, steps_done: int) -> None:
        """Read the clock where the first step ends and where the warm-up does."""
        if steps_done == 1 and self._first_step_seconds is None:
            self._first_step_seconds = self._now() - self._epoch_start
        if steps_done == self._warmup_steps and self._first_step_seconds is not None:
            ended_first = self._epoch_start + self._first_step_seconds
            self._warmup_seconds = 0.0 if self._warmup_steps == 1 else self._now() - ended_first

    def _end_training(self) -> None:
        """End what has not ended with the epoch's training: a first step or a warm-up as long as the epoch."""
        if self._warmup_seconds is None:
            self._read(1)
            self._read(self._warmup_steps)

    def on_test_begin(self, logs: dict | None = None) -> None:
        self._end_training()
        self._validation_start = self._now()

    def on_test_end(self, logs: dict | None = None) -> None:
        self._validation_seconds = self._now() - self._validation_start

    def on_epoch_end(self, epoch: int, logs: dict | None = None) -> None:
        self._end_training()
        first: dict[str, Any] = {}
        if epoch == self._first_epoch:
            first = {
                "first_step_seconds": self._first_step_seconds,
                "warmup_seconds": self._warmup_seconds,
                "warmup_samples": min(self._samples, self._warmup_steps * self._batch_size)
                - min(self._samples, self._batch_size),
            }
        elapsed = self._now() - self._epoch_start
        row = epoch_row(epoch, elapsed, named(self.model, logs or {}), self._samples, self._validation_seconds, **first)
        self._report(row)
        self.ended = ending(row, self._target)
        if self.ended:
            self.model.stop_training = True
