"""How fast the trainer trains: `tuned` beside the best native loop, and `stock` beside a plain Keras program.

Both sides of a pair run in turns, A B A B, on the same synthetic data. Ratios within one run only: a time by
itself says more about the machine than about the code. Nothing passes or fails.
"""

import argparse
import importlib
import json
import multiprocessing
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from datetime import date
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import Progress

from scripts import datasets, frameworks, workloads
from scripts.measurement import hardware, watch, worker
from scripts.records.cell import Cell

WORKLOADS = (
    "mnist_mlp",
    "mnist_cnn",
    "cifar10_cnn",
    "imdb_bidirectional_lstm",
    "imdb_fasttext",
    "lstm_text_generation",
)
CACHE = Path(__file__).resolve().parents[2] / ".cache" / "bench"
CHUNK_SECONDS = 1.5
WARMUP_STEPS = 20
#: Samples that both loops hold: steps enough for a chunk, memory enough for two of everything.
RACE_SAMPLES = 25_600
#: The epochs of `stock` beside plain; the first is not counted.
EPOCHS = 4
SEED = 1
#: `tuned` is to reach this share of the native speed; `stock` is to take at most so much of the plain time.
GOALS = {"tuned": 0.95, "stock": 1.01}


def data_file(workload: str) -> Path:
    """Return the synthetic data of a workload, made when first asked for."""
    name = workloads.workload(workload).DATASET
    path = CACHE / f"{name}.npz"
    if not path.is_file():
        path.parent.mkdir(parents=True, exist_ok=True)
        datasets.obtain(name, "synthetic", path, None, CACHE)
    return path


def job(workload: str, framework: str, cores: int, samples: float, epochs: int = EPOCHS) -> worker.Job:
    """Return a stock training on this fraction of the samples."""
    cell = Cell(workload, "bench", framework, workloads.workload(workload).BATCH_SIZE, epochs, samples, "synthetic")
    return worker.Job(cell, seed=SEED, cores=cores, gpus=0, data=data_file(workload))


def built(job: worker.Job) -> tuple[workloads.Split, Any]:
    """Start the job's framework in this process as the trainer does; return the samples and the compiled model."""
    worker.start(job, worker.pin_resources(job))
    import keras

    work = workloads.workload(job.cell.workload)
    keras.utils.set_random_seed(job.seed)
    split = work.prepare(datasets.load(job.data)).part(job.cell.samples).whole_batches(job.cell.batch_size)
    return split, work.build(split)


def fresh(function: Callable, *arguments: Any) -> Any:
    """Return what the function returns in a process of its own."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        return pool.submit(function, *arguments).result()


def race(job: worker.Job, rounds: int) -> dict[str, Any]:
    """Return the samples/s of tuned and native chunks that took turns, and the losses of their first steps."""
    split, model = built(job)
    backend = frameworks.framework(job.cell.framework)
    batch_size, x, y = job.cell.batch_size, split.x_train, split.y_train
    loop = backend.Loop(model, x, y, None, batch_size, 1, False)
    loop.compile()
    order = np.random.default_rng(SEED).permutation(len(x))

    def tuned(order: np.ndarray, first: int, last: int) -> float:
        loop.begin(order)
        loop.steps(first, last)
        loss = loop.finish()["loss"]
        backend.synchronise()
        return loss

    native = importlib.import_module(f"tests.bench.native.{job.cell.framework}").build(
        job.cell.workload, x, y, batch_size, split.classes
    )
    loops, losses, steps = {"tuned": tuned, "native": native}, {}, {}
    whole = len(x) // batch_size
    for name, run in loops.items():
        done, start = 0, perf_counter()
        while done < WARMUP_STEPS or perf_counter() - start < 1:
            began = perf_counter()
            loss = run(order, 0, min(whole, WARMUP_STEPS))
            seconds = (perf_counter() - began) / min(whole, WARMUP_STEPS)
            losses.setdefault(name, loss)
            done += WARMUP_STEPS
        steps[name] = max(1, round(CHUNK_SECONDS / seconds))
    speeds: dict[str, list[float]] = {name: [] for name in loops}
    for _ in range(rounds):
        for name, run in loops.items():
            start = perf_counter()
            for first in range(0, steps[name], whole):
                run(order, 0, min(whole, steps[name] - first))
            speeds[name].append(steps[name] * batch_size / (perf_counter() - start))
    return {"samples_per_second": speeds, "losses": losses, "settings": loop.settings}


def plain(job: worker.Job) -> tuple[float, int]:
    """Fit as anybody writes it; return the seconds of an epoch without the first, and the samples trained in it."""
    split, model = built(job)
    import keras

    began, ended = [], []
    clock = keras.callbacks.LambdaCallback(
        on_epoch_begin=lambda epoch, logs: began.append(perf_counter()),
        on_epoch_end=lambda epoch, logs: ended.append(perf_counter()),
    )
    model.fit(
        split.x_train,
        split.y_train,
        batch_size=job.cell.batch_size,
        epochs=job.cell.epochs,
        validation_data=None if split.x_val is None else (split.x_val, split.y_val),
        verbose=0,
        callbacks=[clock],
    )
    seconds = [end - begin for begin, end in zip(began[1:], ended[1:], strict=True)]
    return sum(seconds) / len(seconds), len(split.x_train)


def stock(job: worker.Job) -> float:
    """Return the seconds of an epoch, without the first, of the same training through our trainer."""
    outcome = watch.run(job, lambda line: None)
    if outcome.status != "done":
        raise RuntimeError(outcome.reason)
    seconds = [row["elapsed"] for row in outcome.epochs[1:]]
    return sum(seconds) / len(seconds)


def compare(job: worker.Job, rounds: int) -> dict[str, Any]:
    """Return the seconds of an epoch of plain and stock trainings that took turns, each in a process of its own."""
    work = workloads.workload(job.cell.workload)
    complete = datasets.dataset(work.DATASET).COMPLETE
    short = replace(job, cell=replace(job.cell, samples=min(1.0, 20 * job.cell.batch_size / complete), epochs=2))
    seconds, samples = fresh(plain, short)
    fraction = min(1.0, short.cell.samples * max(1.0, CHUNK_SECONDS / seconds))
    job = replace(job, cell=replace(job.cell, samples=fraction))
    times: dict[str, list[float]] = {"stock": [], "plain": []}
    for _ in range(rounds):
        times["stock"].append(stock(job))
        seconds, samples = fresh(plain, job)
        times["plain"].append(seconds)
    return {"epoch_seconds": times, "train_samples": samples}


def overlap(points: dict[str, list[float]]) -> bool:
    """Return whether the ranges of the two overlap."""
    one, other = points.values()
    return min(one) <= max(other) and min(other) <= max(one)


def line(pair: str, points: dict[str, list[float]], goal: str, form: str) -> str:
    """Return a pair's row of a table: medians, their ratio, whether it reaches the goal, and all points."""
    ours, theirs = points
    ratio = median(points[ours]) / median(points[theirs])
    reached = ratio >= GOALS["tuned"] if goal == "at least" else ratio <= GOALS["stock"]
    words = "reached" if reached else "too close to call" if overlap(points) else "missed"
    medians = " ".join(f"{median(points[name]):>12{form}}" for name in points)
    values = "; ".join(f"{name} {' '.join(f'{point:{form}}' for point in points[name])}" for name in points)
    return f"{pair:<36} {medians} {ratio:>7.3f} {words:<14} {values}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--frameworks", nargs="+", default=[name for name in frameworks.names() if find_spec(name)])
    parser.add_argument("--workloads", nargs="+", default=WORKLOADS)
    parser.add_argument("--tables", nargs="+", choices=("tuned", "stock"), default=("tuned", "stock"))
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=6, help="turns of each side")
    parser.add_argument("--output", type=Path, help="write all points as JSON")
    options = parser.parse_args()
    pairs = [(workload, framework) for workload in options.workloads for framework in options.frameworks]
    console = Console(stderr=True)
    results: list[dict[str, Any]] = []
    with Progress(console=console, transient=True) as progress:
        task = progress.add_task("", total=len(pairs) * len(options.tables))

        def measure(table: str, head: str, goal: str, unit: str, form: str, measurement: Callable) -> None:
            print(head, flush=True)
            for workload, framework in pairs:
                pair = f"{workload} {framework}"
                progress.update(task, description=f"{table}: {pair}")
                try:
                    result = measurement(workload, framework)
                except Exception as error:
                    print(f"{pair:<36} {' '.join(f'{type(error).__name__}: {error}'.split())[:200]}", flush=True)
                    result = {"error": str(error)}
                else:
                    losses = "".join(
                        f"; first {name} loss {loss:.3f}" for name, loss in result.get("losses", {}).items()
                    )
                    print(line(pair, result[unit], goal, form) + losses, flush=True)
                results.append({"table": table, "workload": workload, "framework": framework} | result)
                progress.advance(task)

        def tuned_against_native(workload: str, framework: str) -> dict[str, Any]:
            complete = datasets.dataset(workloads.workload(workload).DATASET).COMPLETE
            fraction = min(1.0, RACE_SAMPLES / complete)
            return fresh(race, job(workload, framework, options.cores, fraction), options.rounds)

        def stock_against_plain(workload: str, framework: str) -> dict[str, Any]:
            return compare(job(workload, framework, options.cores, 1.0), options.rounds)

        if "tuned" in options.tables:
            head = f"tuned against native, {options.cores} cores: samples/s, goal at least {GOALS['tuned']} x"
            measure("tuned", head, "at least", "samples_per_second", ",.0f", tuned_against_native)
        if "stock" in options.tables:
            head = f"stock against plain Keras, {options.cores} cores: s per epoch, goal at most {GOALS['stock']} x"
            measure("stock", head, "at most", "epoch_seconds", ".3f", stock_against_plain)
    if options.output:
        taken = {"cores": options.cores, "on": date.today().isoformat(), "cpu_model": hardware.detect()["cpu_model"]}
        options.output.write_text(json.dumps(taken | {"goals": GOALS, "results": results}, indent=1) + "\n")


if __name__ == "__main__":
    main()
