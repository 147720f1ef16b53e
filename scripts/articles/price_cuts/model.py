"""The key `price_cuts` of a study."""

from collections.abc import Mapping
from typing import Any

from scripts.costs import books
from scripts.studies.kinds import Part, key


class PriceCut(Part):
    """By how much an item's hourly rate fell."""

    provider: str
    item: str
    before: str
    after: str
    after_purchase: str = key("How it is bought after it: spot, for what spot saves; without, on demand")


#: The type of the key's value, and what it means.
VALUE = dict[str, PriceCut]
MEANING = (
    "Figures price_cut_<name>: the part by which an item's hourly rate on demand fell between two "
    "price books, or from on demand to spot"
)


def files(study: Mapping[str, Any]) -> list[str]:
    """Return the files of the price books between which rates fell."""
    return books.listed(*(cut[end] for cut in study["price_cuts"].values() for end in ("before", "after")))
