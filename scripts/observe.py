"""Run one command of a study, watched from outside, and write its record: run.json, epochs.csv and telemetry.csv.

The recorder is that of `epd run` (docs/run.md). Needs the packages of `envs/train.in`, not Snakemake. Exit codes: 0
measured; 3 it failed, or nothing could be read of it, and the record says how; 4 it was ended from outside, and there
is no record; 2 bad input.
"""

import argparse
import json
import os
import signal
import time
from pathlib import Path

from scripts.measurement import attempt, hardware, observed, provenance
from scripts.measurement.exclusive import exclusive
from scripts.measurement.outcome import Outcome
from scripts.records import observed as stored
from scripts.records import record
from scripts.records.cell import Cell
from scripts.storage import environment, errors, schemas, unchanged
from scripts.storage.errors import InputError

ROOT = Path(__file__).resolve().parents[1]
RECORDED_FAILURE, TAKEN_AWAY = 3, 4


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cell", required=True, help="what is trained on what (JSON, the fields of a cell)")
    parser.add_argument("--repeat", required=True, type=int, help="number of this run of the cell")
    parser.add_argument("--command", required=True, help="what is run, where, for how long (JSON)")
    parser.add_argument("--code", help="checksum of what decides how this run is trained, for its record")
    parser.add_argument("--output", required=True, type=Path, help="folder of the run record")
    return parser.parse_args()


def _refused() -> Outcome | None:
    """Return how a run ended that got no machine: who submits it says so in a variable."""
    ended = json.loads(environment.ENDED.read() or "null")
    return ended and Outcome(ended["status"], ended["reason"], {"total_seconds": 0.0})


def _measure(options: argparse.Namespace) -> int:
    cell, command = Cell(**json.loads(options.cell)), json.loads(options.command)
    catalogue = schemas.read_yaml(ROOT / "config" / "hardware.yaml", "hardware")
    if cell.hardware not in catalogue:
        raise InputError(f"hardware {cell.hardware!r} is unknown: it is one of {', '.join(catalogue)}")
    claims = catalogue[cell.hardware]["machine"]
    outcome, seen, is_ended = _refused(), None, False
    trusted = environment.TRUSTED.read()  # which the program does not see
    found = hardware.NOT_SEEN if outcome else hardware.detect()
    origin = provenance.collect(found, None)
    output = options.output.resolve()
    attempt.log(f"{cell.path}: a program, watched for {command['minutes']:g} min from its first step on")
    if outcome is None:
        hardware.check(cell.hardware, claims, cell.devices, found)
        unchanged.check(trusted, cell.workload)
        outcome, seen, is_ended = observed.run(command, claims["cores"])
    if is_ended:
        attempt.log("it was ended from outside: no result; the same call measures it again")
        return TAKEN_AWAY
    os.chdir(ROOT)
    unchanged.check(trusted, cell.workload, has_run=True)
    samples = stored.samples(seen)
    run = outcome.record(cell, int(cell.batch_size), None) | {
        "repeat": options.repeat,
        "seed": cell.seed(options.repeat),
        "claims": claims,
        "batch_search": None,
        "train_samples": samples,
        "data": {
            "dataset": cell.workload,
            "kind": "own",
            "train_samples": samples or 1,
            "complete_train_samples": samples or 1,
            "sha256": {},
        },
        "observed": seen,
        "provenance": origin | {"code": options.code, "devices": None, "cores": None, "packages": None},
    }
    record.write(output, run, [], [])
    attempt.log(
        f"{outcome.status} in {outcome.times['total_seconds']:.0f} s" + f": {outcome.reason}" * bool(outcome.reason)
    )
    return 0 if outcome.status == "done" else RECORDED_FAILURE


def _recorded(options: argparse.Namespace, since: float) -> int | None:
    """Return the exit code for the record of this run that another process has written since, None without one."""
    file = options.output / "run.json"
    if not file.is_file() or file.stat().st_mtime < since:
        return None
    run = record.read_run(file)
    if (run["provenance"].get("code"), run["repeat"]) != (options.code, options.repeat):
        return None
    attempt.log("its record is taken")
    return 0 if run["status"] == "done" else RECORDED_FAILURE


def main() -> int:
    # The shell of the rule ignores it for those who wait for this process.
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    options = parse()
    asked = time.time()
    with exclusive(options.output) as waited:
        taken = _recorded(options, asked) if waited else None
        return _measure(options) if taken is None else taken


if __name__ == "__main__":
    errors.run(main)
