"""Take the tables of a study that was trained before, as CSV, in place of run records."""

import argparse
from datetime import UTC, datetime
from pathlib import Path

from scripts.analysis import clocks, contradictions
from scripts.storage import errors, tables


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="folder of runs.csv, epochs.csv and attempts.csv")
    for table in ("runs", "epochs", "attempts"):
        parser.add_argument(f"--{table}", required=True, type=Path, help="table to write (.parquet; .csv beside it)")
    options = parser.parse_args()
    frames = {
        table: tables.read_csv(table, options.folder / f"{table}.csv") for table in ("runs", "epochs", "attempts")
    }
    wrong = contradictions.of_tables(frames["runs"], frames["epochs"], datetime.now(UTC))
    if wrong:
        raise errors.InputError(f"{options.folder}/{wrong}")
    frames["runs"] = clocks.complete(frames["runs"])
    for table, frame in frames.items():
        tables.write(frame, table, getattr(options, table))
    return 0


if __name__ == "__main__":
    errors.run(main)
