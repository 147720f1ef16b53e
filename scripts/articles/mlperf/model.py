"""The key `mlperf` of a study."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from scripts.studies.kinds import Count, Filled, Part, Pattern, Text, need


class MLPerf(Part):
    """Results of MLPerf Training in dollars."""

    results: Text = need("Table of results (.csv) that `python -m scripts.articles.mlperf` made")
    submitter: Text = need("Whose machines show what software alone gained")
    generations: list[Annotated[list[str], Field(min_length=2, max_length=2)]] = need(
        "An older card and a newer one: names of machines"
    )
    accelerators: Annotated[dict[str, Count], Filled] = need("Card: how many of them the rented machine has")
    providers: dict[str, Text] = need("Price option: the provider whose prices of it are set beside those of others")
    then: dict[str, Annotated[str, Pattern(r"\d{4}-\d{2}-\d{2}")]] = need(
        "Price option: from which day its list held, the oldest first"
    )


#: The type of the key's value, and what it means.
VALUE = MLPerf
MEANING = "Results of MLPerf Training in dollars; the study's machines are its cards"

#: A study may show nothing else.
ALONE = True


def files(study: Mapping[str, Any]) -> list[str]:
    """Return the table of results, and the files that say what its cards and series are."""
    about = (*Path("config/mlperf").glob("*.yaml"), *Path("config/schemas").glob("mlperf-*.json"))
    return [study["mlperf"]["results"], *sorted(map(str, about))]
