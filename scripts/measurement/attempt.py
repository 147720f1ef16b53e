"""One attempt at a run: its largest batch size, if that is asked for, and its training in the time that is left."""

import sys
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from time import perf_counter
from typing import Any

from scripts.measurement import checkpoint, largest, watch
from scripts.measurement.outcome import Outcome
from scripts.measurement.worker import Job
from scripts.records import data_file, record
from scripts.records.cell import LARGEST
from scripts.storage.errors import InputError

#: Trains a job: what takes its lines, and the most memory (MiB) that it may take.
Train = Callable[..., Outcome]


def log(line: str) -> None:
    """Print a line at once."""
    print(line, flush=True)


def trainer(most_seconds: float, attempts: checkpoint.Attempts | None, notices: watch.Notices) -> Train:
    """Return what trains a job for as long as is left of its time, and gives signs of life."""
    began = perf_counter()

    def train(job: Job, progress: Callable[[str], None], memory_limit_mib: float | None = None) -> Outcome:
        used = perf_counter() - began + (attempts.used_seconds() if attempts else 0.0)
        alive = attempts.alive if attempts else lambda kept_seconds: None
        return watch.run(job, progress, memory_limit_mib, most_seconds - used, alive, notices)

    return train


def _search(job: Job, searched: Path | None, least: int, train: Train) -> tuple[int | None, list[dict[str, Any]]]:
    """Return the largest batch size that fits, None if not even `least` does, and the tries; or an earlier run's."""
    if searched:
        earlier = record.read_run(searched)
        if earlier["cell"] != asdict(job.cell):
            raise InputError(f"--searched: {searched}: the record of another cell")
        if known := largest.found(earlier):
            return known, earlier["batch_search"]
    samples = data_file.describe(job.data)["train_samples"] if job.data else sys.maxsize
    most = int(samples * job.cell.samples) // job.cell.devices
    size, tries = largest.find(replace(job, checkpoints=None), least, most, log, train)
    return size, [asdict(one) for one in tries]


def attempt(
    job: Job, searched: Path | None, least: int, train: Train
) -> tuple[Outcome, int | None, list[dict[str, Any]]]:
    """Return how the run went, its batch size (None if none fits), and what was tried to find it.

    Args:
        job: what is trained; with the batch size `largest`, that one is found first.
        searched: the record (run.json) of another run of the cell, whose batch size is taken; None to search.
        least: the published batch size, from which the search starts.
        train: what `trainer` returned.
    """
    size: int | str | None = job.cell.batch_size
    tries: list[dict[str, Any]] = []
    began = perf_counter()
    if size == LARGEST:
        size, tries = _search(job, searched, least, train)
    if not isinstance(size, int):
        last = tries[-1]
        reason = f"not even a batch of {least} could be tried: {last['reason']}"
        return Outcome(last["status"], reason, {"total_seconds": perf_counter() - began}), None, tries
    cell, identity = replace(job.cell, batch_size=size), (*job.identity, str(size))
    outcome = train(replace(job, cell=cell, identity=identity), log)
    return outcome, size, tries
