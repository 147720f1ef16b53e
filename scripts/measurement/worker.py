"""The process that trains: fresh for every run, held to its cores, silent but for a pipe to its watcher."""

import ctypes
import os
import resource
import signal
import sys
import traceback
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from importlib.metadata import version
from math import ceil
from multiprocessing.connection import Connection
from pathlib import Path
from time import perf_counter
from types import ModuleType
from typing import TYPE_CHECKING, Any

from scripts.measurement import checkpoint
from scripts.records import about
from scripts.records.cell import Cell

if TYPE_CHECKING:
    from scripts.workloads import Split

#: What the allocators of the frameworks and of Linux say when memory ends.
_OUT_OF_MEMORY = ("out of memory", "resource_exhausted", "resource exhausted", "bad_alloc", "can't allocate memory")

_PR_SET_PDEATHSIG = 1

#: Notices of the end that have come: a training that can be saved looks here between its steps.
_NOTICE: list[int] = []

#: Steps of a probe: the second and third hold the optimiser's state and both batches that are in flight.
PROBE_STEPS = 3


@dataclass(frozen=True)
class Job:
    """One run to train: the cell, its seed, the cores and GPUs (numbers) it is held to, and its data file.

    `data` is None for a workload that brings its own; `workload_file` is where it lies if it is not one of the
    project's. A `probe` trains a few steps only, to see whether the batch fits. `checkpoints` is the place (a folder or
    URL) of the run's checkpoint, `identity` what a checkpoint must be of to be taken.
    """

    cell: Cell
    seed: int
    cores: int
    gpus: int
    data: Path | None
    workload_file: Path | None = None
    probe: bool = False
    checkpoints: str | None = None
    identity: tuple[str, ...] = ()


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
    if job.checkpoints:
        signal.signal(signal.SIGTERM, lambda number, frame: _NOTICE.append(number))
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    try:
        with ExitStack() as started:
            status, reason = _train(job, pipe, started)
    except checkpoint.Preempted:
        status, reason = checkpoint.PREEMPTED, "the machine was about to be preempted"
    except BaseException as error:
        with suppress(OSError):  # nobody may be there to read it
            traceback.print_exc()
        text = " ".join(f"{type(error).__name__}: {error}".split())
        exhausted = isinstance(error, MemoryError) or any(words in text.lower() for words in _OUT_OF_MEMORY)
        status, reason = ("out_of_memory" if exhausted else "failed"), text[:500]
    pipe.send(("facts", {"peak_memory_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}))
    pipe.send(("end", status, reason))
    # Unloading a framework takes up to a second and a half, and nothing of it is needed.
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)


def pin_resources(job: Job) -> list[int]:
    """Hold this process to its cores, GPUs and framework, before any of them is imported; return the cores."""
    from scripts import frameworks

    allowed = sorted(os.sched_getaffinity(0))[: job.cores]
    os.sched_setaffinity(0, allowed)
    framework = job.cell.framework
    frameworks.hide_others(framework)
    os.environ |= frameworks.framework(framework).environment(job.cores, _virtual(job)) | {
        "KERAS_BACKEND": framework,
        # Not the user's ~/.keras/keras.json, which may change types and layouts.
        "KERAS_HOME": str(Path(__file__).resolve().parents[2] / ".cache" / "keras"),
        # CUDA's first GPUs are then those that the telemetry reads.
        "CUDA_DEVICE_ORDER": "PCI_BUS_ID",
        "CUDA_VISIBLE_DEVICES": ",".join(map(str, range(job.gpus))) or "-1",
    }
    return allowed


def _virtual(job: Job) -> int:
    """Return into how many devices the CPU is split."""
    return 1 if job.gpus else job.cell.devices


def start(job: Job, allowed: list[int]) -> list[str]:
    """Start framework and Keras as the cell asks, check that they are what they were asked to be; return devices."""
    from scripts import frameworks

    cell = job.cell
    backend = frameworks.framework(cell.framework)
    devices = backend.start(job.cores, _virtual(job))
    import keras

    if keras.backend.backend() != cell.framework:
        raise RuntimeError(f"Keras runs on {keras.backend.backend()}, not on {cell.framework}")
    if sorted(os.sched_getaffinity(0)) != allowed:
        raise frameworks.UnsupportedDevice(f"held to cores {sorted(os.sched_getaffinity(0))}, not to {allowed}")
    gpus = [device for device in devices if "cpu" not in device.lower()]
    if len(gpus) != job.gpus:
        raise frameworks.UnsupportedDevice(
            f"{cell.framework} sees {len(gpus)} GPUs, not {job.gpus}: its devices are {devices}"
        )
    backend.set_precision(cell.precision)
    if cell.precision in ("bfloat16", "float16"):
        keras.config.set_dtype_policy(f"mixed_{cell.precision}")
    return devices


def _plain_lstm(model, gpus: int) -> None:
    """Switch cuDNN's fused kernels off in the recurrent layers of a model."""
    from scripts.frameworks import Unsupported, UnsupportedDevice

    if not gpus:
        raise UnsupportedDevice("mode plain_lstm: cuDNN is on a GPU only; on a CPU every LSTM is a plain one")
    layers = [part for layer in model.layers for part in (layer, *vars(layer).values())]
    recurrent = [layer for layer in layers if hasattr(layer, "use_cudnn")]
    if not recurrent:
        raise Unsupported("mode plain_lstm: the model has no LSTM")
    for layer in recurrent:
        layer.use_cudnn = False


def prepared(job: Job, work: ModuleType) -> "tuple[Split, dict[str, int]]":
    """Return the samples that a job trains on and, as facts of its run, how many there were before its scale cut them.

    All data are prepared, as the model may be made from them, by a row for each word: a scale cuts no model.
    """
    from scripts import datasets

    whole = work.prepare(datasets.load(job.data) if job.data else {})
    counts = {"whole_train_samples": whole.train_samples, "whole_validation_samples": whole.val_samples}
    return whole.part(job.cell.samples), counts


def _train(job: Job, pipe: Connection, started: ExitStack) -> tuple[str, str | None]:
    """Return how the training ended, and why; `started` ends what it has started, however it ends."""
    from scripts import frameworks, workloads

    cell = job.cell
    allowed = pin_resources(job)
    backend = frameworks.framework(cell.framework)
    with _stage(pipe, "import"):
        devices = start(job, allowed)
        import keras

        from scripts.frameworks._model import states
        from scripts.measurement import flops, loop, protocol, resumable, telemetry
        from scripts.measurement.chance import chance
        from scripts.measurement.stopwatch import Stopwatch
    if job.workload_file:
        about.add({cell.workload: str(job.workload_file)})
    work = workloads.workload(cell.workload)
    batch_size = int(cell.batch_size) * cell.devices
    keras.utils.set_random_seed(job.seed)
    with _stage(pipe, "data"):
        split, counts = prepared(job, work)
        if job.probe:
            if batch_size > max(split.train_samples, work.BATCH_SIZE * cell.devices):
                return "failed", f"there are {split.train_samples} samples"
            split = split.repeated(PROBE_STEPS * batch_size)
        elif cell.samples < 1 or cell.devices > 1:  # Keras on JAX cannot part an odd batch
            split = split.whole_batches(batch_size)

    # Keras fits on one torch device: there, several take the framework's own loop, tuned or not.
    parallel = backend.parallel if backend.PARALLEL_FIT else lambda devices: nullcontext()
    fits = cell.mode in ("stock", "plain_lstm") and (cell.devices == 1 or parallel is backend.parallel)
    validation = split.validation
    with _stage(pipe, "build"), parallel(cell.devices):
        model = work.build(replace(split, batch_size=batch_size))
        if cell.mode == "plain_lstm":
            _plain_lstm(model, job.gpus)
        if not fits:
            plain = {"tuned": False} if cell.mode == "stock" else {}
            data = (split.x_train, split.y_train, validation)
            stepper = backend.Loop(model, *data, batch_size, cell.devices, cell.mode == "sparse", **plain)
            started.callback(stepper.close)
        elif validation:
            # A whole and an odd batch compile the validation step before the clock starts.
            tail = batch_size + split.val_samples % batch_size
            x, y = workloads.mapped(lambda array: array[-tail:], validation)
            before = [(state, keras.ops.convert_to_numpy(state).copy()) for state in states(model)]
            model.evaluate(x, y, batch_size=batch_size, verbose=0)
            for state, value in before:
                state.assign(value)
        backend.synchronise()
    built = perf_counter()

    samples = split.train_samples
    labels = split.y_train if validation is None else validation[1]
    metric = work.REFERENCE.metric if work.REFERENCE else "acc"
    # Random labels are there to be timed: what is learned of them means nothing.
    learnable = getattr(work, "LEARNABLE", True)
    # Of labels that are not ours it is not known what they stand for: one-hot, padded, no classes at all; nor of
    # several outputs, which one is meant.
    judged = learnable and (work.REFERENCE is not None or job.workload_file is None) and hasattr(labels, "shape")
    pipe.send(
        (
            "facts",
            {
                "devices": devices,
                "cores": allowed,
                "packages": {name: version(name) for name in ("keras", "numpy", *backend.DISTRIBUTIONS)},
                "parameters": model.count_params(),
                "flops_per_sample": flops.per_trained_sample(model),
                "train_samples": samples,
                "validation_samples": split.val_samples,
                **counts,
                "learnable": learnable,
                "chance": chance(labels, metric) if judged else None,
            },
        )
    )
    cpu: list[float] = []
    ends: list[float] = []

    def on_clock(reading: float) -> None:
        pipe.send(("clock", reading))
        pipe.send(("time", "setup_seconds", reading - built))
        cpu.append(telemetry.cpu_seconds())

    def on_epoch(row: dict[str, Any]) -> None:
        pipe.send(("epoch", row))
        ends.append(perf_counter())

    watched: dict[str, Any] = {
        "samples": samples,
        "batch_size": batch_size,
        "warmup_steps": protocol.warmup_steps(ceil(samples / batch_size), cell.epochs),
        "target": cell.target,
        "synchronise": backend.synchronise,
        "report": on_epoch,
        "started": on_clock,
    }
    pipe.send(("stage", "train"))
    keeper = None
    # What cannot be saved begins anew.
    if job.checkpoints and (backend.RESUMES_PARALLEL or cell.devices == 1):
        place = checkpoint.Place(job.checkpoints, *job.identity)
        keeper = checkpoint.Keeper(place, lambda: bool(_NOTICE), lambda seconds: pipe.send(("saved", seconds)))
    if fits:
        fitted = {"x": split.x_train, "y": split.y_train, "batch_size": batch_size, "validation_data": validation}
        with parallel(cell.devices):
            if keeper:
                ended = resumable.fit(model, fitted, cell.epochs, job.seed, keeper, watched)
            else:
                stopwatch = Stopwatch(**watched)
                model.fit(**fitted, epochs=cell.epochs, verbose=0, callbacks=[stopwatch])
                ended = stopwatch.ended
        settings = {"loop": "model.fit, called for each epoch" if keeper else "model.fit"}
        if hasattr(backend, "fit_settings"):
            settings |= backend.fit_settings(model)
    else:
        ended, settings = loop.fit(stepper, cell.epochs, seed=job.seed, keeper=keeper, **watched), stepper.settings
        pipe.send(("stage", "end"))
    if ends:
        pipe.send(("time", "return_seconds", perf_counter() - ends[-1]))
    pipe.send(("time", "cpu_seconds", telemetry.cpu_seconds() - cpu[0]))
    pipe.send(("facts", {"settings": settings}))
    if ended == "diverged":
        return "diverged", "the loss is not a finite number"
    return "done", None
