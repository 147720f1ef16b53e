"""The price books between which rates fell."""

from collections.abc import Mapping
from typing import Any

from scripts.costs import book, books


def read(study: Mapping[str, Any]) -> dict[str, book.Rows]:
    """Return the rows of each book that a study's `price_cuts` name."""
    names = dict.fromkeys(cut[end] for cut in study["price_cuts"].values() for end in ("before", "after"))
    return {name: book.read(books.files(name)) for name in names}
