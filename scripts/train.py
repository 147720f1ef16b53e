"""Train one run of one cell and write its record: run.json, epochs.csv and telemetry.csv.

Needs a framework and the packages of `envs/train.in`, not Snakemake: this is how a machine without
the workflow is measured. Exit codes: 0 trained; 3 it failed, and the record says how; 4 its machine is being taken
away, and the checkpoint is written; 2 bad input.
"""

import argparse
import json
import os
import platform
import signal
import sys
from collections.abc import Callable
from dataclasses import asdict, replace
from importlib.metadata import version
from importlib.util import find_spec
from math import inf
from pathlib import Path
from time import perf_counter
from types import ModuleType
from typing import Any

if __package__ in (None, ""):  # `python scripts/train.py`: Python puts scripts/ on the path, not its parent
    sys.path[0] = str(Path(__file__).resolve().parents[1])

from scripts import datasets, frameworks, workloads
from scripts.measurement import checkpoint, hardware, largest, provenance, record, watch
from scripts.measurement.cell import LARGEST, MODES, PRECISIONS, Cell
from scripts.measurement.worker import Job
from scripts.storage import errors, modules, schemas
from scripts.storage.errors import InputError

ROOT = Path(__file__).resolve().parents[1]
RECORDED_FAILURE, TAKEN_AWAY = 3, 4

#: Trains a job: what takes its lines, and the most memory (MiB) that it may take.
Train = Callable[..., watch.Outcome]

#: How a run can end whose training could not say so itself.
NO_MACHINE = ("quota", "no_capacity", checkpoint.PREEMPTED, "timed_out")


def _positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{value} is below 1")
    return value


def _batch_size(text: str) -> int | str:
    return text if text == LARGEST else _positive(text)


def _fraction(text: str) -> float:
    value = float(text)
    if not 0 < value <= 1:
        raise argparse.ArgumentTypeError(f"{value} is not above 0 and at most 1")
    return value


def parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workload", required=True, help="a module of scripts/workloads/, or the path of a .py file")
    parser.add_argument("--framework", required=True, choices=frameworks.names())
    parser.add_argument("--hardware", required=True, help="an entry of config/hardware.yaml")
    parser.add_argument("--output", required=True, type=Path, help="folder of the run record")
    parser.add_argument(
        "--batch-size", type=_batch_size, help="samples per step and device, or: largest (default: as published)"
    )
    parser.add_argument("--mode", choices=MODES, default="stock", help="how it is trained (default stock)")
    parser.add_argument("--precision", choices=PRECISIONS, default="float32", help="(default float32)")
    parser.add_argument("--devices", type=_positive, default=1, help="GPUs that train data-parallel (default 1)")
    parser.add_argument("--epochs", type=_positive, help="default: as published")
    parser.add_argument("--target", type=float, help="ends the run: validation accuracy, or loss without validation")
    parser.add_argument("--samples", type=_fraction, default=1.0, help="fraction of the samples (default 1)")
    parser.add_argument("--data", choices=("real", "synthetic"), default="real")
    parser.add_argument(
        "--data-file", type=Path, help="the data set as scripts/fetch_data.py wrote it (default: below data/)"
    )
    parser.add_argument(
        "--data-dir", type=Path, help="folder that holds the data files already (default: EPOCHS_DATA_DIR)"
    )
    parser.add_argument(
        "--checkpoints",
        default=os.environ.get("EPOCHS_CHECKPOINTS") or None,
        help="folder or URL below which the run is saved, and resumed (default: EPOCHS_CHECKPOINTS; else not)",
    )
    parser.add_argument(
        "--most-minutes",
        type=float,
        default=os.environ.get("EPOCHS_MOST_MINUTES") or inf,
        help="of all attempts together, after which it is ended (default: EPOCHS_MOST_MINUTES; else none)",
    )
    parser.add_argument("--repeat", type=_positive, default=1, help="number of this run of the cell")
    parser.add_argument(
        "--searched", type=Path, help="run.json of this cell: its largest batch size is taken, not searched again"
    )
    parser.add_argument("--seed", type=int, help="default: made from the cell and the repeat")
    return parser.parse_args(arguments)


def _data(work: ModuleType, options: argparse.Namespace) -> Path | None:
    """Return the file of the workload's data, obtained if it is not there yet; None if it brings its own."""
    if work.DATASET is None:
        return None
    data = options.data_file or ROOT / "data" / options.data / f"{work.DATASET}.npz"
    if not data.is_file():
        datasets.obtain(
            work.DATASET, options.data, data, options.data_dir or datasets.given_folder(), ROOT / "data" / "downloads"
        )
    return data


def _ended() -> watch.Outcome | None:
    """Return how a run ended that got no machine, or lost every one: who submits it says so in EPOCHS_ENDED."""
    told = json.loads(os.environ.get("EPOCHS_ENDED", "null"))
    if told is None:
        return None
    status = told["status"] if told["status"] in NO_MACHINE else "failed"
    return watch.Outcome(status, told["reason"], {"total_seconds": 0.0})


def _code(work: ModuleType, backend: frameworks.Framework) -> list[str]:
    """Return what a checkpoint's code was: that of another one is not taken."""
    own = [ROOT / "scripts" / "measurement" / name for name in ("loop.py", "resumable.py")]
    framework = backend.__name__.rpartition(".")[2]
    files = [Path(str(work.__file__)), *modules.files(ROOT / "scripts" / "frameworks", framework)]
    versions = [f"{name} {version(name)}" for name in ("keras", *backend.DISTRIBUTIONS) if find_spec(name)]
    return [provenance.digest(*files, *own), *versions]


def _check(options: argparse.Namespace, claims: dict[str, Any], found: dict[str, Any]) -> None:
    """Raise InputError unless this machine is the one that is claimed, with the framework."""
    hardware.check(options.hardware, claims, options.devices, found)
    for package in frameworks.framework(options.framework).DISTRIBUTIONS:
        if find_spec(package) is None:
            lock = f"envs/{options.framework}{'-gpu' if 'gpus' in claims else ''}.lock"
            raise InputError(f"framework {options.framework}: {package} is not installed; see {lock}")


def _search(job: Job, options: argparse.Namespace, least: int, train: Train) -> tuple[int | None, list[dict[str, Any]]]:
    """Return the largest batch size that fits, None if not even `least` does, and the tries; or an earlier run's."""
    if options.searched:
        earlier = record.read_run(options.searched)
        if earlier["cell"] != asdict(job.cell):
            raise InputError(f"--searched: {options.searched}: the record of another cell")
        if known := largest.found(earlier):
            return known, earlier["batch_search"]
    samples = datasets.describe(job.data)["train_samples"] if job.data else sys.maxsize
    most = int(samples * job.cell.samples) // job.cell.devices
    size, tries = largest.find(replace(job, checkpoints=None), least, most, _show, train)
    return size, [asdict(one) for one in tries]


def _show(line: str) -> None:
    print(line, flush=True)


def _about_data(job: Job, facts: dict[str, Any]) -> dict[str, Any]:
    """Return what the record says of the data: that of the file, or that a workload brought its own."""
    if job.data:
        return datasets.describe(job.data)
    samples = max(1, round((facts.get("train_samples") or 1) / job.cell.samples))
    return {
        "dataset": job.cell.workload,
        "kind": "own",
        "train_samples": samples,
        "complete_train_samples": samples,
        "sha256": {},
    }


def _workload(options: argparse.Namespace) -> tuple[str, ModuleType, Path | None]:
    """Return the workload's name and module, and its file if it is the user's own."""
    file = Path(options.workload) if options.workload.endswith(".py") else None
    if file:
        workloads.add({file.stem: str(file)})
    name = file.stem if file else options.workload
    if name not in workloads.names():
        raise InputError(f"--workload: {name!r} is unknown: it is one of {', '.join(workloads.names())}, or a .py file")
    return name, workloads.workload(name), file


def _cell(options: argparse.Namespace, name: str, work: ModuleType) -> Cell:
    return Cell(
        workload=name,
        hardware=options.hardware,
        framework=options.framework,
        batch_size=options.batch_size or work.BATCH_SIZE,
        epochs=options.epochs or work.EPOCHS,
        samples=options.samples,
        data=options.data if work.DATASET else "own",
        mode=options.mode,
        precision=options.precision,
        devices=options.devices,
        target=options.target,
    )


def _trainer(most_seconds: float, attempts: checkpoint.Attempts | None, notices: watch.Notices) -> Train:
    """Return what trains a job for as long as is left of its time, and gives signs of life."""
    began = perf_counter()

    def train(job: Job, progress: Callable[[str], None], memory_limit_mib: float | None = None) -> watch.Outcome:
        used = perf_counter() - began + (attempts.used_seconds() if attempts else 0.0)
        alive = attempts.alive if attempts else lambda kept_seconds: None
        return watch.run(job, progress, memory_limit_mib, most_seconds - used, alive, notices)

    return train


def _train(
    job: Job, options: argparse.Namespace, least: int, train: Train
) -> tuple[watch.Outcome, int | None, list[dict[str, Any]]]:
    """Return how the run went, its batch size (None if none fits), and what was tried to find it."""
    size: int | str | None = job.cell.batch_size
    tries: list[dict[str, Any]] = []
    began = perf_counter()
    if size == LARGEST:
        size, tries = _search(job, options, least, train)
    if not isinstance(size, int):
        last = tries[-1]
        reason = f"not even a batch of {least} could be tried: {last['reason']}"
        return watch.Outcome(last["status"], reason, {"total_seconds": perf_counter() - began}), None, tries
    cell, identity = replace(job.cell, batch_size=size), (*job.identity, str(size))
    outcome = train(replace(job, cell=cell, identity=identity), _show)
    if outcome.status == "timed_out":
        outcome.reason = f"took longer than {options.most_minutes:g} minutes"
    return outcome, size, tries


def _ending(outcome: watch.Outcome) -> str:
    """Return the last line: how the run ended, and why, or with which values. What they are worth the report says."""
    said = f"{outcome.status} in {outcome.times['total_seconds']:.0f} s"
    if outcome.reason:
        return f"{said}: {outcome.reason}"
    last = outcome.epochs[-1] if outcome.epochs else {}
    values = [
        f"{name} {last[name]:.4f}" for name in ("loss", "acc", "val_loss", "val_acc") if last.get(name) is not None
    ]
    return f"{said}: {', '.join(values)}" if values else said


def main(arguments: list[str] | None = None) -> int:
    options = parse(arguments)
    name, work, file = _workload(options)
    catalogue = schemas.read_yaml(ROOT / "config" / "hardware.yaml", "hardware")
    if options.hardware not in catalogue:
        raise InputError(f"hardware {options.hardware!r} is unknown: it is one of {', '.join(catalogue)}")
    claims = catalogue[options.hardware]["machine"]
    ended = _ended()
    found = hardware.NOT_SEEN if ended else hardware.detect()
    if not ended:
        _check(options, claims, found)
    cell = _cell(options, name, work)
    seed = cell.seed(options.repeat) if options.seed is None else options.seed
    notices = watch.Notices()
    signal.signal(signal.SIGTERM, notices.take)
    attempts, past, place = None, [], None
    identity = (json.dumps(asdict(cell)), str(seed), *_code(work, frameworks.framework(options.framework)))
    if options.checkpoints:
        place = f"{options.checkpoints.rstrip('/')}/{cell.path}/r{options.repeat}"
        kept = checkpoint.Place(place, *identity)
        past = checkpoint.past(kept)
        attempts = None if ended else checkpoint.Attempts(kept, platform.node())
    train = _trainer(60 * options.most_minutes, attempts, notices)
    gpus = options.devices if "gpus" in claims else 0
    data = _data(work, options)
    job = Job(cell, seed, claims["cores"], gpus, data, file and file.resolve(), checkpoints=place, identity=identity)
    origin = provenance.collect(found, file)
    _show(f"{cell.path}: seed {seed}, {cell.epochs} epochs, {cell.data} data")
    batch_size: int | None = None
    tries: list[dict[str, Any]] = []
    if ended:
        outcome = ended
    else:
        outcome, batch_size, tries = _train(job, options, work.BATCH_SIZE, train)
    cut_short = notices and batch_size is None  # while it looked for the largest batch
    if attempts and (cut_short or outcome.status == checkpoint.PREEMPTED):
        attempts.end(checkpoint.PREEMPTED)
        _show("saved: the same call goes on from here, on any machine like this")
        return TAKEN_AWAY
    run = record.build(outcome, cell, batch_size or work.BATCH_SIZE, work.REFERENCE)
    run |= {
        "repeat": options.repeat,
        "seed": seed,
        "claims": claims,
        "batch_search": tries or None,
        "data": _about_data(job, outcome.facts),
    }
    if attempts:
        past = attempts.told(run["status"], sum(row["elapsed"] for row in outcome.epochs))
    if past:
        run["attempts"] = past
    run["provenance"] = origin | {name: outcome.facts.get(name) for name in ("devices", "cores", "packages")}
    record.write(options.output, run, outcome.epochs, outcome.samples)
    # With a notice the record may not get away in time: the next attempt then goes on from the checkpoint.
    if attempts and not notices:
        attempts.end(run["status"])
    _show(_ending(outcome))
    return 0 if outcome.status == "done" else RECORDED_FAILURE


if __name__ == "__main__":
    errors.run(main)
