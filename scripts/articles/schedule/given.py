"""What a schedule is priced by, beside the prices of its machine."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from scripts.costs import book, books
from scripts.costs.terms import Terms, read_terms


@dataclass(frozen=True)
class Given:
    """The rows of the study's own price books, and what providers bill by."""

    rows: book.Rows
    terms: Terms


def read(study: Mapping[str, Any]) -> Given:
    """Return what a study's schedule is priced by. Raises InputError for a file that is not there, or is damaged."""
    return Given(book.read(books.files(study["book"])), read_terms())
