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

#: Where launchers say which process this is: one of them counts.
_RANKS = ("RANK", "SLURM_PROCID", "OMPI_COMM_WORLD_RANK", "PMI_RANK")

#: Ticks lie so far apart (s), but for the first ones.
_TICK_SECONDS = 0.05
_FIRST_TICKS = 20


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
        place = os.environ.get(VARIABLE)
        if not place or any(os.environ.get(rank, "0") != "0" for rank in _RANKS):
            yield from self._items
            return
        count, said, last = 0, -1, -1.0
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listener:
            listener.setblocking(False)
            try:
                for item in self._items:
                    now = time.monotonic()
                    if count < _FIRST_TICKS or now - last >= _TICK_SECONDS:
                        self._say(listener, place, now, count)
                        said, last = count, now
                    yield item
                    count += 1
            finally:
                if said != count:
                    self._say(listener, place, time.monotonic(), count)

    def _say(self, listener: socket.socket, place: str, now: float, count: int) -> None:
        # Whoever watched may have gone: no reason to end a training.
        with contextlib.suppress(OSError):
            listener.sendto(f"{now!r} {count} {self._total or ''} {self._unit}".encode(), place)


def _length(items: object) -> int | None:
    try:
        return len(items)  # type: ignore[arg-type]
    except TypeError:
        return None
