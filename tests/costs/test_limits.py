"""The limits of the page's settings are those of the schemas."""

import json

import pytest

from scripts.costs import limits
from scripts.studies.definition import ROOT


def schema(name: str, *path: str) -> dict:
    found = json.loads((ROOT / "config" / "schemas" / f"{name}.schema.json").read_text())
    for key in path:
        found = found[key]
    return found


OPTION = ("$defs", "PriceOption", "properties")
PREEMPTION = ("$defs", "Preemption", "properties")


@pytest.mark.parametrize(
    ("field", "of", "times"),
    [
        ("discount", ("study", "$defs", "Discount", "properties", "share"), 100),
        ("hours", ("study", *OPTION, "hours_per_month"), 1),
        ("hours", ("hardware", "$defs", "own", "properties", "hours_per_month"), 1),
        ("preemptions", ("study", *PREEMPTION, "preemptions_per_hour"), 1),
        ("checkpoint", ("study", *PREEMPTION, "checkpoint_seconds"), 1),
        ("restart", ("study", *PREEMPTION, "restart_seconds"), 1),
    ],
)
def test_page_allows_what_a_study_allows(field: str, of: tuple[str, ...], times: int) -> None:
    about = schema(*of)
    bounds = {key: about[key] * times for key in ("minimum", "exclusiveMinimum", "maximum") if key in about}
    assert limits.FIELDS[field] == bounds
