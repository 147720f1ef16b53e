"""One line in a loop: `for batch in watch(loader)` says to the `epd run` that watches how far it is."""

from __future__ import annotations

import contextlib
import os
import socket
import time
from collections.abc import Iterable, Iterator
from typing import Generic, TypeVar

Item = TypeVar("Item")

#: The variable that names the socket which `epd run` listens at; without it, watching does nothing.
VARIABLE = "EPOCHS_PER_DOLLAR_TICKS"

#: `time.time()` of the start of what it watches, and what an hour costs (USD), where the user says it.
STARTED, USD_PER_HOUR = "EPOCHS_PER_DOLLAR_STARTED", "EPOCHS_PER_DOLLAR_USD_PER_HOUR"

#: Where launchers say which process this is: one of them counts.
_RANKS = ("RANK", "SLURM_PROCID", "OMPI_COMM_WORLD_RANK", "PMI_RANK")

#: Ticks lie so far apart (s), but for the first ones.
_TICK_SECONDS = 0.05
_FIRST_TICKS = 20


class Ticker:
    """Says to `epd run` how much has been done, not more often than it needs; without one it does nothing."""

    def __init__(self, unit: str = "step") -> None:
        self._unit = unit
        place = os.environ.get(VARIABLE)
        self._place = None if any(os.environ.get(rank, "0") != "0" for rank in _RANKS) else place
        self._said, self._at, self._ticks = -1.0, -1.0, 0

    @property
    def is_heard(self) -> bool:
        """Whether somebody listens: of several ranks to the first alone."""
        return bool(self._place)

    def __call__(self, done: float, total: float | None = None, is_last: bool = False) -> None:
        """Say that so many of `total` are done."""
        now = time.monotonic()
        self._ticks += 1
        if not self._place or done == self._said:
            return
        if self._ticks > _FIRST_TICKS and now - self._at < _TICK_SECONDS and not (is_last or done == total):
            return
        self._said, self._at = done, now
        # Whoever watched may have gone: no reason to end a training.
        with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as speaker:
            speaker.setblocking(False)
            speaker.sendto(f"{now!r} {done} {total or ''} {self._unit}".encode(), self._place)


class watch(Generic[Item]):
    """Go through `items` as they are; while `epd run` measures, it learns how many have been done.

    `total` is how many there are, where `len(items)` does not say it; `unit` is what is counted. An item counts as
    done when the next one is asked for.
    """

    def __init__(self, items: Iterable[Item], total: float | None = None, unit: str = "step") -> None:
        self._items, self._unit = items, unit
        self._total = total if total is not None else _length(items)

    def __len__(self) -> int:
        return len(self._items)  # type: ignore[arg-type]

    def __iter__(self) -> Iterator[Item]:
        tick = Ticker(self._unit)
        if not tick.is_heard:
            yield from self._items
            return
        count = 0
        try:
            for item in self._items:
                tick(count, self._total)
                yield item
                count += 1
        finally:
            tick(count, self._total, is_last=True)


def _length(items: object) -> int | None:
    try:
        return len(items)  # type: ignore[arg-type]
    except TypeError:
        return None
