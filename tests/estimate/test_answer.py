"""The one sentence of an answer, and what programs read beside it, at costs whose order is known."""

import re
from dataclasses import replace
from datetime import date
from typing import Any

import pytest

from scripts.estimate import answer, owned, question, reasons, verdict
from scripts.storage import schemas
from tests.estimate.test_dollars import row
from tests.estimate.test_question import ask
from tests.estimate.test_rates import MODELS, known

TODAY = date(2026, 11, 25)
TABLES = known(*(replace(one, card="A100 80 GB", rate=(one.rate or 0) / 3) for one in MODELS))


def of(offered: dict[str, list[dict[str, Any]]], *measured: tuple[str, float], **given: Any) -> dict[str, Any]:
    asked = ask(**{"software": "llm-foundry", "state_bytes": 4.0} | given)
    rates = [asked.on(card, rate=rate) for card, rate in measured]
    found = answer.answer(TABLES, offered, asked, rates, None, TODAY)
    schemas.validate(found, "estimate", "an answer")
    return found


def test_what_is_three_times_as_fast_at_twice_the_price_costs_least() -> None:
    found = of({"H100": [row("a", 1, 2)], "A100 80 GB": [row("b", 1, 1)]}, ("H100", 7800), ("A100 80 GB", 2600))
    assert (found["choice"]["decided"], found["choice"]["card"]) == (True, "H100")
    assert found["choice"]["measure"] == []
    assert found["choice"]["sentence"].startswith(
        "Cheapest of the 2 cards with an answer and an offer on demand: 1 x H100 at a, "
    )
    assert found["choice"]["chances"]["H100"] > 0.99


def test_the_price_from_which_another_card_wins_is_where_both_cost_the_same() -> None:
    """Three times as fast, an H100 is worth three times the 1 USD of the other, within what noise adds."""
    offers = {"H100": [row("a", 1, 2)], "A100 80 GB": [row("b", 1, 1)]}
    found = of(offers, ("H100", 7800), ("A100 80 GB", 2600))["choice"]
    three = pytest.approx(3, rel=0.02)
    assert found["flips"] == {
        "card": "A100 80 GB",
        "provider": "b",
        "region": "",
        "from_usd_per_hour": 2,
        "usd_per_hour": three,
    }
    assert "If an hour of 1 x H100 at a rises from 2.00 to " in found["sentence"]
    assert found["sentence"].endswith(" USD, A100 80 GB at b is expected to cost less.")
    dearer = offers | {"H100": [row("a", 1, found["flips"]["usd_per_hour"] * 1.001)]}
    assert of(dearer, ("H100", 7800), ("A100 80 GB", 2600))["choice"]["card"] == "A100 80 GB"
    assert of({"H100": [row("a", 1, 3)]})["choice"]["flips"] is None


def test_a_price_that_rises_is_said_to_rise() -> None:
    """From 1,234 USD to 1,237 of another provider: of three digits both would be 1,230 or 1,240."""
    offers = {"H100": [row("a", 1, 1234.0), row("c", 1, 1237.0)]}
    assert "rises from 1,234 to 1,237 USD" in of(offers, ("H100", 7800))["choice"]["sentence"]


def test_another_provider_of_the_same_card_may_follow() -> None:
    offers = {"H100": [row("a", 1, 2), row("c", 1, 2.5)], "A100 80 GB": [row("b", 1, 1)]}
    found = of(offers, ("H100", 7800), ("A100 80 GB", 2600))
    flips = {"card": "H100", "provider": "c", "region": "", "from_usd_per_hour": 2, "usd_per_hour": pytest.approx(2.5)}
    assert found["choice"]["flips"] == flips
    (own,) = [one for one in found["answers"] if one["card"] == "H100"]
    assert own["on_demand"]["second"]["usd"] == pytest.approx(own["on_demand"]["usd"]["cheapest"] * 1.25, rel=1e-3)


def test_a_rate_of_ones_own_is_said_as_it_was_given() -> None:
    found = of({"H100": [row("a", 1, 3)]}, ("H100", 7800))
    (own,) = [one for one in found["answers"] if one["card"] == "H100"]
    assert own["tokens_per_second_per_card"]["middle"] == pytest.approx(7800, rel=1e-9)


def test_whether_to_stay_on_ones_own_card_is_said() -> None:
    """At a hundredth of the price staying is clear, at a hundred times moving is; unsaid where nobody measured."""
    offers = {"H100": [row("a", 1, 3)], "A100 80 GB": [row("b", 1, 1.5)]}

    def said(usd: float, *own: tuple[str, float]) -> str:
        return str(of(offers | {"H100": [row("a", 1, usd)]}, *own)["choice"]["sentence"])

    assert "Stay on H100: no other card on demand of a cloud is expected to cost less." in said(0.03, ("H100", 7800))
    assert "Move from H100 to A100 80 GB, on cost alone." in said(300, ("H100", 7800))
    undecided = [said(usd, ("H100", 7800)) for usd in (3.0, 3.5, 4.0, 4.5, 5.0)]
    tied = [one for one in undecided if one.startswith("Too close to call")]
    assert tied
    assert all("Stay on H100: nothing on demand of a cloud clearly costs less." in one for one in tied)
    assert "Stay on" not in said(3)


def test_a_long_sequence_needs_memory_too() -> None:
    """32 layers x 131,072 tokens x 4,096 x 2 bytes are 34.4 GB: with 64.2 GB of state too much for 0.9 x 80 GB."""
    long = replace(ask(software="llm-foundry", state_bytes=8.0), length=131072.0)
    found = answer.answer(TABLES, {}, long, [long.on("H100", rate=3000.0)], 1, TODAY)
    reasons = {one["card"]: one["reason"] for one in found["refused"]}
    assert reasons["H100"].endswith("34.4 GB of a sequence's layers, a tenth left free, need 2 cards of 80 GB")


def test_a_market_place_stands_apart_and_is_named_where_it_asks_less() -> None:
    offers = {"H100": [row("a", 1, 3), row("vast", 1, 1)], "A100 80 GB": [row("b", 1, 0.9)]}
    found = of(offers, ("H100", 7800), ("A100 80 GB", 2600))
    assert found["choice"]["card"] == "A100 80 GB"
    assert "At a market place, where anybody may be the host: from " in found["choice"]["sentence"]
    assert " on 1 x H100 at vast, price of 2026-11-09." in found["choice"]["sentence"]
    assert "market place" not in of(offers | {"H100": [row("vast", 1, 5)]})["choice"]["sentence"]


def test_machines_hold_what_is_kept_or_are_not_named() -> None:
    """8.03 billion at 16 bytes are 128.5 GB: of cards of 80 GB, a tenth of which is for activations, two."""
    few = {"H100": [row("a", 1, 3)], "A100 80 GB": [row("b", 8, 9)]}
    found = of(few, state_bytes=16.0)
    by_card = {one["card"]: one for one in found["answers"]}
    assert (by_card["H100"]["cards"], by_card["H100"]["on_demand"]) == (2, None)
    assert by_card["A100 80 GB"]["on_demand"]["cheapest"]["cards"] == 8
    (held,) = [one for one in of(few, state_bytes=8.0)["answers"] if one["card"] == "H100"]
    assert held["on_demand"]["cheapest"]["cards"] == 1


def test_where_nothing_is_decided_the_sentence_names_what_to_measure() -> None:
    found = of({"H100": [row("a", 1, 3)], "A100 80 GB": [row("b", 1, 1)]}, tokens=1e12)["choice"]
    assert not found["decided"]
    assert set(found["chances"]) == {"H100", "A100 80 GB"}
    assert found["sentence"].startswith("Too close to call on demand between ")
    assert "measure a minute on one of these two: " in found["sentence"]
    assert "USD beyond what it costs" in found["sentence"]
    falls = [one["expected_fall_usd"] for one in found["measure"]]
    assert falls == sorted(falls, reverse=True)


def test_a_training_that_is_shorter_than_a_minute_is_not_measured_for_one() -> None:
    found = of({"H100": [row("a", 1, 3)], "A100 80 GB": [row("b", 1, 1)]}, tokens=1e5)["choice"]
    assert found["measure"] == []
    assert "no minute is worth its time" in found["sentence"]


def test_one_card_alone_is_not_called_cheapest() -> None:
    found = of({"H100": [row("a", 1, 3)]})["choice"]
    assert found["sentence"].startswith("The one card with an answer and an offer on demand: 1 x H100 at a, ")


def test_without_offers_there_are_rates_and_no_choice() -> None:
    found = of({})
    assert found["choice"] is None
    assert all(one["on_demand"] is None and one["spot"] is None for one in found["answers"])
    hundred_hours = of({}, ("H100", 10_000), tokens=3.6e9)["answers"]
    assert next(one for one in hundred_hours if one["card"] == "H100")["hours"]["middle"] == pytest.approx(
        100, rel=0.03
    )


def test_spot_stands_apart_and_decides_nothing() -> None:
    offers = {"H100": [row("a", 1, 3), row("a", 1, 0.1, purchase="spot")], "A100 80 GB": [row("b", 1, 0.9)]}
    found = of(offers, ("H100", 7800), ("A100 80 GB", 2600))
    (own,) = [one for one in found["answers"] if one["card"] == "H100"]
    # One preemption a day: saved every 3,207 s, .042 x (1,604 + 600) / 3,600 = 2.6 %, and a minute for each save, 1.9 %
    assert own["spot"]["usd"]["cheapest"] / own["on_demand"]["usd"]["cheapest"] == pytest.approx(1.0444 / 30, rel=0.003)
    assert any(line.startswith("spot: 0.042 preemptions an hour of each machine") for line in found["ways"])
    assert found["choice"]["card"] == "A100 80 GB"
    usd = own["spot"]["usd"]
    ends = f"({usd['low']:.2f} to {usd['high']:.2f} by the 80 % interval of its speed)"
    says = f"On spot, if it may be interrupted: {usd['cheapest']:.2f} USD {ends} on 1 x H100 at a, price of 2026-11-09."
    assert says in found["choice"]["sentence"]
    assert "On spot" not in of(offers | {"H100": [row("a", 1, 90, purchase="spot")]})["choice"]["sentence"]


def test_what_is_to_be_known_is_said_of_every_pick() -> None:
    """The cloud's H100 has tables; what spot, a market place and an owner have are known by data sheets."""
    offers = {
        "H100": [row("a", 1, 9)],
        "GH200": [row("b", 1, 1, card="GH200", purchase="spot"), row("vast", 1, 1, card="GH200")],
    }
    asked = ask(software="llm-foundry", state_bytes=4.0)
    own = {"GH200": owned.Owned(0.5, "2026-11", "by hand", "an invoice", 1)}
    found = answer.answer(TABLES, offers, asked, [], None, TODAY, owned=own)["choice"]["sentence"]
    known = "1 x GH200 (known by its data sheet alone; ARM host: wheels may be missing)"
    for place in ("at b", "at vast", "owned"):
        assert f" on {known} {place}, " in found
    assert "1 x H100 at a, " in found


def test_a_data_sheet_alone_decides_nothing() -> None:
    """A GH200 for a tenth of what an H100 costs is to be measured first, and what tables know is named beside it."""
    found = of({"GH200": [row("a", 1, 0.3, card="GH200")], "H100": [row("b", 1, 9)]})["choice"]
    assert (found["decided"], found["card"], found["rivals"]) == (False, "GH200", [])
    assert [one["card"] for one in found["measure"]] in ([], ["GH200"])
    assert found["sentence"].startswith("Measure a minute first: no table of speed has this card, whose data sheet")
    assert "Of those that tables know: 1 x H100 at b, price of 2026-11-09, " in found["sentence"]
    close = {
        "L40S": [row("c", 1, 0.15, card="L40S")],
        "GH200": [row("a", 1, 0.3, card="GH200")],
        "H100": [row("b", 1, 9)],
    }
    of_two = of(close)["choice"]
    assert {of_two["card"], *of_two["rivals"]} == {"GH200", "L40S"}
    assert ". Without that, 1 x H100 at b" in of_two["sentence"]
    measured = of({"GH200": [row("a", 1, 0.3, card="GH200")], "H100": [row("b", 1, 9)]}, ("GH200", 8000))["choice"]
    assert measured["decided"]
    assert measured["sentence"].startswith("Cheapest of the 2 cards")


def test_answers_stand_in_the_order_in_which_one_is_picked() -> None:
    """A wide interval counts: the expected cost of a lognormal is its middle x exp(variance / 2)."""
    offers = {card: [row("a", 1, 2, card=card)] for card in ("H100", "GH200", "H200", "B200")}
    found = of(offers)
    first = [one["card"] for one in found["answers"] if one["on_demand"]]
    assert first[0] == found["choice"]["card"]
    assert {*first} == {"H100", "GH200", "H200", "B200"}
    assert all(one["on_demand"] is None for one in found["answers"][4:])
    assert any(line.startswith("order: by expected cost") for line in found["ways"])


#: An hour of a card that is owned, in USD.
OWN = {"H100": owned.Owned(0.5, "2026-11", "by hand", "an invoice", 1)}


def test_owned_cards_stand_apart_unless_they_are_asked_to_decide() -> None:
    """71.2 h of an H100 at 7,800 tokens a second: 35.6 USD owned, 142 rented; an A100 is a third as fast at 0.9 USD."""
    offers = {"H100": [row("a", 1, 2)], "A100 80 GB": [row("b", 1, 0.5)]}
    asked = ask(software="llm-foundry", state_bytes=4.0)
    measured = [asked.on("H100", rate=7800.0), asked.on("A100 80 GB", rate=2600.0)]
    apart, deciding = (
        answer.answer(TABLES, offers, asked, measured, None, TODAY, owned=OWN, owned_decides=decides)
        for decides in (False, True)
    )
    for found in (apart, deciding):
        schemas.validate(found, "estimate", "an answer")
        own = next(one for one in found["answers"] if one["card"] == "H100")
        assert own["owned"]["usd"]["cheapest"] == pytest.approx(2e9 / 7800 / 3600 * 0.5, rel=0.02)
        assert own["on_demand"]["cheapest"]["provider"] == "a"
    assert apart["choice"]["card"] == "A100 80 GB"
    assert apart["choice"]["sentence"].endswith(" on 1 x H100 owned, figures of 2026-11.")
    assert deciding["choice"]["card"] == "H100"
    assert "1 x H100 owned, figures of 2026-11" in deciding["choice"]["sentence"]
    assert "owned, apart from offers: H100 0.500 USD an hour (by hand); an invoice" in apart["ways"]
    assert "owned, deciding beside offers: H100 0.500 USD an hour (by hand); an invoice" in deciding["ways"]


@pytest.mark.parametrize(("has", "wanted", "trains"), [(8, None, 8), (8, 4, 4), (4, 8, 0), (None, 2, 2), (1, None, 0)])
def test_no_more_cards_train_than_a_person_has(has: int | None, wanted: int | None, trains: int) -> None:
    """8 billion at 16 bytes are 128 GB, of which two H100 hold as much at nine tenths; an example has no number."""
    asked = ask(software="llm-foundry")
    own = {"H100": owned.Owned(0.5, "2026-11", "by hand", "an invoice", has)}
    found = answer.answer(
        TABLES, {"H100": [row("a", 1, 2)]}, asked, [asked.on("H100", rate=7800.0)], wanted, TODAY,
        owned=own, owned_decides=True,
    )  # fmt: skip
    of = next(one for one in found["answers"] if one["card"] == "H100")
    assert (of["owned"]["cheapest"]["cards"] if of["owned"] else 0) == trains
    sentence = found["choice"]["sentence"] if found["choice"] else ""
    assert ("owned" in sentence) == (has is not None and trains > 0)
    if trains:
        # The hours of the sentence are those of the cards that it names
        assert of["owned"]["hours"] == pytest.approx(2e9 / 7800 / trains / 3600, rel=0.02)
    else:
        wanting = "8 are asked for" if wanted else "these do not hold the training"
        assert f"owned: {has} of H100 (an invoice), and {wanting}" in found["ways"]


@pytest.mark.parametrize(
    ("card", "has", "given", "sequences", "trains"),
    [
        ("H100", 8, {}, 4, 4),
        ("H100", 8, {"tokens": 3 * 4096}, None, 3),
        ("H100", 1_000_000, {"tokens": 1e12}, None, 4096),
        ("L40S", 8, {}, None, 1),
    ],
)
def test_no_more_owned_cards_train_than_are_answered_for(
    card: str, has: int, given: dict[str, Any], sequences: float | None, trains: int
) -> None:
    """A card takes a sequence of a step, of the training; 4,096 are asked for at most, and of those on PCIe one."""
    asked = ask(software="llm-foundry", state_bytes=4.0, **given)
    own = {card: owned.Owned(0.5, "2026-11", "by hand", "an invoice", has)}
    found = answer.answer(TABLES, {}, asked, [], None, TODAY, sequences=sequences, owned=own, owned_decides=True)
    (of,) = [one for one in found["answers"] if one["card"] == card]
    assert of["owned"]["cheapest"]["cards"] == trains
    said = any(line.startswith(f"{trains:,} cards: no table of speed goes beyond 1,024") for line in found["ways"])
    assert said == (trains > 1024)


def test_a_card_that_pcie_links_is_answered_for_alone() -> None:
    """An L40S holds the 32 GB of 8 billion at 4 bytes by itself; eight in a machine have no table."""
    offers = {"L40S": [row("a", 1, 1, card="L40S"), row("b", 8, 4, card="L40S")]}
    alone = next(one for one in of(offers)["answers"] if one["card"] == "L40S")
    assert (alone["cards"], alone["on_demand"]["offers"]) == (1, 1)
    asked = ask(software="llm-foundry", state_bytes=4.0)
    several = answer.answer(TABLES, offers, asked, [], 8, TODAY)
    reasons = {one["card"]: one["reason"] for one in several["refused"]}
    assert reasons["L40S"].startswith("no table of speed has several cards that PCIe alone links, and this takes 8")


@pytest.mark.parametrize(
    ("of_rate", "asked_for", "is_answered"), [(1, 1, 1), (1, 2, 0), (4, 4, 1), (4, 2, 1), (4, 8, 0)]
)
def test_a_rate_of_cards_that_pcie_links_holds_for_as_many_as_it_was_measured_on(
    of_rate: int, asked_for: int, is_answered: int
) -> None:
    asked = ask(software="llm-foundry", state_bytes=4.0)
    point = question.check_rate(TABLES, asked, "--on", "L40S", "bf16", 2000.0, of_rate)
    found = answer.answer(TABLES, {}, asked, [point], asked_for, TODAY)
    reasons = {one["card"]: one["reason"] for one in found["refused"]}
    assert ("L40S" not in reasons) == is_answered
    if not is_answered:
        assert f"alone links, your rate is of {of_rate}, and this takes {asked_for}: measure it" in reasons["L40S"]
    other = answer.answer(TABLES, {}, asked, [replace(asked.on("H100", rate=8000.0), cards=1)], 8, TODAY)
    assert "H100" in {one["card"] for one in other["answers"]}, "what NVLink links may be many"


def test_a_card_that_is_left_out_is_not_answered_and_still_teaches() -> None:
    offers = {"H100": [row("a", 1, 2)], "A100 80 GB": [row("b", 1, 1)]}
    asked = ask(software="llm-foundry", state_bytes=4.0)
    measured = [asked.on("H100", rate=7800.0)]
    found, whole = (
        answer.answer(TABLES, offers, asked, measured, None, TODAY, without=without) for without in (["H100"], [])
    )
    assert found["choice"]["card"] == "A100 80 GB"
    assert {"card": "H100", "reason": "left out, as asked"} in found["refused"]
    rates = [next(one for one in of["answers"] if one["card"] == "A100 80 GB") for of in (found, whole)]
    assert rates[0] == rates[1]


def test_a_model_of_65_billion_is_tuned_in_4_bits_on_one_card_of_48_gb() -> None:
    """As its authors say in the first sentence of the QLoRA paper, and 33 billion on one of 24 GB."""
    for billion, card in ((65, "L40S"), (33, "RTX 4090")):
        asked = ask(model="", billion=billion, task="qlora", length=2048, software="llm-foundry")
        found = answer.answer(TABLES, {}, asked, [asked.on(card, rate=300.0)], None, TODAY)
        assert next(one for one in found["answers"] if one["card"] == card)["cards"] == 1


def test_few_steps_and_many_cards_are_said() -> None:
    """2e9 tokens on 4,096 cards of a sequence of 4,096 tokens each: 119 steps of 16.8 million."""
    asked = ask(software="llm-foundry", state_bytes=4.0)
    ways = [answer.answer(TABLES, {}, asked, [], cards, TODAY)["ways"] for cards in (4096, 256, 512)]
    assert any(line.startswith("4,096 cards: at most 119 steps, of 16,777,216 tokens or more") for line in ways[0])
    assert any("no table of speed goes beyond 1,024 cards" in line for line in ways[0])
    assert not any("steps" in line for line in ways[1])  # 1,907 of a million tokens
    assert any("at most 953 steps" in line for line in ways[2])
    tuned = answer.answer(TABLES, {}, replace(asked, task="sft"), [], 4096, TODAY)["ways"]
    assert not any("steps" in line for line in tuned)


def test_a_training_of_few_sequences_is_not_spread_over_more_cards() -> None:
    """Two sequences of 4,096 tokens; 8.03 billion parameters at 32 bytes are 257 GB: four cards of 80 GB."""
    asked = ask(software="llm-foundry", state_bytes=32.0, tokens=8192)
    found = answer.answer(TABLES, {}, asked, [], None, TODAY)
    reasons = {one["card"]: one["reason"] for one in found["refused"]}
    assert reasons["H100"] == "it takes 4 cards, and the whole training has 2 sequences for them"


def test_what_is_to_be_known_of_a_card_is_said_where_it_is_named() -> None:
    found = of({"GH200": [row("a", 1, 1, card="GH200")]})
    assert (
        "1 x GH200 (known by its data sheet alone; ARM host: wheels may be missing) at a, price of 2026-11-09"
        in (found["choice"]["sentence"])
    )
    hosts = {one["card"]: one["host"] for one in found["answers"]}
    assert (hosts["GH200"], hosts["H100"]) == ("ARM", None)


def test_a_card_says_how_far_its_quotes_are_from_logs_unless_it_was_measured() -> None:
    tables = replace(TABLES, off_logs={("H100", "bf16"): 1.372})
    asked, offers = ask(software="llm-foundry", state_bytes=4.0), {"H100": [row("a", 1, 1)]}
    for measured, said in (([], " (1.37 times its speed in MLPerf's logs)"), ([asked.on("H100", rate=7800)], "")):
        found = answer.answer(tables, offers, asked, measured, None, TODAY)
        schemas.validate(found, "estimate", "an answer")
        assert f"1 x H100{said} at a, price of" in found["choice"]["sentence"]
        assert [one["off_logs"] for one in found["answers"] if one["card"] != "H100"].count(None) > 0


def test_a_rate_near_the_peak_is_asked_after() -> None:
    """19,000 tokens a second x 51.4 GFLOP are 977 TFLOP/s, 99 % of an H100's 989; 10,400 are 54 %."""
    for rate, asks in ((19000.0, True), (10400.0, False)):
        asked = ask(software="llm-foundry")
        found = answer.answer(TABLES, {}, asked, [asked.on("H100", rate=rate)], None, TODAY)
        assert ("That is 99 % of its peak, and no printed row is above 68.5 %" in found["beside"][0]) == asks


def test_where_no_cloud_is_left_the_market_place_and_owned_cards_are_named() -> None:
    offers = {"H100": [row("a", 1, 3), row("vast", 1, 1)], "A100 80 GB": [row("a", 1, 2)]}
    asked = ask(software="llm-foundry", state_bytes=4.0)
    own = {"A100 80 GB": owned.Owned(0.5, "2026-11", "by hand", "an invoice", 1)}
    found = answer.answer(TABLES, offers, asked, [], None, TODAY, without=["a"], owned=own)
    assert found["choice"] is None
    says = "No cloud offers a card that can be answered for (without a), at a price younger than 12 months"
    assert found["otherwise"].startswith(says)
    assert "At a market place, where anybody may be the host: from " in found["otherwise"]
    assert " on 1 x H100 at vast, price of 2026-11-09." in found["otherwise"]
    assert " on 1 x A100 80 GB owned, figures of 2026-11." in found["otherwise"]
    nothing = answer.answer(TABLES, {}, asked, [], 8, TODAY)["otherwise"]
    assert nothing == (
        "No cloud offers so many cards that can be answered for, at a price younger than 12 months: nothing is left "
        "that decides."
    )
    assert answer.answer(TABLES, offers, asked, [], None, TODAY)["otherwise"] is None


def test_whether_to_stay_is_not_said_where_one_card_alone_is_answered() -> None:
    """A rate of a tenth of what tables say leaves no other card: that none costs less, nobody knows."""
    found = of({"H100": [row("a", 1, 3)], "A100 80 GB": [row("b", 1, 1)]}, ("H100", 780))
    assert [one["card"] for one in found["answers"]] == ["H100"]
    assert found["asked"]["measured"][0]["is_carried"] is False
    assert "Stay on" not in found["choice"]["sentence"]


@pytest.mark.parametrize(("usd_per_hour", "is_worth"), [(0.3, True), (0.003, False)])
def test_a_minute_on_what_a_data_sheet_speaks_for_has_to_be_worth_its_time_too(
    usd_per_hour: float, is_worth: bool
) -> None:
    """Some 70 hours of an H100 at 30 times the price: 620 USD are saved, or 6; of 0.3 USD in all nobody saves one."""
    tokens = 2e9 if is_worth else 1e8
    offers = {"GH200": [row("a", 1, usd_per_hour, card="GH200")], "H100": [row("b", 1, usd_per_hour * 30)]}
    found = of(offers, tokens=tokens)["choice"]
    assert [one["card"] for one in found["measure"]] == (["GH200"] if is_worth else [])
    assert found["sentence"].startswith("Measure a minute first: ") == is_worth
    if not is_worth:
        assert (
            "GH200, whose data sheet makes it cost least, and no minute is worth its time: 1 x H100 at b"
            in (found["sentence"])
        )
        assert ", will do." in found["sentence"]


def test_what_a_data_sheet_alone_speaks_for_never_will_do() -> None:
    """Of two that tie, tables know the dearer one; and of two of which they know none, neither will do."""
    for other, named in (("H100", "1 x H100"), ("L40S", "")):
        offers = {"GH200": [row("a", 1, 0.0009, card="GH200")], other: [row("b", 1, 0.001, card=other)]}
        said = of(offers, tokens=1e8)["choice"]["sentence"]
        assert "no minute is worth its time: " in said
        assert ("will do" in said) == bool(named)
        assert f"no minute is worth its time: {named}" in said


def test_moving_is_decided_where_a_card_that_tables_know_clearly_costs_less() -> None:
    """An A100 at a third of the speed and thrice the price of an H100, whatever a GH200 by its data sheet does; at nine
    times its price, the H100 is no better, and the data sheet alone moves nobody.
    """
    offers = {"H100": [row("a", 1, 1)], "A100 80 GB": [row("b", 1, 3)], "GH200": [row("c", 1, 0.6, card="GH200")]}
    found = of(offers, ("A100 80 GB", 2600))["choice"]
    assert (found["card"], found["decided"]) == ("GH200", False)
    usd = {
        one["card"]: one["on_demand"]["usd"] for one in of(offers, ("A100 80 GB", 2600))["answers"] if one["on_demand"]
    }
    assert usd["H100"]["high"] < usd["A100 80 GB"]["low"], "what is decided, though a GH200 may cost less"
    (ends,) = re.findall(
        r"Move from A100 80 GB to H100 \((.*) USD, yours .*\), on cost alone: its whole", found["sentence"]
    )
    assert list(map(float, ends.split(" to "))) == pytest.approx([usd["H100"]["low"], usd["H100"]["high"]], rel=0.05)
    alike = of(offers | {"H100": [row("a", 1, 9)]}, ("A100 80 GB", 2600))["choice"]
    assert "Stay on A100 80 GB until a minute on one of these says otherwise: data sheets alone" in alike["sentence"]


def test_of_several_that_clearly_cost_less_the_one_of_the_lowest_upper_end_is_safe() -> None:
    """The second may cost more than one's own 19.9 USD; the third less than the fourth, and at worst more."""
    bills = {"own": (19, 19.9, 21), "wide": (5, 10, 22), "low": (6.7, 7.9, 9.4), "narrow": (8, 8.5, 9)}
    answers = [
        {"card": card, "fits": "unknown", "deciding": {"usd": dict(zip(("low", "cheapest", "high"), usd, strict=True))}}
        for card, usd in bills.items()
    ]
    said = {"card": "narrow", "ends": "8.00 to 9.00", "usd": "19.9", "why": reasons.text("several below", count=2)}
    assert verdict._safe(answers, 0, [1, 2, 3]) == said
    assert verdict._safe(answers, 0, [1]) == {}


@pytest.mark.parametrize("rate", [16_000.0, 780.0])
def test_a_rate_that_is_asked_after_decides_nothing(rate: float) -> None:
    """83 % of the peak of an H100, and a tenth of what tables print."""
    found = of({"H100": [row("a", 1, 3)], "A100 80 GB": [row("b", 1, 90)]}, ("H100", rate))["choice"]
    assert not found["decided"]
    says = "First, is your rate on H100 right? Until that is sure nothing is decided. As it stands: 1 x H100 at a, "
    assert found["sentence"].startswith(says)
    for word in ("will do", "Cheapest", "Move from", "Stay on H100:", "rises from"):
        assert word not in found["sentence"]


@pytest.mark.parametrize(("of_rate", "wanted", "count"), [(1, 1, 1), (1, None, 1), (2, 1, None), (None, 1, None)])
def test_who_measured_a_training_on_so_many_cards_is_believed(
    of_rate: int | None, wanted: int | None, count: int | None
) -> None:
    """8.03 billion parameters at 16 bytes need two cards of 80 GB, unless somebody has trained them on one."""
    asked = ask(software="llm-foundry")
    point = question.check_rate(TABLES, asked, "--on", "H100", "bf16", 7800.0, of_rate)
    offers = {card: [row("a", 1, 3, card=card)] for card in ("H100", "A100 80 GB")}
    found = answer.answer(TABLES, offers, asked, [point], wanted, TODAY)
    schemas.validate(found, "estimate", "an answer")
    reasons = {one["card"]: one["reason"] for one in found["refused"]}
    if count is None:
        assert "need 2 cards of 80 GB" in reasons["H100"]
        return
    (own,) = [one for one in found["answers"] if one["card"] == "H100"]
    assert (own["cards"], own["fits"]) == (count, "as you say")
    assert "1 x H100 (fits by your word) at a, " in found["choice"]["sentence"]
    assert wanted is None or "need 2 cards of 80 GB" in reasons["A100 80 GB"], "of another card nobody has said it"


def test_what_a_measured_peak_does_not_fit_is_named_with_that_word_and_not_to_measure() -> None:
    """60,000 MiB of an A100 of 80 GB: one of 40 GB, at half its price or a fifth, has no room for them."""
    asked = ask(software="llm-foundry", state_bytes=4.0)
    rates = [asked.on("A100 80 GB", rate=2600.0)]
    peak = answer.Peak("A100 80 GB", 1, 60_000.0)
    for usd, tie in ((1.0, True), (0.2, False)):
        offers = {"A100 80 GB": [row("a", 1, 1.0)], "A100 40 GB": [row("b", 1, usd, card="A100 40 GB")]}
        found = answer.answer(TABLES, offers, asked, rates, 1, TODAY, peak=peak)["choice"]
        assert (bool(found["rivals"]), found["card"] == "A100 40 GB") == (tie, not tie)
        assert found["measure"] == []
        parts = found["sentence"].split("A100 40 GB")[1:]
        assert parts
        assert all("does not fit as measured" in part.partition(")")[0] for part in parts), found["sentence"]


@pytest.mark.parametrize("purchase", ["on-demand", "spot"])
def test_a_price_of_a_region_is_named_with_it_and_what_others_ask(purchase: str) -> None:
    """Of three regions at 1, 2 and 8 USD an hour the median asks twice the first, the dearest eight times."""
    regions = [
        row("gce", 1, usd, region=name, purchase=purchase) for usd, name in ((2, "north"), (1, "east"), (8, "west"))
    ]
    found = of({"H100": [row("a", 1, 9), *regions], "A100 80 GB": [row("b", 1, 90)]}, ("H100", 7800))
    (own,) = [one for one in found["answers"] if one["card"] == "H100"]
    bill = own["on_demand" if purchase == "on-demand" else "spot"]
    assert (bill["cheapest"]["region"], bill["cheapest"]["regions"]) == ("east", [1, 2, 8])
    # 71.2 hours, of spot 4.4 % more
    words = {
        "on-demand": "1 x H100 at gce in east (3 regions: 71 to 570 USD, median 140), price of 2026-11-09",
        "spot": "On spot, if it may be interrupted: 150 USD in the median of 3 regions, from 74.5 USD (69.9 to 79.4 by "
        "the 80 % interval of its speed) in east to 600 USD, on 1 x H100 at gce, price of 2026-11-09.",
    }
    assert words[purchase] in found["choice"]["sentence"]
    alone = of({"H100": [row("gce", 1, 3, region="east"), row("a", 1, 9)]}, ("H100", 7800))["choice"]["sentence"]
    assert "1 x H100 at gce in east, price" in alone
    assert "If an hour of 1 x H100 at gce in east rises" in alone


def test_what_is_left_out_twice_is_named_once() -> None:
    found = answer.answer(TABLES, {}, ask(), [], None, TODAY, without=["b", "a", "b"])
    assert found["asked"]["without"] == ["a", "b"]
    assert "(without a, b)" in found["otherwise"]
