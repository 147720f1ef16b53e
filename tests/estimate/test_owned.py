"""Cards that are owned, against arithmetic by hand; our figures are those of the study that has them."""

from typing import Any

import pytest

from scripts.estimate import owned
from scripts.storage import schemas
from scripts.storage.errors import InputError
from scripts.studies import definition
from scripts.workflow import estimates
from tests.estimate.test_question import KNOWN

#: 36,000 USD in 36 months are 1,000 a month; at 250 hours 4 USD, and 1 kW at .2 USD a kWh.
CARD: dict[str, Any] = {
    "acquisition_usd": 36_000, "life_months": 36, "power_watts": 1000, "usd_per_kwh": 0.2, "hours_per_month": 250,
    "as_of": "2026-11", "source": "an invoice",
}  # fmt: skip


def of(**entries: dict[str, Any]) -> dict[str, owned.Owned]:
    return owned.owned(KNOWN, entries, "mine.yaml")


def test_an_hour_of_use_is_its_part_of_a_month_and_its_power() -> None:
    found = of(h100=CARD)["H100"]
    assert found.usd_per_hour == pytest.approx(4.2)
    assert found.reckoned == "36,000 USD for 1 card over 36 months of 250 hours of use, 1000 W at 0.2 USD a kWh"
    offer = found.offer(8)
    assert (offer.provider, offer.way, offer.all_cards) == ("owned", "owned", 8)
    # 3.6e9 tokens at 10,000 a second and card are 12.5 h of eight: 100 hours of a card
    assert offer.usd(3.6e9, 10_000) == pytest.approx(420)


def test_the_figures_of_a_machine_are_parted_among_its_cards() -> None:
    more = {"cards": 8, "residual_usd": 18_000, "maintenance_usd_per_month": 300}
    # (18,000 / 36 + 300) / 250 + .2 = 3.4 of eight
    found = of(H200=CARD | more)["H200"]
    assert (found.usd_per_hour, found.cards) == (pytest.approx(3.4 / 8), 8)
    assert of(H100=CARD)["H100"].cards == 1
    assert estimates.owned(KNOWN)["H100"].cards is None


@pytest.mark.parametrize(
    ("entries", "says"),
    [
        ({"H10": CARD}, "mine.yaml: 'H10' is unknown: did you mean H100"),
        ({"H100": CARD, "H100 SXM": CARD}, "mine.yaml: H100 SXM: H100 has an entry already"),
        ({"H100": CARD | {"as_of": "2026-13"}}, "mine.yaml: H100: as_of: '2026-13' is not a date (YYYY-MM-DD"),
        ({"H100": CARD | {"as_of": "2026-1"}}, "as_of: '2026-1' is not a date"),
        ({"H100": CARD | {"as_of": 26}}, "as_of: '26' is not a date"),
        ({"H100": CARD | {"as_of": "2026-02-30"}}, "as_of: '2026-02-30' is not a date"),
        ({"H100": CARD | {"as_of": "2999-01"}}, "mine.yaml: H100: as_of: 2999-01 is in the future"),
        ({"H100": CARD | {"residual_usd": 40_000}}, "mine.yaml: H100: residual_usd is 40000"),
        ({"H100": CARD | {"acquisition_usd": 0, "power_watts": 0}}, "mine.yaml: H100: an hour costs nothing"),
    ],
)
def test_what_cannot_be_owned_is_a_line(entries: dict[str, Any], says: str) -> None:
    with pytest.raises(InputError) as error:
        owned.owned(KNOWN, entries, "mine.yaml")
    assert says in str(error.value)


def test_our_figures_are_those_of_lambdas_table() -> None:
    ours = schemas.read_yaml(estimates.OWNED, "owned")
    _, study = definition.read("lambda-gpus", {})
    there = {"H100": "h100-80gb-sxm5", "A100 80 GB": "a100-80gb-sxm4", "RTX 4090": "rtx-4090"}
    assert ours == {card: study["machines"][name]["own"] for card, name in there.items()}


@pytest.mark.parametrize("key", ["acquisition_usd", "power_watts", "life_months", "usd_per_kwh"])
def test_figures_that_no_machine_has_are_refused(key: str) -> None:
    with pytest.raises(InputError, match=rf"mine\.yaml: h100: {key} is 1e\+308; 0 to 1e\+12 is allowed"):
        of(h100=CARD | {key: 1e308})


def test_figures_of_the_future_are_refused() -> None:
    with pytest.raises(InputError, match=r"mine\.yaml: h100: as_of: 9999-01-01 is in the future"):
        of(h100=CARD | {"as_of": "9999-01-01"})
