"""The printed rows of a table of fine-tuning."""

from collections.abc import Mapping, Sequence
from typing import Any

from scripts.storage.errors import InputError
from scripts.storage.files import read_csv
from scripts.storage.numbers import written
from scripts.studies.definition import ROOT

COLUMNS = (
    *("source", "published", "config", "model", "epochs", "max_seq_length", "micro_batch_size", "machine", "minutes"),
    *("usd", "peak_memory_gb", "val_loss", "val_perplexity", "mmlu", "outcome"),
)

#: The outcome of a row without figures; of any other it is empty.
OUT_OF_MEMORY = "out of memory"


def read(study: Mapping[str, Any]) -> Sequence[Mapping[str, str]]:
    """Return the rows. Raises InputError for a row without figures that does not say why, or on another machine."""
    about = study["fine_tuning"]
    rows = read_csv(ROOT / about["source"], COLUMNS, cut=False)
    for place, row in rows:
        if row["machine"] not in about["machines"]:
            raise InputError(f"{place}: machine: {row['machine']!r} is not one of {', '.join(about['machines'])}")
        if row["outcome"] not in ("", OUT_OF_MEMORY):
            raise InputError(f"{place}: outcome: {row['outcome']!r} must be empty or {OUT_OF_MEMORY!r}")
        for name in ("minutes", "usd"):
            if not row["outcome"] and not (written(row[name]) or 0) > 0:
                raise InputError(f"{place}: {name}: {row[name]!r} must be a number above 0")
    return [row for _, row in rows]
