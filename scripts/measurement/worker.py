"""The process that trains: fresh for every run, held to its cores, silent but for a pipe to its watcher."""

import ctypes
import os
import resource
import signal
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.machinery import PathFinder
from importlib.metadata import version
from multiprocessing.connection import Connection
from pathlib import Path
from time import perf_counter

from scripts.measurement.cell import Cell

#: What the allocators of the frameworks and of Linux say when memory ends.
_OUT_OF_MEMORY = ("out of memory", "resource_exhausted", "resource exhausted", "bad_alloc", "can't allocate memory")

_PR_SET_PDEATHSIG = 1


@dataclass(frozen=True)
class Job:
    """One run to train: the cell, its seed, the cores and GPUs (numbers) it is held to, and its data file."""

    cell: Cell
    seed: int
    cores: int
    gpus: int
    data: Path


def _hide(packages: set[str]) -> None:
    """Let Python not find `packages`, as if they were not installed.

    Keras imports TensorFlow wherever it finds it: seconds and memory that are not this framework's.
    """

    class Finder(PathFinder):
        @classmethod
        def find_spec(cls, fullname, path=None, target=None):
            return None if fullname in packages else super().find_spec(fullname, path, target)

    sys.meta_path = [Finder if finder is PathFinder else finder for finder in sys.meta_path]


@contextmanager
def _stage(pipe: Connection, name: str) -> Iterator[None]:
    pipe.send(("stage", name))
    start = perf_counter()
    yield
    pipe.send(("time", f"{name}_seconds", perf_counter() - start))


def train(job: Job, pipe: Connection) -> None:
    """Train `job` and report on `pipe`: stages, times (s), one row per epoch, and how it ended.

    Messages are tuples: `("stage", name)`, `("time", name, seconds)`, `("clock", reading)`,
    `("epoch", row)`, `("facts", dict)` and, last, `("end", status, reason)`.
    """
    # The watcher decides what a Ctrl-C means, and a training does not outlive its watcher.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    try:
        status, reason = _train(job, pipe)
    except BaseException as error:
        traceback.print_exc()
        text = " ".join(f"{type(error).__name__}: {error}".split())
        exhausted = isinstance(error, MemoryError) or any(words in text.lower() for words in _OUT_OF_MEMORY)
        status, reason = ("out_of_memory" if exhausted else "failed"), text[:500]
    pipe.send(("facts", {"peak_memory_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}))
    pipe.send(("end", status, reason))


def _train(job: Job, pipe: Connection) -> tuple[str, str | None]:
    from scripts import frameworks

    cell = job.cell
    allowed = sorted(os.sched_getaffinity(0))[: job.cores]
    os.sched_setaffinity(0, allowed)
    _hide(set(frameworks.names()) - {cell.framework})
    backend = frameworks.framework(cell.framework)
    os.environ |= backend.environment(job.cores) | {
        "KERAS_BACKEND": cell.framework,
        # Not the user's ~/.keras/keras.json, which may change types and layouts.
        "KERAS_HOME": str(Path(__file__).resolve().parents[2] / ".cache" / "keras"),
    }
    if job.gpus == 0:
        os.environ["CUDA_VISIBLE_DEVICES"] = "-1"

    with _stage(pipe, "import"):
        devices = backend.start(job.cores)
        import keras

        from scripts import datasets
        from scripts.measurement.stopwatch import Stopwatch
        from scripts.workloads import workload
    if keras.backend.backend() != cell.framework:
        raise RuntimeError(f"Keras runs on {keras.backend.backend()}, not on {cell.framework}")
    if sorted(os.sched_getaffinity(0)) != allowed:
        raise RuntimeError(f"held to cores {sorted(os.sched_getaffinity(0))}, not to {allowed}")
    gpus = [device for device in devices if "cpu" not in device.lower()]
    if len(gpus) != job.gpus:
        raise RuntimeError(f"{cell.framework} sees {len(gpus)} GPUs, not {job.gpus}: its devices are {devices}")

    work = workload(cell.workload)
    keras.utils.set_random_seed(job.seed)
    with _stage(pipe, "data"):
        split = work.prepare(datasets.load(job.data, cell.samples))
        if cell.samples < 1:
            split = split.whole_batches(cell.batch_size)

    with _stage(pipe, "build"):
        model = work.build(split)
        validation = None
        if split.x_val is not None and split.y_val is not None:
            validation = (split.x_val, split.y_val)
            # A whole and an odd batch compile the validation step before the clock starts.
            tail = cell.batch_size + len(split.x_val) % cell.batch_size
            model.evaluate(split.x_val[-tail:], split.y_val[-tail:], batch_size=cell.batch_size, verbose=0)
        backend.synchronise()

    pipe.send(
        (
            "facts",
            {
                "devices": devices,
                "cores": allowed,
                "packages": {name: version(name) for name in ("keras", "numpy", *backend.DISTRIBUTIONS)},
                "parameters": model.count_params(),
                "train_samples": len(split.x_train),
                "validation_samples": 0 if split.x_val is None else len(split.x_val),
            },
        )
    )
    stopwatch = Stopwatch(
        synchronise=backend.synchronise,
        samples=len(split.x_train),
        report=lambda row: pipe.send(("epoch", row)),
        started=lambda reading: pipe.send(("clock", reading)),
    )
    pipe.send(("stage", "train"))
    model.fit(
        split.x_train,
        split.y_train,
        batch_size=cell.batch_size,
        epochs=cell.epochs,
        validation_data=validation,
        verbose=0,
        callbacks=[stopwatch],
    )
    if stopwatch.diverged:
        return "diverged", "the loss is not a finite number"
    return "done", None
