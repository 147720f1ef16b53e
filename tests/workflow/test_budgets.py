"""A budget as it is typed: an amount, none, or a line."""

import pytest

from scripts.storage.errors import InputError
from scripts.workflow.quotes import budget_usd


@pytest.mark.parametrize(("given", "usd"), [("", None), ("0", 0.0), ("20", 20.0), (0.5, 0.5), (0, 0.0)])
def test_budget_is_an_amount_or_none(given: object, usd: float | None) -> None:
    assert budget_usd(given) == usd


@pytest.mark.parametrize("given", ["little", "nan", "-1", -0.01, "inf", float("inf"), "1e400", None, [1]])
def test_what_is_no_amount_limits_nothing_and_is_refused(given: object) -> None:
    with pytest.raises(InputError, match=r"budget_usd: .*: must be dollars, 0 or more"):
        budget_usd(given)
