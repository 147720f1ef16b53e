"""The largest batch size that fits a machine, found by trying."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import psutil

from scripts.measurement import watch, worker
from scripts.measurement.outcome import Outcome
from scripts.records.samples import peak_memory_mib

#: Above this share of the memory that is free, a training on the CPU counts as one that does not fit:
#: beyond it Linux swaps, or kills what it likes.
MEMORY_SHARE = 0.8


@dataclass(frozen=True)
class Try:
    """One batch size that was tried: `done` or how it failed, and the memory of the machine that it took (MiB)."""

    batch_size: int
    status: str
    peak_memory_mib: float | None
    reason: str | None = None


def find(
    job: worker.Job,
    smallest: int,
    most: int,
    progress: Callable[[str], None],
    train: Callable[..., Outcome] = watch.run,
) -> tuple[int | None, list[Try]]:
    """Return the largest `smallest` x 2^n that trains a few steps, None if not even `smallest` does, and all tries.

    Doubles from `smallest` until one fails or `most`, the number of samples, is passed: a step cannot hold
    more. Each try is a fresh process: a call of `train` with a job, what takes its lines, and the most memory (MiB).
    """
    limit = None if job.gpus else psutil.virtual_memory().available / 2**20 * MEMORY_SHARE
    tries: list[Try] = []
    found = None
    size = smallest
    while size <= most or not tries:
        cell = replace(job.cell, batch_size=size, epochs=1, target=None)
        outcome = train(replace(job, cell=cell, probe=True), lambda line: None, limit)
        peak = peak_memory_mib(outcome.samples, outcome.facts.get("peak_memory_mib"))
        tries.append(Try(size, outcome.status, peak, outcome.reason))
        said = outcome.reason or outcome.status.replace("_", " ")
        progress(f"batch size {size}: {'fits' if outcome.status == 'done' else said}")
        if outcome.status != "done":
            break
        found, size = size, size * 2
    return found, tries


def found(run: dict[str, Any]) -> int | None:
    """Return what the search of an earlier run of the cell found: repeats are to train the same. None: nothing.

    A search that ended for want of time has found nothing: the next size was not shown to be too large.
    """
    tries = run["batch_search"] or []
    if tries and tries[-1]["status"] == "timed_out":
        return None
    return max((one["batch_size"] for one in tries if one["status"] == "done"), default=None)
