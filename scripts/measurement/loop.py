"""The clock of a tuned training: steps a framework's `Loop` through the epochs and times what `Stopwatch` times."""

from collections.abc import Callable
from dataclasses import replace
from time import perf_counter
from typing import Any

import numpy as np

from scripts.frameworks import Loop
from scripts.measurement.checkpoint import Keeper, Preempted, State
from scripts.measurement.protocol import ending
from scripts.records.record import epoch_row

#: A training that may be asked to save comes back from its steps about so often (s): a notice may be of 30 s.
CHUNK_SECONDS = 2.0


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
    keeper: Keeper | None = None,
) -> str | None:
    """Train for `epochs`, or until `protocol.ending` says why to end, and return that.

    The samples are shuffled anew for each epoch, by its number and the seed. `batch_size` is that of all devices
    together. The arguments that `Stopwatch` has too mean the same; so do the rows. The first step holds all tracing
    and compiling. With a `keeper` it goes on where the checkpoint was, and saves when that is due; an epoch that was
    cut in two is marked, and its time is that of both parts.
    """
    return _Fit(loop, samples, batch_size, warmup_steps, seed, synchronise, keeper).run(epochs, target, report, started)


class _Fit:
    def __init__(
        self,
        loop: Loop,
        samples: int,
        batch_size: int,
        warmup_steps: int,
        seed: int,
        synchronise: Callable[[], None],
        keeper: Keeper | None,
    ) -> None:
        self._loop, self._keeper, self._synchronise = loop, keeper, synchronise
        self._samples, self._batch_size, self._seed = samples, batch_size, seed
        self._warmup_steps = warmup_steps
        self._whole = samples // batch_size
        self._rows: list[dict[str, Any]] = []
        self._pace = 1

    def _now(self) -> float:
        """Return the clock's reading without the time that saving took."""
        self._synchronise()
        return perf_counter() - (self._keeper.saving_seconds if self._keeper else 0.0)

    def run(
        self,
        epochs: int,
        target: float | None,
        report: Callable[[dict[str, Any]], None],
        started: Callable[[float], None],
    ) -> str | None:
        saved = self._keeper.saved if self._keeper else None
        for row in saved.rows if saved else []:
            self._rows.append(row)
            report(row)
        first_epoch = saved.epoch if saved else 0
        for epoch in range(first_epoch, epochs):
            row = self._epoch(epoch, saved if epoch == first_epoch else None, epoch == first_epoch, started)
            self._rows.append(row)
            report(row)
            reason = ending(row, target)
            if reason:
                return reason
        return None

    def _epoch(
        self, epoch: int, saved: State | None, is_first: bool, started: Callable[[float], None]
    ) -> dict[str, Any]:
        order = np.random.default_rng([self._seed, epoch]).permutation(self._samples)
        loop, done = self._loop, 0
        start = self._now()
        first: dict[str, Any] = {}
        before = saved.seconds if saved else {}
        if is_first:
            started(start)
            self._heed()
            loop.settings |= saved.settings if saved else {}
            loop.compile()
        loop.begin(order)
        if saved:
            loop.restore(saved.arrays)
            done = saved.steps
        if is_first:
            one = min(done + 1, self._whole)
            loop.steps(done, one)
            first_step_ended = self._now()
            warm = min(done + self._warmup_steps, self._whole)
            if self._keeper is None:
                loop.steps(one, warm)
            for step in range(one, warm if self._keeper else one):
                self._heed()
                loop.steps(step, step + 1)
            first = {
                "first_step_seconds": first_step_ended - start,
                "warmup_seconds": self._now() - first_step_ended if warm > one else 0.0,
                "warmup_samples": max(0, warm - one) * self._batch_size,
            }
            # Those of the part before the cut, if this is the rest of an epoch.
            first = {name: value + before.get(name, 0) for name, value in first.items()}
            done = warm
        self._steps(epoch, done, lambda: first | {"elapsed": before.get("elapsed", 0.0) + self._now() - start})
        loop.rest()
        logs = loop.finish()
        trained = self._now()
        logs |= loop.validate()
        ended = self._now()
        elapsed = before.get("elapsed", 0.0) + ended - start
        cut = int(bool(saved and saved.steps))
        return epoch_row(epoch, elapsed, logs, self._samples, ended - trained, cut=cut, **first)

    def _heed(self) -> None:
        """End at once if the machine is about to be preempted, and nothing is new since the checkpoint."""
        if self._keeper and self._keeper.asked():
            raise Preempted

    def _keep(self, state: State) -> None:
        assert self._keeper is not None
        loop = self._loop
        self._keeper.keep(lambda: replace(state, arrays=loop.state(), settings=dict(loop.settings)))

    def _steps(self, epoch: int, done: int, seconds_so_far: Callable[[], dict[str, float]]) -> None:
        """Train the rest of the whole batches, at once or, if they are to be saved, in chunks."""
        loop, keeper = self._loop, self._keeper
        if keeper is None:
            loop.steps(done, self._whole)
            return
        while True:
            if keeper.is_due():
                self._keep(State(epoch, done, [], seconds_so_far(), self._rows))
            if done == self._whole:
                return
            last, start = min(done + self._pace, self._whole), self._now()
            loop.steps(done, last)
            took = max(self._now() - start, 1e-6)
            self._pace = max(1, round((last - done) * min(4.0, CHUNK_SECONDS / took)))
            done = last
