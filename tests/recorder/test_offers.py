"""What the recorder knows of prices: the table that it carries, and what is billed."""

import pytest
from epochs_per_dollar import offers, words
from epochs_per_dollar.machine import Card, Machine

from scripts.document import reference
from tests.recorder.conftest import PACKAGE

#: What NVIDIA's drivers call cards, and what they are rented as.
NAMES = {
    "NVIDIA H100 80GB HBM3": "H100 SXM",
    "NVIDIA H100 PCIe": "H100 PCIe",
    "NVIDIA H200": "H200 SXM",
    "NVIDIA A100-SXM4-40GB": "A100 SXM 40GB",
    "NVIDIA A100-SXM4-80GB": "A100 SXM 80GB",
    "NVIDIA A100 80GB PCIe": "A100 PCIe 80GB",
    "NVIDIA A100-PCIE-40GB": "A100 PCIe 40GB",
    "NVIDIA B200": "B200",
    "NVIDIA GH200 480GB": "GH200",
    "NVIDIA A10G": "A10G",
    "NVIDIA A10": "A10",
    "NVIDIA L4": "L4",
    "NVIDIA L40S": "L40S",
    "NVIDIA RTX 6000 Ada Generation": "RTX 6000 Ada",
    "NVIDIA RTX A6000": "RTX A6000",
    "NVIDIA GeForce RTX 4090": "RTX 4090",
    "NVIDIA GeForce RTX 5090": "RTX 5090",
    "NVIDIA RTX PRO 6000 Blackwell Workstation Edition": "RTX PRO 6000",
    "Quadro RTX 6000": "Quadro RTX 6000",
    "Tesla T4": "T4",
    "Tesla V100-SXM2-16GB": "V100 16GB",
    "Tesla V100-SXM2-32GB": "V100 32GB",
    "Tesla P100-PCIE-16GB": "P100",
    "Tesla K80": "K80",
}


@pytest.mark.parametrize("name", NAMES)
def test_card_is_known_by_its_driver_s_name(name: str) -> None:
    assert offers.card(name) == NAMES[name]


@pytest.mark.parametrize("name", ["NVIDIA GeForce GTX 1050", "AMD Instinct MI300X", ""])
def test_card_that_nobody_rents_out_is_none(name: str) -> None:
    assert offers.card(name) is None
    assert offers.of(Machine(8, "", None, (Card(name, 1),)), offers.read(), 1) == []


def test_table_is_that_of_the_price_books() -> None:
    assert (PACKAGE / "epochs_per_dollar" / "offers.csv").read_text() == reference.offers_file()


def test_offers_are_of_as_many_of_the_same_card() -> None:
    """An H100 of the SXM form: 10.97906 USD at Google, 6.88 at Amazon, 4.29 at Lambda, by the books' rows."""
    here = Machine(26, "", None, (Card("NVIDIA H100 80GB HBM3", 81_559),))
    found = {
        (one.provider, one.purchase): one for one in offers.cheapest_of_each(offers.of(here, offers.read(), 1), 3600)
    }
    on_demand = {provider: one.usd_per_hour for (provider, purchase), one in found.items() if purchase == "on-demand"}
    assert on_demand == {"gce": 10.97906, "aws": 6.88, "lambda": 4.29, "vast": 1.8, "paperspace": 5.95}
    assert all(one.cards == 1 for one in found.values())


def test_machine_without_a_card_is_priced_by_its_cores() -> None:
    found = offers.of(Machine(8, "", None), offers.read(), 0)
    assert {one.item for one in found} >= {"n1-standard-8", "m7i.2xlarge"}
    assert all(one.cores == 8 and not one.card for one in found)


def test_host_and_card_are_one_offer() -> None:
    """Eight cores of N1 for .38 and a V100 for 2.48 USD an hour."""
    (offer,) = [
        one for one in offers.read() if one.item == "n1-standard-8 + nvidia-tesla-v100" and one.purchase == "on-demand"
    ]
    assert offer.usd_per_hour == pytest.approx(2.86)


@pytest.mark.parametrize(
    ("increment", "minimum", "seconds", "usd"),
    [(1, 60, 10, 0.06), (1, 60, 61.2, 0.062), (60, 0, 61, 0.12), (3600, 3600, 5, 3.6), (1, 0, 3600, 3.6)],
)
def test_bill_is_of_increments_begun_and_a_minimum(
    increment: float, minimum: float, seconds: float, usd: float
) -> None:
    offer = offers.Offer("p", "i", "", 0, 8, "", "on-demand", 3.6, "2026-01", increment, minimum)
    assert offer.usd(seconds) == pytest.approx(usd)


def test_offers_stand_by_their_bills() -> None:
    """Of ten minutes: an hour begun at 2 USD is dearer than ten minutes at 3 USD an hour; of 50 it is not."""
    by_hour, by_second = (
        offers.Offer(name, "i", "", 0, 8, "", "on-demand", usd, "2026-01", increment, 0)
        for name, usd, increment in (("a", 2, 3600), ("b", 3, 1))
    )
    assert offers.cheapest_of_each([by_hour, by_second], 600) == [by_second, by_hour]
    assert offers.cheapest_of_each([by_hour, by_second], 3000) == [by_hour, by_second]


@pytest.mark.parametrize(
    ("increment", "minimum", "seconds", "said"),
    [
        (900, 0, 1000, "30 min, billed by 15 min begun"),
        (3600, 3600, 5, "1 h, the least that is billed"),
        (3600, 3600, 3700, "2 h, billed by 1 h begun"),
        (1, 60, 61.2, ""),
        (60, 0, 5_999, ""),
    ],
)
def test_more_than_the_time_is_billed_for_a_reason_that_is_said(
    increment: float, minimum: float, seconds: float, said: str
) -> None:
    offer = offers.Offer("p", "i", "", 0, 8, "", "on-demand", 3.6, "2026-01", increment, minimum)
    assert offer.rounding(seconds) == said


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.049, "0.049 s"),
        (8.24, "8.2 s"),
        (59.6, "1 min"),
        (200, "3 min 20 s"),
        (19_300, "5 h 21 min"),
        (90_000, "1 d 1 h"),
    ],
)
def test_durations_as_people_say_them(value: float, text: str) -> None:
    assert words.seconds(value) == text


@pytest.mark.parametrize(
    ("value", "text"), [(1234.5, "1,234 USD"), (12.345, "12.35 USD"), (0.01234, "0.0123 USD"), (4e-6, "4.0e-06 USD")]
)
def test_dollars_with_the_digits_that_count(value: float, text: str) -> None:
    assert words.usd(value) == text
