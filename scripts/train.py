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
import time
from dataclasses import asdict
from importlib.metadata import version
from importlib.util import find_spec
from math import inf
from pathlib import Path
from types import ModuleType
from typing import Any

if __package__ in (None, ""):  # `python scripts/train.py`: Python puts scripts/ on the path, not its parent
    sys.path[0] = str(Path(__file__).resolve().parents[1])

from scripts import datasets, frameworks, workloads
from scripts.measurement import attempt, checkpoint, hardware, job_clock, provenance, watch
from scripts.measurement.exclusive import exclusive
from scripts.measurement.outcome import Outcome
from scripts.measurement.worker import Job
from scripts.records import about, data_file, record
from scripts.records.cell import LARGEST, MODES, PRECISIONS, Cell
from scripts.storage import environment, errors, modules, schemas, unchanged
from scripts.storage.errors import InputError

ROOT = Path(__file__).resolve().parents[1]
RECORDED_FAILURE, TAKEN_AWAY = 3, 4

#: How a run can end whose training could not say so itself.
NO_MACHINE = ("quota", "no_capacity", checkpoint.PREEMPTED, "timed_out")


def _positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{value} is below 1")
    return value


def _batch_size(text: str) -> int | str:
    return text if text == LARGEST else _positive(text)


def _minutes(text: str) -> float:
    value = float(text)
    if not value > 0:
        raise argparse.ArgumentTypeError(f"{text} is not above 0")
    return value


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
        "--data-dir", type=Path, help=f"folder that holds the data files already (default: {environment.DATA_DIR.name})"
    )
    parser.add_argument(
        "--checkpoints",
        default=environment.CHECKPOINTS.read() or None,
        help="folder or URL below which the run is saved, and resumed "
        f"(default: {environment.CHECKPOINTS.name}; else not)",
    )
    parser.add_argument(
        "--most-minutes",
        type=_minutes,
        default=environment.MOST_MINUTES.read() or inf,
        help=f"of all attempts together, after which it is ended (default: {environment.MOST_MINUTES.name}; else none)",
    )
    parser.add_argument("--repeat", type=_positive, default=1, help="number of this run of the cell")
    parser.add_argument(
        "--searched", type=Path, help="run.json of this cell: its largest batch size is taken, not searched again"
    )
    parser.add_argument("--code", help="checksum of the code that decides how this run is trained, for its record")
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


def _ended() -> Outcome | None:
    """Return how a run ended that got no machine, or lost every one: who submits it says so in a variable."""
    ended = json.loads(environment.ENDED.read() or "null")
    if ended is None:
        return None
    status = ended["status"] if ended["status"] in NO_MACHINE else "failed"
    return Outcome(status, ended["reason"], {"total_seconds": 0.0})


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


def _about_data(job: Job, facts: dict[str, Any]) -> dict[str, Any]:
    """Return what the record says of the data: that of the file, or that a workload brought its own."""
    if job.data:
        return data_file.describe(job.data)
    samples = max(1, facts.get("whole_train_samples") or 1)
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
        about.add({file.stem: str(file)})
    name = file.stem if file else options.workload
    if name not in about.workloads():
        raise InputError(f"--workload: {name!r} is unknown: it is one of {', '.join(about.workloads())}, or a .py file")
    about.workload(name)  # what its file does not say is refused before anything is trained
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


def _ending(outcome: Outcome, seconds: float) -> str:
    """Return the last line: how the run ended, and why, or with which values. What they are worth the report says."""
    said = f"{outcome.status} in {seconds:.0f} s"
    if outcome.reason:
        return f"{said}: {outcome.reason}"
    last = outcome.epochs[-1] if outcome.epochs else {}
    values = [
        f"{name} {last[name]:.4f}" for name in ("loss", "acc", "val_loss", "val_acc") if last.get(name) is not None
    ]
    return f"{said}: {', '.join(values)}" if values else said


def main(arguments: list[str] | None = None, began: float | None = None) -> int:
    """Train what the arguments say; `began` is what `perf_counter` showed when this process did, without it now."""
    began = time.perf_counter() if began is None else began
    options = parse(arguments)
    asked, waits_from = time.time(), time.perf_counter()
    with exclusive(options.output) as waited:
        unchanged.check(environment.TRUSTED.read(), Path(options.workload).stem)
        taken = _recorded(options, asked) if waited else None
        # Waiting for another process that trains the same is no part of this run, nor is looking at its code.
        return _run(options, began + time.perf_counter() - waits_from) if taken is None else taken


def _recorded(options: argparse.Namespace, began: float) -> int | None:
    """Return the exit code for the record of this run that another process has written since, None without one."""
    file = options.output / "run.json"
    if not file.is_file() or file.stat().st_mtime < began:
        return None
    run = record.read_run(file)
    name, work, _ = _workload(options)
    cell = _cell(options, name, work)
    seed = cell.seed(options.repeat) if options.seed is None else options.seed
    same = (run["cell"], run["seed"], run["provenance"].get("code")) == (asdict(cell), seed, options.code)
    if not same:
        return None
    attempt.log("its record is taken")
    return 0 if run["status"] == "done" else RECORDED_FAILURE


def _run(options: argparse.Namespace, began: float) -> int:
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
    notices = watch.Notices(int(environment.CALLER.read() or 0))
    signal.signal(signal.SIGTERM, notices.take)
    attempts, earlier, place = None, [], None
    identity = (json.dumps(asdict(cell)), str(seed), *_code(work, frameworks.framework(options.framework)))
    if options.checkpoints:
        place = f"{options.checkpoints.rstrip('/')}/{cell.path}/r{options.repeat}"
        kept = checkpoint.Place(place, *identity)
        earlier = checkpoint.previous(kept)
        attempts = None if ended else checkpoint.Attempts(kept, platform.node(), job_clock.before())
    train = attempt.trainer(60 * options.most_minutes, attempts, notices)
    gpus = options.devices if "gpus" in claims else 0
    fetched_from = time.perf_counter()
    data = _data(work, options)
    began += time.perf_counter() - fetched_from  # nor is fetching its data
    job = Job(cell, seed, claims["cores"], gpus, data, file and file.resolve(), checkpoints=place, identity=identity)
    origin = provenance.collect(found, file)
    attempt.log(f"{cell.path}: seed {seed}, {cell.epochs} epochs, {cell.data} data")
    if (ignored := environment.steering(os.environ)) and not file:
        attempt.log(f"not passed on to the training: {', '.join(ignored)}")
    batch_size: int | None = None
    tries: list[dict[str, Any]] = []
    launched = time.perf_counter()
    if ended:
        outcome = ended
    else:
        outcome, batch_size, tries = attempt.attempt(job, options.searched, work.BATCH_SIZE, train)
        if outcome.status == "timed_out":
            outcome.reason = f"took longer than {options.most_minutes:g} minutes"
    unchanged.check(environment.TRUSTED.read(), name, has_run=True)
    trained = time.perf_counter()
    cut_short = notices and batch_size is None  # while it looked for the largest batch
    if attempts and (cut_short or outcome.status == checkpoint.PREEMPTED):
        attempts.end(checkpoint.PREEMPTED)
        attempt.log("saved: the same call goes on from here, on any machine like this")
        return TAKEN_AWAY
    if notices and outcome.status == "killed":  # by somebody who wants this to end, not by what it did
        attempt.log(f"{outcome.reason}: no result; the same call trains it again")
        return TAKEN_AWAY
    run = outcome.record(cell, batch_size or work.BATCH_SIZE, about.workload(name).reference)
    run |= {
        "repeat": options.repeat,
        "seed": seed,
        "claims": claims,
        "batch_search": tries or None,
        "data": _about_data(job, outcome.facts),
    }
    if attempts:
        earlier = attempts.to_json(run["status"], sum(row["elapsed"] for row in outcome.epochs))
    if earlier:
        run["attempts"] = earlier
    run["provenance"] = (
        origin | {"code": options.code} | {name: outcome.facts.get(name) for name in ("devices", "cores", "packages")}
    )
    life = outcome.times["total_seconds"]

    def last_times() -> dict[str, float]:
        launch, write = launched - began, time.perf_counter() - trained
        return {"launch_seconds": launch, "write_seconds": write, "total_seconds": launch + life + write}

    record.write(options.output, run, outcome.epochs, outcome.samples, dict if ended else last_times)
    # With a notice the record may not get away in time: the next attempt then goes on from the checkpoint.
    if attempts and not notices:
        attempts.end(run["status"])
    attempt.log(_ending(outcome, run["times"]["total_seconds"]))
    return 0 if outcome.status == "done" else RECORDED_FAILURE


if __name__ == "__main__":
    errors.run(lambda: main(began=job_clock.began()))
