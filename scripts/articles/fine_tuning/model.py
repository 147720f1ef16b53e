"""The key `fine_tuning` of a study."""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field

from scripts.studies.kinds import Filled, Part, Text, need


class FineTuning(Part):
    """A printed table of fine-tuning."""

    source: Text = need("The table of printed rows (.csv)")
    machines: Annotated[dict[str, Text], Filled] = need("Machine, as the table calls it -> machine of the study")
    compared: Annotated[list[Text], Field(min_length=2, max_length=2)] = need(
        "The machine of one card and that of several, as the table calls them: rows of one config are set side by side"
    )
    says: Text = need("What the page of the table says of its runs, quoted beside them")


#: The type of the key's value, and what it means.
VALUE = FineTuning
MEANING = "A printed table of fine-tuning: its minutes at the study's prices, and its own dollars held against them"

#: A study may show nothing else.
ALONE = True


def files(study: Mapping[str, Any]) -> list[str]:
    """Return the table of printed rows."""
    return [study["fine_tuning"]["source"]]
