"""What offers are called."""

import pytest

from scripts.costs import offers


@pytest.mark.parametrize(
    ("region", "name"),
    [
        ("Vietnam, VN, AS", "Vietnam"),
        ("British Columbia, CA, NA", "British Columbia"),
        (", CN, AS", "China"),
        (", US, NA", "the United States"),
        (", NZ, OC", "NZ"),
        ("us-east4", "us-east4"),
        ("", ""),
    ],
)
def test_a_region_is_called_as_people_do(region: str, name: str) -> None:
    assert offers.region_name(region) == name
