"""Price the runs of a study: one row per run and price option. Trains nothing."""

import argparse
import json
from pathlib import Path

from scripts.costs import prices, pricing
from scripts.storage import errors, schemas, tables
from scripts.studies import definition


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("runs", type=Path, help="table of runs (.parquet)")
    parser.add_argument("--attempts", required=True, type=Path, help="table of attempts (.parquet)")
    parser.add_argument("--study", required=True, help="the study's config (JSON)")
    parser.add_argument("--hardware", required=True, type=Path, help="catalogue of machines (.yaml)")
    parser.add_argument("--costs", required=True, type=Path, help="table to write (.parquet; .csv beside it)")
    parser.add_argument("--prices", required=True, type=Path, help="likewise")
    options = parser.parse_args()
    study = json.loads(options.study)
    runs = tables.read(options.runs)
    machines = definition.machines(study, schemas.read_yaml(options.hardware, "hardware"))
    if strangers := sorted({*runs["hardware"]} - set(machines)):
        raise errors.InputError(
            f"{options.runs}: hardware: {strangers[0]!r} is neither a machine of the study nor in {options.hardware}"
        )
    table = pricing.price_table(study, machines, {*study["machines"], *runs["hardware"]})
    for line in pricing.not_offered(study, machines, dict.fromkeys(runs["hardware"]), table):
        print(line, flush=True)
    tables.write(table, "prices", options.prices)
    tables.write(prices.price_runs(runs, table, tables.read(options.attempts)), "costs", options.costs)
    return 0


if __name__ == "__main__":
    errors.run(main)
