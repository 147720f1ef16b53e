"""A budget as it is typed: an amount, none, or a line."""

from types import SimpleNamespace
from typing import Any, cast

import pytest

from scripts.storage.errors import InputError
from scripts.workflow.quotes import Quotes, budget_usd


@pytest.mark.parametrize(("given", "usd"), [("", None), ("0", 0.0), ("20", 20.0), (0.5, 0.5), (0, 0.0)])
def test_budget_is_an_amount_or_none(given: object, usd: float | None) -> None:
    assert budget_usd(given) == usd


@pytest.mark.parametrize("given", ["little", "nan", "-1", -0.01, "inf", float("inf"), "1e400", None, [1]])
def test_what_is_no_amount_limits_nothing_and_is_refused(given: object) -> None:
    with pytest.raises(InputError, match=r"budget_usd: .*: must be dollars, 0 or more"):
        budget_usd(given)


@pytest.mark.parametrize(
    ("left_out", "ended", "words", "goes_on"),
    [
        ({"r2"}, 1, ["snakemake", "--config", "budget_usd=1"], True),
        (set(), 1, ["snakemake"], False),
        ({"r2"}, 0, ["snakemake"], False),
        ({"r2"}, 1, ["snakemake", "-R", "train"], False),
        ({"r2"}, 1, ["snakemake", "-kF"], False),
        ({"r2"}, 1, ["snakemake", "--forcerun", "train"], False),
    ],
)
def test_call_goes_on_while_runs_end_for_less_than_was_kept_for_them(
    left_out: set[str], ended: int, words: list[str], goes_on: bool
) -> None:
    quotes = Quotes(cast(Any, SimpleNamespace()), 1.0, left_out)
    assert quotes.may_go_on(ended, words) is goes_on
