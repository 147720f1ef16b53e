"""A `model.fit` that goes on where a checkpoint was: one call for each epoch, saved in between.

What Keras's BackupAndRestore does, and more: the order of the samples is a function of the seed and the epoch, so that
a training that was interrupted has the losses of one that was not. Within an epoch Keras does not say which
samples it has taken; an epoch that is interrupted is trained again.
"""

from functools import partial
from typing import Any

import keras
import numpy as np

from scripts.frameworks import Unsupported
from scripts.frameworks._model import states
from scripts.measurement.checkpoint import Keeper, Preempted, State
from scripts.measurement.stopwatch import Stopwatch


class _Notice(keras.callbacks.Callback):
    """Ends an epoch as soon as the machine is about to be preempted."""

    def __init__(self, keeper: Keeper) -> None:
        super().__init__()
        self._keeper = keeper

    def on_train_batch_begin(self, batch: int, logs: dict | None = None) -> None:
        if self._keeper.asked():
            raise Preempted


def fit(
    model: Any, data: dict[str, Any], epochs: int, seed: int, keeper: Keeper, watched: dict[str, Any]
) -> str | None:
    """Train to the last epoch, or until `protocol.ending` says why to end, and return that.

    `data` are the arguments of `model.fit` that say on what, `watched` those of `Stopwatch`. Raises Preempted.
    """
    if getattr(model.optimizer, "use_ema", False):
        raise Unsupported("checkpoints: at its end, each model.fit would put the moving means in place of the weights")
    if not model.optimizer.built:
        model.optimizer.build(model.trainable_variables)
    variables = [*model.variables, *states(model), *model.optimizer.variables]
    saved = keeper.saved
    if saved:
        for variable, value in zip(variables, saved.arrays, strict=True):
            variable.assign(value)
    rows: list[dict[str, Any]] = list(saved.rows) if saved else []
    for row in rows:
        watched["report"](row)

    def report(row: dict[str, Any]) -> None:
        rows.append(row)
        watched["report"](row)

    first_epoch = saved.epoch if saved else 0
    stopwatch = Stopwatch(**watched | {"report": report}, first_epoch=first_epoch)
    state = saved
    for epoch in range(first_epoch, epochs):
        keras.utils.set_random_seed((seed + epoch) % 2**31)
        try:
            model.fit(**data, initial_epoch=epoch, epochs=epoch + 1, verbose=0, callbacks=[stopwatch, _Notice(keeper)])
        except Preempted:
            if state is not None and state is not saved:
                keeper.keep(partial(_given, state))
            raise
        if stopwatch.ended:
            return stopwatch.ended
        state = State(epoch + 1, 0, [np.array(variable) for variable in variables], {}, list(rows))
        if keeper.is_due() and epoch + 1 < epochs:
            keeper.keep(partial(_given, state))
    return None


def _given(state: State) -> State:
    return state
