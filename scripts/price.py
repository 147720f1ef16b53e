"""Price the runs of a study: one row per run and price option. Trains nothing."""

import argparse
import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd

from scripts import errors, grid, schemas, tables
from scripts.costs import book, prices


def price_table(study: Mapping[str, Any], machines: Mapping[str, Any]) -> pd.DataFrame:
    """Return the prices of the machines under every price option of a study, from its price books."""

    @cache
    def rows(names: tuple[str, ...]) -> pd.DataFrame:
        return book.read([book.path(name) for name in names])

    def books(option: Mapping[str, Any]) -> pd.DataFrame:
        named = option.get("book", study["book"])
        return rows((named,) if isinstance(named, str) else tuple(named))

    return prices.price_table(machines, study["prices"], books, book.read_terms())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("runs", type=Path, help="table of runs (.parquet)")
    parser.add_argument("--study", required=True, help="the study's config (JSON)")
    parser.add_argument("--hardware", required=True, type=Path, help="catalogue of machines (.yaml)")
    parser.add_argument("--costs", required=True, type=Path, help="table to write (.parquet; .csv beside it)")
    parser.add_argument("--prices", required=True, type=Path, help="likewise")
    options = parser.parse_args()
    study = json.loads(options.study)
    runs = tables.read(options.runs)
    named = {*study["machines"], *runs["hardware"]}
    machines = grid.machines(study, schemas.read_yaml(options.hardware, "hardware"))
    table = price_table(study, {name: about for name, about in machines.items() if name in named})
    tables.write(table, "prices", options.prices)
    tables.write(prices.price_runs(runs, table), "costs", options.costs)
    return 0


if __name__ == "__main__":
    errors.run(main)
