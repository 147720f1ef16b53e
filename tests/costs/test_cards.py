"""What an hour of a card is offered for; figures are those of the committed books, as somebody reads them there."""

from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from scripts.costs import book, books, card_history, cards, hourly
from scripts.costs.terms import read_terms
from scripts.storage.errors import InputError

ROWS = book.read(books.files(["cards-2026-11", "accelerators"]))


def hour(offers: list[cards.Offer]) -> dict[str, float]:
    return {offer.provider: round(offer.usd_per_hour, 4) for offer in offers}


def test_every_item_of_a_book_of_cards_says_which_card_it_has() -> None:
    there = {(row["provider"], row["item"]) for row in cards.machines()}
    assert {(row["provider"], row["item"]) for row in book.read(books.files("cards-2026-11"))} <= there


@pytest.mark.parametrize("count", ["0", "-1", "nan", "1.5", "４", "", "1_0", "99999"])
def test_a_machine_has_a_number_of_cards(tmp_path: Path, count: str) -> None:
    file = tmp_path / "machines.csv"
    file.write_text(f"provider,item,card,cards,cores\naws,g4dn.xlarge,T4,1,\naws,cpu,,,4\naws,odd,T4,{count},\n")
    with pytest.raises(InputError, match=rf"machines.csv:4: cards: '{count}' must be a whole number from 1 to 9999$"):
        cards.machines(file)


def test_an_hour_of_a_card_is_its_part_of_the_machine() -> None:
    found = cards.largest(cards.offers(ROWS, "H100 SXM"), 8)
    assert hour(found) == {
        "vast": 1.8675,  # 14.94 USD for eight
        "runpod-community": 2.69,
        "akash": 2.71,
        "hyperstack": 3.2,
        "nebius": 3.85,
        "lambda": 3.99,  # 31.92 for eight, and not 4.29 for one
        "runpod-secure": 3.99,
        "coreweave": 6.155,  # 49.24 for eight
        "aws": 6.88,  # 55.04 for eight
        "azure": 12.29,  # 98.32 for eight
    }
    assert [offer.usd_per_hour for offer in found] == sorted(offer.usd_per_hour for offer in found)


def test_one_card_is_no_part_of_a_machine_of_eight() -> None:
    found = hour(cards.for_cards(cards.offers(ROWS, "H100 SXM"), 1))
    assert found["lambda"] == 4.29
    assert not {"aws", "azure", "coreweave", "vast"} & set(found)


def test_of_one_size_the_newest_price_counts() -> None:
    older = cards.Offer("A", 8, "cloud", "eight", "", "on-demand", 1.0, "2026-05", "a list")
    newer = cards.Offer("A", 8, "cloud", "8x", "", "on-demand", 2.0, "2026-09-20", "a list")
    assert cards.for_cards([older, newer], 64) == [newer]


def test_cards_that_train_together_are_whole_machines_of_clouds() -> None:
    found = hour(cards.for_cards(cards.offers(ROWS, "H100 SXM"), 64))
    by_the_card = {"hyperstack": 3.2, "nebius": 3.85, "runpod-secure": 3.99}
    assert found == by_the_card | {"lambda": 3.99, "coreweave": 6.155, "aws": 6.88, "azure": 12.29}


def priced(count: int, **option: object) -> dict | None:
    machines = {"box": {"label": "box", "gpus": {"model": "GB200", "count": count}}}
    rows = hourly.price_rows(machines, {"on-demand": {"purchase": "on-demand"} | option}, lambda _: ROWS, read_terms())
    return rows[0] if rows else None


def test_a_machine_of_256_cards_is_priced_by_the_card_hour() -> None:
    row = priced(256, offer="lowest")
    assert (row["provider"], row["usd_per_hour"]) == ("coreweave", 256 * 42 / 4)
    assert (row["price_as_of"], row["region"]) == ("2026-09-20", "north-america")
    assert row["usd_per_hour_low"] == row["usd_per_hour_high"] == 2688


def test_who_is_left_out_has_no_offer() -> None:
    assert priced(8, offer="lowest", without=["coreweave"]) is None
    assert priced(8, offer="median", only=["lambda"]) is None


def test_market_places_count_where_they_are_named() -> None:
    machines = {"box": {"label": "box", "gpus": {"model": "H100 SXM", "count": 8}}}
    options = {"clouds": {"offer": "lowest"}, "market": {"offer": "lowest", "only": ["vast"]}}
    found = hourly.price_rows(machines, options, lambda _: ROWS, read_terms())
    assert [(row["provider"], row["usd_per_hour"]) for row in found] == [("hyperstack", 25.6), ("vast", 14.94)]


def test_the_median_is_of_one_offer_a_provider_and_has_their_range() -> None:
    machines = {"box": {"label": "box", "gpus": {"model": "B300", "count": 8}}}
    (row,) = hourly.price_rows(machines, {"median": {"offer": "median"}}, lambda _: ROWS, read_terms())
    # 7.4 a card at Hyperstack, 7.89 at RunPod, 142.416 for eight at AWS; Akash is a market place
    found = [row[f"usd_per_hour{end}"] for end in ("_low", "", "_high")]
    assert found == pytest.approx([59.2, 63.12, 142.416])
    assert row["provider"] == "3 providers"
    assert row["price_source"].startswith("median of 3: hyperstack 1x B300 288GB 7.4 USD a card (2026-08-26); ")


def offer(provider: str, usd: float, as_of: str, count: int = 8) -> cards.Offer:
    return cards.Offer("A", count, provider, f"{count}x", "", "on-demand", usd, as_of, "a list")


def test_history_keeps_the_newest_offer_of_each_provider() -> None:
    offers = [offer("a", 4.0, "2025-01-01"), offer("b", 2.0, "2025-06-01"), offer("a", 3.0, "2025-07-01")]
    found = card_history.days(offers)
    assert [(day.as_of, day.lowest.provider, day.median, len(day.known)) for day in found] == [
        ("2025-01-01", "a", 4.0, 1),
        ("2025-06-01", "b", 3.0, 2),
        ("2025-07-01", "b", 2.5, 2),
    ]


def test_a_newer_offer_of_one_card_is_not_that_of_eight() -> None:
    offers = [offer("a", 3.0, "2026-09-20"), offer("a", 4.0, "2026-09-25", count=1)]
    assert [day.lowest.usd_per_hour for day in card_history.days(offers)] == [3.0, 3.0]


def test_history_sets_market_places_apart() -> None:
    (day,) = card_history.days([offer("a", 3.0, "2026-09-20"), offer("vast", 1.0, "2026-09-20")])
    assert (day.lowest.provider, day.median, day.market.provider) == ("a", 3.0, "vast")


def test_an_offer_of_more_than_a_year_ago_is_no_longer_known() -> None:
    (_, last) = card_history.days([offer("a", 1.0, "2024-05"), offer("b", 2.0, "2025-06-01")])
    assert [one.provider for one in last.known] == ["b"]


def test_age_is_that_of_the_newest_offer() -> None:
    offers = [offer("a", 1.0, "2026-05"), offer("b", 2.0, "2026-09-26")]
    assert card_history.age(offers, date(2026, 11, 25)) == card_history.OLD_DAYS
    assert card_history.age([], date(2026, 11, 25)) is None


def test_what_a_provider_asks_is_by_size_region_and_way() -> None:
    """CoreWeave and Google as cards-2026-11 has them: eight H100 at 49.24 and 19.71 as spot, one as spot at 6.571."""
    ways = [offer for way in ("on-demand", "spot") for offer in cards.offers(ROWS, "H100 SXM", way)]
    found = {(one.provider, one.cards, one.region): one for one in card_history.asked(ways)}
    coreweave = found["coreweave", 8, "north-america"]
    assert (coreweave.on_demand.usd_per_hour, coreweave.spot.usd_per_hour) == (49.24 / 8, 19.71 / 8)
    google = found["gce", 1, "us-central1"]
    assert (google.on_demand, google.spot.usd_per_hour, google.spot.as_of) == (None, 6.571, "2026-09-26")
    assert {one.provider for one in card_history.asked(ways)} >= {"lambda", "azure", "aws", "vast"}


def test_two_sources_that_disagree_are_both_shown() -> None:
    """RunPod's H100 in two lists of autumn 2026: 3.49 on 7 October, 3.99 on 9 November."""
    newer, older = offer("a", 3.99, "2026-11-09", 1), offer("a", 3.49, "2026-10-07", 1)
    same, ancient = offer("a", 3.98, "2026-11-01", 1), offer("a", 2.0, "2026-08-10", 1)
    lists = [replace(one, source=one.as_of) for one in (older, same, ancient, newer)]
    (one,) = card_history.asked(lists)
    assert (one.on_demand, one.otherwise) == (lists[3], lists[:1])


def test_machines_of_one_list_do_not_contradict_one_another() -> None:
    """Google has one L4 with 4, 8 and 16 cores: three prices of one catalogue, and no two of the same."""
    rows = book.read(books.files("current"))
    (here,) = [
        one for one in card_history.asked(cards.offers(rows, "L4")) if (one.cards, one.region) == (1, "us-central1")
    ]
    assert (round(here.on_demand.usd_per_hour, 4), here.otherwise) == (0.7068, [])


def test_an_offer_of_a_year_before_the_newest_is_not_asked_any_more() -> None:
    (one,) = card_history.asked([offer("a", 1.0, "2024-05"), offer("b", 2.0, "2026-06-01")])
    assert one.provider == "b"


def test_books_that_nobody_refreshes_grow_old() -> None:
    there = {
        "A": [offer("a", 1.0, "2021-09-26")],
        "B": [offer("b", 2.0, "2021-05")],
        "C": [offer("c", 3.0, "2018")],
        "D": [],
    }
    late = card_history.of_late(there)
    assert list(late) == ["A", "B"]
    assert card_history.old(late, date(2021, 11, 24)) == {"B": 207}
    assert card_history.old(late, date(2021, 11, 25)) == {"A": 60, "B": 208}
    assert set(card_history.old(late, date(2036, 1, 1))) == {"A", "B"}


@pytest.mark.parametrize(
    ("name", "means"),
    [
        ("A100 80 GB", ["A100 SXM 80GB"]),
        ("a100-80gb", ["A100 SXM 80GB"]),
        ("NVIDIA A100-SXM4-80GB", ["A100 SXM 80GB"]),
        ("a100-pcie-80gb", ["A100 PCIe 80GB"]),
        ("GeForce RTX 4090", ["RTX 4090"]),
        ("L40S 48GB", ["L40S"]),
        ("Trillium", ["TPU v6e"]),
        ("A100 PCIe", ["A100 PCIe", "A100 PCIe 40GB", "A100 PCIe 80GB"]),
    ],
)
def test_a_card_is_found_as_data_sheets_drivers_and_people_spell_it(name: str, means: list[str]) -> None:
    assert cards.called("prices card", name, cards.known()) == means


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("H1000", "prices card: 'H1000' is unknown: did you mean H100"),
        ("GB300", "prices card: 'GB300': no machine on offer has one"),
        ("8xH200", "prices card: '8xH200' is of 8 cards: say H200"),
        ("H100 96GB", "prices card: 'H100 96GB': no machine on offer has one; the nearest known is H100"),
    ],
)
def test_a_card_that_is_unknown_or_not_on_offer_is_a_line(name: str, says: str) -> None:
    with pytest.raises(InputError) as error:
        cards.called("prices card", name, cards.known())
    assert str(error.value).startswith(says)
