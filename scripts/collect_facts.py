"""Turn a table of facts, made from published logs, into the runs table of a study."""

import argparse
from pathlib import Path

import pandas as pd

from scripts import errors, facts, importers, tables


def runs_of(table: pd.DataFrame) -> pd.DataFrame:
    """Return the runs table of a table of facts: what no log tells stays empty.

    Throughput that a log does not tell is all its samples over its time to train."""
    whole = (table["train_samples"] * table["epochs_done"]).astype("Float64") / table["train_seconds"].astype("Float64")
    rate = table["samples_per_second"].astype("Float64").fillna(whole)
    return table.assign(epochs=table["epochs_done"], samples_per_second=rate).reindex(
        columns=list(tables.columns("runs"))
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("facts", nargs="?", type=Path, help="table of facts (.csv); none for a study without runs")
    parser.add_argument("--runs", required=True, type=Path, help="table to write (.parquet; .csv beside it)")
    parser.add_argument("--epochs", required=True, type=Path, help="likewise, empty: facts keep totals")
    parser.add_argument("--attempts", required=True, type=Path, help="likewise, empty")
    options = parser.parse_args()
    table = facts.read(options.facts) if options.facts else pd.DataFrame(columns=list(importers.COLUMNS))
    tables.write(runs_of(table), "runs", options.runs)
    for name in ("epochs", "attempts"):
        tables.write(pd.DataFrame(columns=list(tables.columns(name))), name, getattr(options, name))
    return 0


if __name__ == "__main__":
    errors.run(main)
