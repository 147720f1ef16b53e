"""Take the tables of a study that was trained before, as CSV, in place of run records."""

import argparse
from pathlib import Path

import pandas as pd

from scripts.storage import errors, tables
from scripts.storage.errors import InputError


def take(table: str, path: Path) -> pd.DataFrame:
    """Return a table from its CSV. Raises InputError that names the file and what is wrong with it."""
    try:
        frame = pd.read_csv(path, dtype={name: about["type"] for name, about in tables.columns(table).items()})
        return tables.conform(frame, table)
    except KeyError as error:
        raise InputError(f"{path}: {error.args[0]}; the columns are those of docs/tables.md") from error
    except (OSError, ValueError, TypeError) as error:
        raise InputError(f"{path}: not the table {table}: {error}") from error


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="folder of runs.csv, epochs.csv and attempts.csv")
    for table in ("runs", "epochs", "attempts"):
        parser.add_argument(f"--{table}", required=True, type=Path, help="table to write (.parquet; .csv beside it)")
    options = parser.parse_args()
    for table in ("runs", "epochs", "attempts"):
        tables.write(take(table, options.folder / f"{table}.csv"), table, getattr(options, table))
    return 0


if __name__ == "__main__":
    errors.run(main)
