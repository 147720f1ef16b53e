"""Gather run records, with what follows from them, into tables: a row per run, per epoch, and per recorded attempt."""

import argparse
import sys
from pathlib import Path

from scripts.analysis import runs
from scripts.records import stored
from scripts.records.seen import Seen
from scripts.storage import errors, tables


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("records", nargs="*", type=Path, help="run.json files; else lines of stdin")
    parser.add_argument("--folder", required=True, type=Path, help="folder of the study, above all records")
    parser.add_argument("--repeats", required=True, type=int, help="runs of a configuration's first measurement")
    parser.add_argument("--runs", required=True, type=Path, help="table to write (.parquet; .csv beside it)")
    parser.add_argument("--epochs", required=True, type=Path, help="likewise")
    parser.add_argument("--attempts", required=True, type=Path, help="likewise")
    options = parser.parse_args()
    records = options.records or [Path(line) for line in sys.stdin.read().splitlines()]
    known = Seen(options.runs.parent / "logs" / "seen.json")
    rows = stored.each(options.folder, records, runs.rows, known)
    of_runs, of_epochs, of_attempts = runs.collect(rows, options.repeats, options.folder)
    tables.write(of_runs, "runs", options.runs)
    tables.write(of_epochs, "epochs", options.epochs)
    tables.write(of_attempts, "attempts", options.attempts)
    known.save()
    print(f"{len(of_runs)} runs, {known.read} of them read", flush=True)
    return 0


if __name__ == "__main__":
    errors.run(main)
