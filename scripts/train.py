"""Train one run of one cell and write its record: run.json, epochs.csv and telemetry.csv.

Needs a framework and the packages of `envs/train.in`, not Snakemake: this is how a machine without
the workflow is measured. Exit codes: 0 trained; 3 it failed, and the record says how; 2 bad input.
"""

import argparse
import math
import sys
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path

if __package__ in (None, ""):  # `python scripts/train.py`: Python puts scripts/ on the path, not its parent
    sys.path[0] = str(Path(__file__).resolve().parents[1])

from scripts import datasets, errors, frameworks, schemas, workloads
from scripts.errors import InputError
from scripts.measurement import hardware, provenance, record, telemetry, watch
from scripts.measurement.cell import Cell
from scripts.measurement.worker import Job

ROOT = Path(__file__).resolve().parents[1]
RECORDED_FAILURE = 3


def _positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{value} is below 1")
    return value


def _fraction(text: str) -> float:
    value = float(text)
    if not 0 < value <= 1:
        raise argparse.ArgumentTypeError(f"{value} is not above 0 and at most 1")
    return value


def parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workload", required=True, choices=workloads.names())
    parser.add_argument("--framework", required=True, choices=frameworks.names())
    parser.add_argument("--hardware", required=True, help="an entry of config/hardware.yaml")
    parser.add_argument("--output", required=True, type=Path, help="folder of the run record")
    parser.add_argument("--batch-size", type=_positive, help="default: as published")
    parser.add_argument("--epochs", type=_positive, help="default: as published")
    parser.add_argument("--samples", type=_fraction, default=1.0, help="fraction of the samples (default 1)")
    parser.add_argument("--data", choices=("real", "synthetic"), default="real")
    parser.add_argument(
        "--data-dir", type=Path, help="folder that holds the data files already (default: EPOCHS_DATA_DIR)"
    )
    parser.add_argument("--repeat", type=_positive, default=1, help="number of this run of the cell")
    parser.add_argument("--seed", type=int, help="default: made from the cell and the repeat")
    return parser.parse_args(arguments)


def _finite(value: float | None) -> float | None:
    """Return the value, or None for one that JSON cannot hold (a diverged loss)."""
    return value if value is not None and math.isfinite(value) else None


def main(arguments: list[str] | None = None) -> int:
    options = parse(arguments)
    work = workloads.workload(options.workload)
    catalogue = schemas.read_yaml(ROOT / "config" / "hardware.yaml", "hardware")
    if options.hardware not in catalogue:
        raise InputError(f"hardware {options.hardware!r} is unknown: it is one of {', '.join(catalogue)}")
    claims = catalogue[options.hardware]["machine"]
    found = hardware.detect()
    hardware.check(options.hardware, claims, found)

    backend = frameworks.framework(options.framework)
    for package in backend.DISTRIBUTIONS:
        if find_spec(package) is None:
            raise InputError(
                f"framework {options.framework}: {package} is not installed; see envs/{options.framework}.lock"
            )

    data = ROOT / "data" / options.data / f"{work.DATASET}.npz"
    if not data.is_file():
        datasets.obtain(
            work.DATASET, options.data, data, options.data_dir or datasets.given_folder(), ROOT / "data" / "downloads"
        )
    cell = Cell(
        workload=options.workload,
        hardware=options.hardware,
        framework=options.framework,
        batch_size=options.batch_size or work.BATCH_SIZE,
        epochs=options.epochs or work.EPOCHS,
        samples=options.samples,
        data=options.data,
    )
    seed = cell.seed(options.repeat) if options.seed is None else options.seed
    origin = provenance.collect(found)

    print(f"{cell.path}: seed {seed}, {cell.epochs} epochs, {options.data} data", flush=True)
    outcome = watch.run(
        Job(cell, seed, claims["cores"], claims.get("gpus", {}).get("count", 0), data),
        progress=lambda line: print(line, flush=True),
    )

    totals = record.totals(outcome.epochs, cell.batch_size)
    throughput = totals.pop("samples_per_second")
    last = outcome.epochs[-1] if outcome.epochs else {}
    use = telemetry.summary(outcome.samples)
    facts = outcome.facts
    run = {
        "schema_version": record.SCHEMA_VERSION,
        "cell": asdict(cell),
        "repeat": options.repeat,
        "seed": seed,
        "status": outcome.status,
        "reason": outcome.reason,
        "claims": claims,
        "data": datasets.describe(data),
        "train_samples": facts.get("train_samples"),
        "validation_samples": facts.get("validation_samples"),
        "parameters": facts.get("parameters"),
        "times": {
            name: outcome.times.get(name)
            for name in ("import_seconds", "data_seconds", "build_seconds", "total_seconds")
        }
        | totals,
        "samples_per_second": throughput,
        "final": {"epochs": len(outcome.epochs)}
        | {name: _finite(last.get(name)) for name in ("loss", "acc", "val_loss", "val_acc")},
        "telemetry": use | {"peak_memory_mib": facts.get("peak_memory_mib", use["peak_memory_mib"])},
        "provenance": origin | {name: facts.get(name) for name in ("devices", "cores", "packages")},
    }
    record.write(options.output, run, outcome.epochs, outcome.samples, outcome.clock)
    seconds = f"{outcome.times['total_seconds']:.0f} s"
    print(f"{outcome.status} in {seconds}" + (f": {outcome.reason}" if outcome.reason else ""), flush=True)
    return 0 if outcome.status == "done" else RECORDED_FAILURE


if __name__ == "__main__":
    errors.run(main)
