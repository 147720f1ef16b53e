"""Price the runs: one row per run and purchase option. Trains nothing."""

import argparse
from pathlib import Path

from scripts import errors, schemas, tables
from scripts.costs import prices


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("runs", type=Path, help="table of runs (.parquet)")
    parser.add_argument("hardware", type=Path, help="catalogue of machines and their prices (.yaml)")
    parser.add_argument("output", type=Path, help="table to write (.parquet; .csv beside it)")
    options = parser.parse_args()
    catalogue = schemas.read_yaml(options.hardware, "hardware")
    costs = prices.price_runs(tables.read(options.runs), prices.price_table(catalogue))
    tables.write(costs, "costs", options.output)
    return 0


if __name__ == "__main__":
    errors.run(main)
