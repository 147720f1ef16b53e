"""The clock of a training: a Keras callback that times epochs, the first step and validation."""

from collections.abc import Callable
from math import isfinite
from time import perf_counter
from typing import Any

import keras


class Stopwatch(keras.callbacks.Callback):
    """Time each epoch, waiting for the device before each reading of the clock.

    The first step (trace, compile, autotune and one batch) is timed apart. No hook runs at the end of
    a batch: Keras would fetch the loss from the device after each step for it.

    Args:
        synchronise: returns when the device has done its work.
        samples: training samples per epoch.
        report: called with one row (a dict in the columns of `epochs.csv`) after each epoch.
        started: called with the clock's reading (s) when the first epoch begins.
    """

    def __init__(
        self,
        synchronise: Callable[[], None],
        samples: int,
        report: Callable[[dict[str, Any]], None],
        started: Callable[[float], None],
    ) -> None:
        super().__init__()
        self._synchronise = synchronise
        self._samples = samples
        self._report = report
        self._started = started
        self._batches_begun = 0
        self._first_step_seconds = 0.0
        self._first_step_ended = False
        self._validation_seconds = 0.0
        self.diverged = False

    def _now(self) -> float:
        self._synchronise()
        return perf_counter()

    def on_epoch_begin(self, epoch: int, logs: dict | None = None) -> None:
        self._epoch_start = self._now()
        self._validation_seconds = 0.0
        if epoch == 0:
            self._started(self._epoch_start)

    def on_train_batch_begin(self, batch: int, logs: dict | None = None) -> None:
        if not self._first_step_ended:
            self._batches_begun += 1
            if self._batches_begun == 2:
                self._end_first_step()

    def _end_first_step(self) -> None:
        """The first step ends where the second begins, or its epoch's training, if that is one batch."""
        self._first_step_seconds = self._now() - self._epoch_start
        self._first_step_ended = True

    def on_test_begin(self, logs: dict | None = None) -> None:
        if not self._first_step_ended:
            self._end_first_step()
        self._validation_start = self._now()

    def on_test_end(self, logs: dict | None = None) -> None:
        self._validation_seconds = self._now() - self._validation_start

    def on_epoch_end(self, epoch: int, logs: dict | None = None) -> None:
        if not self._first_step_ended:
            self._end_first_step()
        elapsed = self._now() - self._epoch_start
        logs = logs or {}
        first_step = self._first_step_seconds if epoch == 0 else 0.0
        self._report(
            {
                "epoch": epoch,
                "elapsed": elapsed,
                "loss": logs.get("loss"),
                "acc": logs.get("acc"),
                "val_loss": logs.get("val_loss"),
                "val_acc": logs.get("val_acc"),
                "first_step_seconds": first_step,
                "training_seconds": elapsed - first_step - self._validation_seconds,
                "validation_seconds": self._validation_seconds,
                "samples": self._samples,
            }
        )
        if not isfinite(logs.get("loss", 0.0)):
            self.diverged = True
            self.model.stop_training = True
