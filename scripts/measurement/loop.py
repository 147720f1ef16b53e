"""The clock of a tuned training: steps a framework's `Loop` through the epochs and times what `Stopwatch` times."""

from collections.abc import Callable
from time import perf_counter
from typing import Any

import numpy as np

from scripts.frameworks import Loop
from scripts.measurement.protocol import ending, epoch_row


def fit(
    loop: Loop,
    epochs: int,
    samples: int,
    batch_size: int,
    warmup_steps: int,
    seed: int,
    target: float | None,
    synchronise: Callable[[], None],
    report: Callable[[dict[str, Any]], None],
    started: Callable[[float], None],
) -> str | None:
    """Train for `epochs`, or until `protocol.ending` says why to end, and return that.

    The samples are shuffled anew for each epoch. `batch_size` is that of all devices together. The arguments that
    `Stopwatch` has too mean the same; so do the rows. The first step holds all tracing and compiling.
    """

    def now() -> float:
        synchronise()
        return perf_counter()

    random = np.random.default_rng(seed)
    whole = samples // batch_size
    for epoch in range(epochs):
        order = random.permutation(samples)
        start = now()
        first: dict[str, Any] = {}
        done = 0
        if epoch == 0:
            started(start)
            loop.compile()
            loop.begin(order)
            done = min(1, whole)
            loop.steps(0, done)
            first_step_ended = now()
            warm = min(warmup_steps, whole)
            loop.steps(done, warm)
            first = {
                "first_step_seconds": first_step_ended - start,
                "warmup_seconds": now() - first_step_ended if warm > done else 0.0,
                "warmup_samples": (warm - done) * batch_size,
            }
            done = warm
        else:
            loop.begin(order)
        loop.steps(done, whole)
        loop.rest()
        logs = loop.finish()
        trained = now()
        logs |= loop.validate()
        ended = now()
        row = epoch_row(epoch, ended - start, logs, samples, ended - trained, **first)
        report(row)
        reason = ending(row, target)
        if reason:
            return reason
    return None
