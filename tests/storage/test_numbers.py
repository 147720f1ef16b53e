import pandas as pd
import pytest

from scripts.storage.numbers import number


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1.0, "1.00"),
        (12.345, "12.3"),
        (123.45, "123"),
        (1_234_567.0, "1,234,567"),
        (0.01744, "0.0174"),
        (0.000012345, "0.0000123"),
        (-0.5, "-0.500"),
        (7, "7.00"),
        (0, "0.000"),
        (None, "—"),
        (float("nan"), "—"),
        (pd.NA, "—"),
        (float("inf"), "∞"),
        (float("-inf"), "-∞"),
    ],
)
def test_number_has_three_significant_digits_and_no_exponent(value: float | None, text: str) -> None:
    assert number(value) == text


@pytest.mark.parametrize(("digits", "text"), [(1, "0.03"), (4, "0.03142")])
def test_digits_can_be_chosen(digits: int, text: str) -> None:
    assert number(0.0314159, digits) == text


@pytest.mark.parametrize(("value", "text"), [(9.996, "10.0"), (0.09999, "0.100")])
def test_number_that_rounds_up_gains_no_digit(value: float, text: str) -> None:
    assert number(value) == text
