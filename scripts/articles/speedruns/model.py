"""The key `speedruns` of a study."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field

from scripts.studies.kinds import Count, Filled, Names, Part, Pattern, Positive, Text, key, need

#: The metric that is to come down.
LOSS = "validation loss"


class Track(Part):
    """Records that all come to one result."""

    label: Text = need("What is trained, and to what")
    metric: Literal["validation loss", "CORE"] = need("What says that it has come to it")
    target: Positive = need("The metric's value that a record comes to")
    marked: dict[Annotated[str, Pattern(r"\d+")], Text] = key(
        "Records that the chart names: number -> a word or two", default={}
    )


class Limit(Part):
    """What a factor between records holds within."""

    what: Text
    says: Text
    source: Text


class Speedruns(Part):
    """Tables of records, and of what their logs hold."""

    records: Text = need("The table of printed records (.csv)")
    logs: Text = need("What their logs say of them (.csv): `python -m scripts.articles.speedruns` wrote it")
    curves: Text = need("Loss by time in some of those logs (.csv), likewise")
    curves_of: Annotated[list[Count], Field(min_length=1)] = need("Records of the first track whose curves are shown")
    tracks: Annotated[dict[str, Track], Filled] = need("Track, as the table calls it -> what it is")
    machines: Annotated[dict[str, Text], Filled] = need("Machine, as the table calls it -> machine of the study")
    lists: Names = need("Price options, dated readings of lists, among which the price of a record's day is sought")
    whose: Text = need("Whose lists they are, in words")
    limits: Annotated[list[Limit], Field(min_length=1)] = need("What the factors hold within")


#: The type of the key's value, and what it means.
VALUE = Speedruns
MEANING = "Records of speedruns in dollars by date; the study's machines are those that they ran on"

#: A study may show nothing else.
ALONE = True


def files(study: Mapping[str, Any]) -> list[str]:
    """Return the tables of records, and of what their logs hold."""
    return [study["speedruns"][name] for name in ("records", "logs", "curves")]
