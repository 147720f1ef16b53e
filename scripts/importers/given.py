"""What a study's own figures are worked out of beside its tables: price books, terms, results of MLPerf."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from scripts.costs import book, books
from scripts.costs.terms import Terms, read_terms
from scripts.importers import results
from scripts.studies.definition import ROOT


@dataclass(frozen=True)
class Given:
    """Rows and tables that a study's figures ask for; those that it does not ask for are empty.

    `cuts` are the rows of each book that `price_cuts` names; `rows` those of the study's own books and `terms` what
    providers bill by, for a schedule; `results` are MLPerf's, with its `series` and rounds and what its `cards` are
    called.
    """

    cuts: Mapping[str, book.Rows] = field(default_factory=dict)
    rows: book.Rows = ()
    terms: Terms = field(default_factory=lambda: Terms((), ()))
    results: pd.DataFrame = field(default_factory=pd.DataFrame)
    series: Mapping[str, Any] = field(default_factory=dict)
    cards: Mapping[str, str] = field(default_factory=dict)


def read(study: Mapping[str, Any]) -> Given:
    """Return what the figures of a study are worked out of. The rules name the same files: `Analyses.get_figure_books`.

    Raises InputError for one that is not there, or is damaged.
    """
    cut = dict.fromkeys(one[end] for one in study.get("price_cuts", {}).values() for end in ("before", "after"))
    found: dict[str, Any] = {"cuts": {name: book.read(books.files(name)) for name in cut}}
    if "schedule" in study:
        found |= {"rows": book.read(books.files(study["book"])), "terms": read_terms()}
    if "mlperf" in study:
        table = results.read(ROOT / study["mlperf"]["results"])
        found |= {"results": table, "series": results.series(), "cards": results.labels()}
    return Given(**found)
