"""What MLPerf's results are scored and named by, beside the prices of their cards."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from scripts.articles.mlperf import results
from scripts.studies.definition import ROOT


@dataclass(frozen=True)
class Given:
    """The table of results, the `series` and rounds that they are of, and what the `cards` are called."""

    results: pd.DataFrame
    series: Mapping[str, Any]
    cards: Mapping[str, str]


def read(study: Mapping[str, Any]) -> Given:
    """Return the results that a study shows. Raises InputError for a file that is not there, or is damaged."""
    return Given(results.read(ROOT / study["mlperf"]["results"]), results.series(), results.labels())
