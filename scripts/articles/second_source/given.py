"""The rows of the second source."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from scripts.storage.files import read_csv
from scripts.studies.definition import ROOT

#: A row per printed figure: `row` counts the rows of the table at `source`, `cards` and `rate` are numbers.
COLUMNS = (
    *("source", "row", "published", "framework", "net", "task", "system", "card", "cards", "precision"),
    *("batch_per_card", "rate", "unit", "unit_from", "kind", "note", "left_out"),
)


def read(study: Mapping[str, Any]) -> pd.DataFrame:
    """Return the table, an empty text for what is not printed. Raises InputError where it is not there, or damaged."""
    rows = [row for _, row in read_csv(ROOT / study["second_source"]["rows"], COLUMNS)]
    table = pd.DataFrame(rows, columns=list(COLUMNS))
    return table.assign(cards=pd.to_numeric(table["cards"]), rate=pd.to_numeric(table["rate"]))
