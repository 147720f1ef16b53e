"""Bills of offers, against arithmetic by hand."""

from datetime import date

import pytest

from scripts.costs import cards
from scripts.estimate import dollars

TODAY = date(2026, 11, 25)


def row(provider: str, cards: int, usd: float, **changes: object) -> dict[str, object]:
    return {
        "provider": provider, "item": f"{cards}x", "card": "H100 SXM", "cards": str(cards), "cores": "", "region": "",
        "purchase": "on-demand", "usd_per_hour": usd, "as_of": "2026-11-09", "increment_seconds": 1.0,
        "minimum_seconds": 0.0,
    } | changes  # fmt: skip


def test_a_machine_is_rented_with_all_its_cards() -> None:
    """3.6e9 tokens at 10,000 a second and card: 100 h of one card, 12.5 h of eight at 24 USD: 300 USD."""
    (offer,) = dollars.of_rows([row("a", 8, 24)], TODAY)
    assert offer.seconds(3.6e9, 10_000) == pytest.approx(12.5 * 3600)
    assert offer.usd(3.6e9, 10_000) == pytest.approx(300)


def test_an_increment_that_is_begun_and_the_minimum_are_billed() -> None:
    """61 s of minutes are two of them; 5 s are a minimum of a minute; at 36 USD an hour a second costs a cent."""
    (by_minute,) = dollars.of_rows([row("a", 1, 36, increment_seconds=60.0)], TODAY)
    (at_least,) = dollars.of_rows([row("b", 1, 36, minimum_seconds=60.0)], TODAY)
    assert by_minute.usd(610, 10) == pytest.approx(1.20)
    assert at_least.usd(50, 10) == pytest.approx(0.60)
    assert at_least.usd(1, 1e9) == pytest.approx(0.60)


def test_cheapest_median_and_dearest_of_the_offers() -> None:
    offers = dollars.of_rows([row("a", 1, 4), row("b", 1, 2), row("c", 8, 24)], TODAY)
    bill = dollars.bill(offers, 3.6e7, 8_000, 10_000, 12_500)
    assert bill is not None
    assert (bill.cheapest.provider, bill.offers) == ("b", 3)
    assert [bill.usd, bill.median_usd, bill.dearest_usd] == pytest.approx([2, 3, 4])
    assert [bill.usd_low, bill.usd_high] == pytest.approx([1.6, 2.5])
    assert dollars.bill([], 1, 1, 1, 1) is None


def test_one_machine_of_a_provider_is_one_offer_by_its_newest_price() -> None:
    """An older list names it otherwise, and another region asks for more."""
    rows = [
        row("a", 1, 2, as_of="2026-05-20", item="gpu_1x_h100"),
        row("a", 1, 3, region="east"),
        row("a", 1, 3.5, region="west"),
        row("a", 1, 1, purchase="spot"),
    ]
    found = dollars.of_rows(rows, TODAY)
    assert sorted((one.purchase, one.usd_per_hour) for one in found) == [("on-demand", 3), ("spot", 1)]


def test_the_cheapest_region_counts_and_a_list_without_regions_is_of_all() -> None:
    spot = [
        row("gce", 1, 6.6, region="us-central1", purchase="spot", as_of="2026-09-26"),
        row("gce", 1, 3.4, region="us-east4", purchase="spot", as_of="2026-05-20"),
    ]
    assert [one.usd_per_hour for one in dollars.of_rows(spot, TODAY)] == [3.4]
    assert [list(one.regions) for one in dollars.of_rows(spot, TODAY)] == [[3.4, 6.6]]
    newer = row("gce", 1, 5, purchase="spot", as_of="2026-11-01")
    assert [list(one.regions) for one in dollars.of_rows([*spot, newer], TODAY)] == [[]]
    assert [one.usd_per_hour for one in dollars.of_rows([*spot, newer], TODAY)] == [5]


def test_prices_of_more_than_a_year_are_no_offers() -> None:
    assert dollars.of_rows([row("a", 1, 2, as_of="2024-03"), row("b", 1, 2, as_of="2025-11")], TODAY) == []
    assert len(dollars.of_rows([row("b", 1, 2, as_of="2025-12")], TODAY)) == 1


def test_cards_asked_for_are_made_up_of_whole_machines() -> None:
    """16 cards: two machines of eight, four hosts of a rack; single cards and hosts of a market have no link."""
    rows = [row("a", 1, 4), row("b", 8, 24), row("c", 16, 40), row("vast", 8, 10), row("d", 4, 20, card="GB200")]
    offers = dollars.of_rows(rows, TODAY, cards=16)
    assert [(one.provider, one.machines) for one in offers] == [("b", 2), ("c", 1), ("d", 4)]
    assert all(one.all_cards == 16 for one in offers)
    assert offers[0].usd(3.6e9, 10_000) == pytest.approx(300)
    by_card = dollars.of_rows([row("nebius", 1, 4), row("nebius", 8, 40)], TODAY, cards=16)
    assert sorted((one.machines, one.cards) for one in by_card) == [(2, 8), (16, 1)]
    alone = dollars.of_rows(rows, TODAY, cards=8)
    assert [(one.provider, one.machines) for one in alone] == [("b", 1), ("vast", 1), ("d", 2)]
    assert [one.way for one in alone] == ["on-demand", "market", "on-demand"]
    few = dollars.of_rows([row("a", 1, 4), row("b", 8, 24)], TODAY, at_most=4)
    assert [one.provider for one in few] == ["a"]
    assert [one.provider for one in dollars.of_rows(rows, TODAY, without=["a", "c"])] == ["b", "vast", "d"]


def test_what_no_machine_holds_is_held_by_several_whole_ones() -> None:
    """Nine cards at least: two machines of eight, one of sixteen, three hosts of four; never nine single ones."""
    rows = [row("a", 1, 4), row("b", 8, 24), row("c", 16, 40), row("vast", 8, 10), row("d", 4, 20, card="GB200")]
    found = dollars.of_rows(rows, TODAY, at_least=9)
    assert [(one.provider, one.machines) for one in found] == [("b", 2), ("c", 1), ("d", 3)]


def test_spot_takes_what_preemptions_lose() -> None:
    """Ten hours, a preemption in ten. Young saves every root of 2 x 60 x 36,000 s: 2,078 s. He loses half of it and ten
    minutes each time, .1 x (1,039 + 600) / 3,600 = 4.6 %, and a minute for each save, 2.9 %, to first order.
    """
    (offer,) = dollars.of_rows([row("a", 1, 1, purchase="spot")], TODAY)
    assert offer.expected_seconds(3.6e8, 10_000, 0.1) / 36_000 == pytest.approx(1.0745, rel=0.005)
    assert offer.expected_seconds(3.6e8, 10_000, 0) == offer.seconds(3.6e8, 10_000)
    (on_demand,) = dollars.of_rows([row("a", 1, 1)], TODAY)
    assert on_demand.expected_seconds(3.6e8, 10_000, 0.1) == 36_000
    found = dollars.bill([offer], 3.6e8, 10_000, 10_000, 10_000, 0.1)
    assert found is not None
    assert [found.usd, found.seconds / 3600] == pytest.approx([10.745, 10.745], rel=0.005)


def test_of_several_spot_machines_any_one_stops_all() -> None:
    """Four have four preemptions in ten hours: every 1,039 s, .4 x (520 + 600) / 3,600 = 12.4 %; saves 5.8 %."""
    (offer,) = dollars.of_rows([row("a", 8, 8, purchase="spot")], TODAY, cards=32)
    assert offer.machines == 4
    assert offer.expected_seconds(3.6e8 * 32, 10_000, 0.1) / 36_000 == pytest.approx(1.182, rel=0.02)


def test_where_preemptions_leave_no_time_there_is_no_offer() -> None:
    """Thirty an hour, and ten minutes to start again: a start succeeds once in e^5 tries."""
    (offer,) = dollars.of_rows([row("a", 1, 1, purchase="spot")], TODAY)
    assert dollars.bill([offer], 3.6e8, 10_000, 10_000, 10_000, 30) is None


@pytest.mark.parametrize(
    ("provider", "size", "least", "wants", "words"),
    [
        ("hyperstack", 1, 2, 2, "2 x H100"),
        ("hyperstack", 1, 91, 96, "12 machines of 8 x H100"),
        ("hyperstack", 1, 226, 232, "29 machines of 8 x H100"),
        ("aws", 8, 91, 96, "12 machines of 8 x H100"),
        ("aws", 8, 3, 8, "8 x H100"),
    ],
)
def test_many_cards_are_machines_whose_cards_are_linked(
    provider: str, size: int, least: int, wants: int, words: str
) -> None:
    (offer,) = dollars.of_rows([row(provider, size, 3.0)], TODAY, at_least=least)
    assert offer.all_cards == wants
    assert cards.counted("H100", offer.cards, offer.machines) == words
