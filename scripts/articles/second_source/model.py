"""The key `second_source` of a study."""

from collections.abc import Mapping
from typing import Annotated, Any

from scripts.studies.kinds import Filled, Names, Part, Text, key, need


class Net(Part):
    """What a workload of the study is called by the second source."""

    nets: Names = need("Its names there")
    task: str = key("Its task there, as the table words it", "")
    unit: Text = need("What its rates count there, as `images/s`: rows in another unit are not compared")


class SecondSource(Part):
    """Printed rates of another source."""

    by: Text = need("Who printed them")
    rows: Text = need("The table of its rows (.csv)")
    code: Text = need("The framework of its rows that are of the same code as the study's")
    cards: Annotated[dict[str, Text], Filled] = need("Model of `gpus` -> the same card, as the table calls it")
    workloads: Annotated[dict[str, Net], Filled] = need("Workload -> what it is called there")


#: The type of the key's value, and what it means.
VALUE = SecondSource
MEANING = "Rates that somebody else printed of the same nets on the same cards, set beside those of the study"


def files(study: Mapping[str, Any]) -> list[str]:
    """Return the table of the second source's rows."""
    return [study["second_source"]["rows"]]
