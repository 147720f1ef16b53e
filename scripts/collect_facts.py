"""Turn a table of facts, made from published logs, into the runs table of a study."""

import argparse
from pathlib import Path

import pandas as pd

from scripts import importers
from scripts.importers import facts
from scripts.storage import errors, tables
from scripts.storage.axes import IN_LOGS


def epochs_of(table: pd.DataFrame, epochs: pd.DataFrame) -> pd.DataFrame:
    """Return the epochs table: each epoch with the cell of its run."""
    cells = table[["run", *IN_LOGS, "repeat", "train_samples"]].rename(columns={"train_samples": "samples"})
    return epochs.merge(cells, on="run").reindex(columns=list(tables.columns("epochs")))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("facts", nargs="?", type=Path, help="table of facts (.csv); none for a study without runs")
    parser.add_argument("--runs", required=True, type=Path, help="table to write (.parquet; .csv beside it)")
    parser.add_argument("--log-epochs", type=Path, help="table of the epochs in the logs (.parquet)")
    parser.add_argument("--epochs", required=True, type=Path, help="likewise")
    parser.add_argument("--attempts", required=True, type=Path, help="likewise, empty")
    options = parser.parse_args()
    table = facts.read(options.facts) if options.facts else pd.DataFrame(columns=list(importers.COLUMNS))
    tables.write(facts.runs_of(table), "runs", options.runs)
    known = tables.read(options.log_epochs) if options.log_epochs else pd.DataFrame(columns=list(importers.EPOCHS))
    tables.write(epochs_of(table, known), "epochs", options.epochs)
    tables.write(pd.DataFrame(columns=list(tables.columns("attempts"))), "attempts", options.attempts)
    return 0


if __name__ == "__main__":
    errors.run(main)
