import pandas as pd
import pytest

from scripts.storage.numbers import number, written


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


@pytest.mark.parametrize(
    ("text", "value"),
    [("0", 0.0), ("-1.5", -1.5), ("+2", 2.0), (".5", 0.5), ("5.", 5.0), ("1e3", 1000.0), ("1E-3", 0.001)],
)
def test_numbers_are_what_they_look_like(text: str, value: float) -> None:
    assert written(text) == value


@pytest.mark.parametrize(
    "text",
    ["", " 1", "1 ", "1\n", "1_000", "1,5", "0x10", "\u0663", "\uff11", "nan", "inf", "1e999", "True", "--1", "."],
)
def test_what_else_python_takes_for_a_number_is_none(text: str) -> None:
    assert written(text) is None
