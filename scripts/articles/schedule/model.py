"""The key `schedule` of a study."""

from collections.abc import Mapping
from typing import Annotated, Any

from scripts.costs import books
from scripts.studies.kinds import Filled, Part, Positive, Text, need


class Rule(Part):
    """Whose billing rule of which day."""

    provider: Text
    date: Text
    label: Text


class Schedule(Part):
    """A machine that is started on a schedule."""

    machine: Text
    provider: Text
    month_days: Positive
    seconds_each: Positive
    every_hours: Annotated[list[Positive], Filled]
    rules: Annotated[dict[str, Rule], Filled]
    fees: dict[str, float] = need("Item of the book: pieces, by the month")
    seconds_per_start: dict[str, float] = need("Item of the book: seconds for each start")


#: The type of the key's value, and what it means.
VALUE = Schedule
MEANING = "A machine that is started on a schedule"

#: A study may show nothing else.
ALONE = True


def files(study: Mapping[str, Any]) -> list[str]:
    """Return the files of the study's price books, and of what providers bill besides a rate."""
    return [*books.listed(study["book"]), *books.TERMS]
