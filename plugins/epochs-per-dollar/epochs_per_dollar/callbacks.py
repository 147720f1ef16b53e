"""Callbacks that say to `epd run` how far a training is, and log `cost_usd` where its other numbers are.

`callbacks=[epochs_per_dollar.callbacks.keras(usd_per_hour=1.29)]`, and so for `transformers`, `lightning`, `xgboost`.
Without `usd_per_hour` it is that of `epd run --usd-per-hour`; where neither says it, no cost is logged. A framework is
imported when its callback is made.
"""

from __future__ import annotations

import os
import sys
import time
from typing import Any

from epochs_per_dollar.watching import STARTED, USD_PER_HOUR, Ticker


class _Run:
    """What a training costs until now: since `epd run` started it, else since its callback was made."""

    def __init__(self, usd_per_hour: float | None, unit: str = "step") -> None:
        self.tick = Ticker(unit)
        given = os.environ.get(USD_PER_HOUR)
        self._rate = usd_per_hour if usd_per_hour is not None else float(given) if given else None
        self._began = float(os.environ.get(STARTED) or time.time())

    def usd(self) -> float | None:
        """Return the dollars that were spent, None without a price of an hour."""
        return None if self._rate is None else self._rate * (time.time() - self._began) / 3600


def keras(usd_per_hour: float | None = None) -> Any:
    """Return a callback of Keras: `cost_usd` is in the logs of each epoch, and so in its history and its CSV."""
    from keras.callbacks import Callback

    class Cost(Callback):  # type: ignore[misc, valid-type]
        def __init__(self) -> None:
            super().__init__()
            self._run = _Run(usd_per_hour)
            self._epoch = 0

        def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
            self._epoch = epoch

        def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
            steps, epochs = self.params.get("steps"), self.params.get("epochs")
            if steps:
                self._run.tick(self._epoch * steps + batch + 1, epochs * steps if epochs else None)

        def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
            usd = self._run.usd()
            if logs is not None and usd is not None:
                logs["cost_usd"] = usd

    return Cost()


def transformers(usd_per_hour: float | None = None) -> Any:
    """Return a callback of Transformers' Trainer: `cost_usd` is in its log history.

    The Trainer's reporters come before the callbacks of a user: to have it in their curves, put it before them:
    `trainer.callback_handler.callbacks.insert(0, ...)`.
    """
    from transformers import TrainerCallback

    class Cost(TrainerCallback):  # type: ignore[misc, valid-type]
        def __init__(self) -> None:
            self._run = _Run(usd_per_hour)

        def on_step_end(self, args: Any, state: Any, control: Any, **more: Any) -> None:
            if state.is_world_process_zero:
                self._run.tick(state.global_step, state.max_steps)

        def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, **more: Any) -> None:
            usd = self._run.usd()
            if usd is None or logs is None:
                return
            logs["cost_usd"] = usd
            if state.log_history:
                state.log_history[-1]["cost_usd"] = usd

    return Cost()


def lightning(usd_per_hour: float | None = None) -> Any:
    """Return a callback of Lightning: `cost_usd` is logged with each step that its loggers take."""
    if "pytorch_lightning" in sys.modules and "lightning.pytorch" not in sys.modules:
        from pytorch_lightning.callbacks import Callback
    else:
        from lightning.pytorch.callbacks import Callback

    class Cost(Callback):  # type: ignore[misc, valid-type]
        def __init__(self) -> None:
            self._run = _Run(usd_per_hour)

        def on_train_batch_end(self, trainer: Any, pl_module: Any, outputs: Any, batch: Any, batch_idx: int) -> None:
            total = trainer.estimated_stepping_batches
            self._run.tick(trainer.global_step, total if 0 < total < 1e15 else None)
            usd = self._run.usd()
            if usd is not None:
                pl_module.log("cost_usd", usd, rank_zero_only=True)

    return Cost()


def xgboost(usd_per_hour: float | None = None, rounds: int | None = None) -> Any:
    """Return a callback of XGBoost, of so many `rounds`: `cost_usd` is an attribute of the booster.

    It is none of its evaluations, as the last of these decides when to stop early.
    """
    from xgboost.callback import TrainingCallback

    class Cost(TrainingCallback):  # type: ignore[misc, valid-type]
        def __init__(self) -> None:
            self._run = _Run(usd_per_hour, "round")

        def after_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
            self._run.tick(epoch + 1, rounds)
            usd = self._run.usd()
            if usd is not None and hasattr(model, "set_attr"):
                model.set_attr(cost_usd=f"{usd:.6g}")
            return False

    return Cost()
