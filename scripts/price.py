"""Price the runs of a study: one row per run and price option. Trains nothing."""

import argparse
import json
from collections.abc import Container, Iterable, Mapping
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd

from scripts.costs import book, prices
from scripts.storage import errors, schemas, tables
from scripts.studies import grid


def price_table(study: Mapping[str, Any], machines: Mapping[str, Any], named: Container[str]) -> pd.DataFrame:
    """Return the prices of those `machines` that are `named`, under every price option of a study, from its books."""
    for option, about in study["prices"].items():
        for name in about.get("instead", {}):
            if name not in machines:
                known = ", ".join(machines)
                raise errors.InputError(f"prices: {option}: instead: {name!r} is unknown: it is one of {known}")
    priced = {name: about for name, about in machines.items() if name in named}
    read = cache(lambda *files: book.read(files))
    return prices.price_table(
        priced,
        study["prices"],
        lambda option: read(*book.files(option.get("book", study["book"]))),
        book.read_terms(),
    )


def not_offered(
    study: Mapping[str, Any], machines: Mapping[str, Any], named: Iterable[str], table: pd.DataFrame
) -> list[str]:
    """Return a line for each machine without a price under an option: which item its books lack, what is near it."""
    priced = set(zip(table["hardware"], table["price_option"], strict=True))
    lines = []
    for option, about in study["prices"].items():
        for hardware in named:
            rent = about.get("instead", {}).get(hardware, machines[hardware].get("rent"))
            if (hardware, option) in priced:
                continue
            line = f"no price: {hardware} is not offered under {option}"
            if rent and about.get("purchase") != "owned":
                names = about.get("book", study["book"])
                rows = book.read(book.files(names))
                offered = rows.loc[rows["provider"] == rent["provider"], "item"]
                for item in rent["items"]:
                    if item not in set(offered):
                        near = get_close_matches(item, offered.unique(), 3)
                        line += f"; {rent['provider']} {item} is in none of its books"
                        line += f" (near: {', '.join(near)})" if near else ""
            lines.append(line)
    return lines


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
    machines = grid.machines(study, schemas.read_yaml(options.hardware, "hardware"))
    table = price_table(study, machines, {*study["machines"], *runs["hardware"]})
    for line in not_offered(study, machines, dict.fromkeys(runs["hardware"]), table):
        print(line, flush=True)
    tables.write(table, "prices", options.prices)
    tables.write(prices.price_runs(runs, table, tables.read(options.attempts)), "costs", options.costs)
    return 0


if __name__ == "__main__":
    errors.run(main)
