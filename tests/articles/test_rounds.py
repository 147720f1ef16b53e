"""Rounds of MLPerf in dollars, on made-up results whose truth is known."""

import re

import numpy as np
import pandas as pd
import pytest

from scripts.articles.mlperf import card_prices, figures, results, rounds, scores
from scripts.articles.mlperf.results import COLUMNS
from scripts.storage.schemas import read_yaml
from scripts.studies.definition import ROOT

ABOUT = {
    "submitter": "Maker",
    "generations": [["a100", "h100"]],
    "accelerators": {"a100": 8, "h100": 8},
    "providers": {"today": "aws", "cheap": "other"},
    "then": {"list-1": "2022-01-01", "list-2": "2024-01-01"},
}
SERIES = {
    "rounds": {"v1.0": "2021-06-30", "v2.0": "2022-06-29", "v3.0": "2023-06-27"},
    "series": {
        "bert": {"label": "BERT", "benchmark": "bert", "first": "v1.0", "last": "v3.0", "target": "0.72"},
        "retinanet": {"label": "RetinaNet", "benchmark": ["ssd", "x"], "first": "v2.0", "last": "v3.0", "target": "34"},
    },
}  # fmt: skip
#: USD an hour of a machine of eight, by option.
PRICES = pd.DataFrame(
    [
        ("a100", "today", "aws", 8.0),
        ("h100", "today", "aws", 24.0),
        ("h100", "cheap", "other", 12.0),
        ("a100", "list-1", "aws", 16.0),
        ("a100", "list-2", "aws", 16.0),
        ("h100", "list-2", "aws", 64.0),
    ],
    columns=["hardware", "price_option", "provider", "usd_per_hour"],
)


def result(minutes: float, **values) -> dict:
    """A result whose runs all took so many minutes."""
    made = {
        "round": "v2.0", "submitter": "Maker", "system": "box", "benchmark": "bert", "division": "closed",
        "availability": "cloud", "card": "a100", "accelerators": 8, "nodes": 1, "cpu": "", "framework": "",
        "batch_size": 1, "factor": 1.0, "seconds": " ".join([f"{60 * minutes:g}"] * 10), "init_seconds": 30.0,
        "date": "2022-05-01", "logs": "",
    }  # fmt: skip
    return made | values


def scored(*results: dict) -> pd.DataFrame:
    table = pd.DataFrame(list(results), columns=list(COLUMNS)).astype(COLUMNS)
    return scores.scored(table, SERIES)


def test_scored_result_has_hours_and_the_share_of_initialisation() -> None:
    (row,) = scored(result(60, accelerators=16, factor=1.5)).to_dict("records")
    assert (row["minutes"], row["hours"], row["series"], row["compared"]) == (90.0, 24.0, "bert", True)
    assert row["init_share"] == pytest.approx(30 / 3600)


@pytest.mark.parametrize(
    "values",
    [
        {"division": "open"},
        {"availability": "preview"},
        {"availability": "research"},
        {"seconds": "60 60"},
        {"benchmark": ""},
        {"benchmark": "ssd", "round": "v1.0", "seconds": "60 60 60 60 60"},
    ],
)
def test_what_is_not_compared(values: dict) -> None:
    assert not scored(result(60, **values))["compared"].any()


def test_what_begins_with_a_checkpoint_is_a_part_of_a_training() -> None:
    about = SERIES | {"series": {"bert": SERIES["series"]["bert"] | {"checkpoint": True}}}
    prices = PRICES.assign(price_as_of="2026-01")
    for series, of in ((SERIES, "a training"), (about, "a part of a training")):
        table = pd.DataFrame([result(60)], columns=list(COLUMNS)).astype(COLUMNS)
        assert set(rounds.trainings(scores.scored(table, series), ABOUT, prices, "today")["of"]) == {of}


def test_logs_that_were_handed_in_before_are_no_second_result() -> None:
    again = scored(result(60), result(61, submitter="Other"), result(60, submitter="Third", round="v3.0"))
    assert again["copy_of"].to_list() == ["", "", "v2.0 Maker box"]
    assert again["compared"].to_list() == [True, True, False]


def test_generation_is_compared_within_the_last_round_that_has_both() -> None:
    table = scored(
        result(100, round="v1.0"),
        result(10, round="v1.0", card="h100"),
        result(60),
        result(66, submitter="B"),
        result(21, card="h100", submitter="C"),
        result(30, card="h100", submitter="D"),
        result(33, card="h100", submitter="E"),
        result(1, card="h100", accelerators=64, submitter="F"),
        result(5, card="h100", round="v3.0"),
    )
    (row,) = rounds.generations(table, ABOUT, PRICES, "today").to_dict("records")
    assert (row["round"], row["new_results"], row["old_results"]) == ("v2.0", 3, 2)
    assert row["hours"] == pytest.approx(30 / 63)
    assert (row["hours_low"], row["hours_high"]) == pytest.approx((21 / 66, 33 / 60))
    assert row["usd"] == pytest.approx(3 * 30 / 63)
    assert (row["first_list"], row["usd_then"]) == ("2024-01-01", pytest.approx(4 * 30 / 63)), "the first with both"


def test_cheapest_is_in_dollars_and_not_in_minutes() -> None:
    table = scored(result(60), result(25, card="h100", submitter="B"), result(9, card="l4", submitter="C"))
    (row,) = rounds.cheapest(table, ABOUT, PRICES, "today").to_dict("records")
    assert (row["card"], row["usd"], row["usd_then"], row["fastest_minutes"]) == ("a100", 8.0, 16.0, 9.0)
    early = rounds.cheapest(scored(result(60, round="v1.0")), ABOUT, PRICES, "today")
    assert early["usd_then"].isna().all(), "no list is so old"


def noisy(middle: float, spread: float, seed: int, **values) -> dict:
    rng = np.random.default_rng(seed)
    seconds = 60 * middle * np.exp(spread * rng.standard_normal(10))
    return result(middle, seconds=" ".join(f"{one:.2f}" for one in seconds), **values)


@pytest.mark.parametrize(("gap", "wins"), [(1.0, False), (1.02, False), (3.0, True)])
def test_result_wins_where_its_runs_differ_from_all_others(gap: float, wins: bool) -> None:
    """Twenty results whose runs differ by 3 %, on machines of their own: 2 % between two of them are no finding."""
    rows = [noisy(60 * (gap if i else 1), 0.03, i, submitter=f"maker {i}") for i in range(20)]
    rows += [noisy(200, 0.03, 50 + i, submitter=f"maker {i}", round="v3.0") for i in range(20)]
    table, prices = scored(*rows), PRICES.assign(price_as_of="2026-01")
    found = rounds.trainings(table, ABOUT, prices, "today")
    now = found[found["round"] == "v2.0"]
    assert (now["not_told"] == 0).all() == wins
    heads = ["cheapest", "fastest", "least time × cost"]
    measured = ["lowest cost measured", "shortest time measured", "least time × cost measured"]
    assert list(now["head"]) == (heads if wins else measured)
    assert (found.loc[found["round"] == "v3.0", "not_told"] > 0).all()
    cheapest = rounds.cheapest(table, ABOUT, PRICES, "today")
    assert (cheapest["not_told"].iloc[0] == 0) == wins
    assert cheapest["than_first"].to_list() == ["", "more"]


def test_newest_round_has_the_lowest_cost_of_each_benchmark_with_its_price_and_entry() -> None:
    table = scored(
        result(10),  # the round before
        result(60, round="v3.0", submitter="Dear", card="h100"),
        result(30, round="v3.0", submitter="Low", system="two boxes", accelerators=16),
        result(90, round="v3.0", submitter="Alone", benchmark="x", card="l4"),  # without a price
    )
    prices = PRICES.assign(price_as_of="2026-01")
    (row,) = rounds.newest(table, ABOUT, prices, "today").to_dict("records")
    assert (row["machine"], row["usd"], row["usd_per_hour"]) == ("16 × a100, Low", 8.0, 1.0)
    assert (row["price_as_of"], row["entry"]) == ("2026-01", "v3.0: Low/results/two boxes")
    assert row["near"] == "none", "ten runs that are all alike decide"


def test_newest_round_names_three_of_those_that_are_too_close_to_call() -> None:
    """Twenty makers of one machine whose runs differ by 3 %, and one whose machine takes three times as long."""
    rows = [noisy(60, 0.03, i, submitter=f"maker {i}") for i in range(20)]
    table, prices = scored(*rows, noisy(180, 0.03, 20, submitter="slow")), PRICES.assign(price_as_of="2026-01")
    (row,) = rounds.newest(table, ABOUT, prices, "today").to_dict("records")
    assert (row["near"], row["is_card_clear"]) == ("the card is clear, the maker is open: 19 of a100", True)
    assert row["near_others"] == "none"
    named, _, more = row["near_named"].partition(" and ")
    assert (len(named.split("; ")), more) == (3, "16 more")


def test_head_of_the_page_has_one_price_at_which_a_newer_card_costs_as_much_and_the_tables_the_same() -> None:
    """60 minutes at 1 USD a card-hour and 30 at 3 cost as much at 2; at an offer of 1.50 the newer one costs less."""
    table = scored(result(60), result(30, card="h100", submitter="B"), result(10, round="v1.0"))
    prices = pd.concat([PRICES, PRICES[:2].assign(price_option="lowest", usd_per_hour=[8.0, 12.0])])
    prices = prices.assign(price_as_of="2026-01")
    made = {
        f"{name}{end}": make(table, ABOUT, prices, option)
        for name, make in (("newest", rounds.newest), ("generations", rounds.generations))
        for end, option in (("", "today"), ("_lowest", "lowest"))
    }
    ways = {"today": {"label": "AWS"}, "lowest": {"label": "the lowest", "offer": "lowest"}}
    made["newest"] = figures._by_medians(made["newest"], made["generations"])
    derived = made | {"providers": pd.DataFrame({"card": ["a100", "h100"], "lowest_of": ["Ahoi", "Hello"]})}
    said = figures.minute({"price": "today", "prices": ways}, derived | figures.readable(derived))
    assert "BERT, medians of machines of eight cards" in said["price"]
    assert "h100 costs as much as a100 (at 1.00) at 2.00, clearly less at no price that is known" in said["price"]
    assert "; now 3.00, too few results." in said["price"]
    assert "At the lowest as much as a100 (at 1.00) at 2.00, now 1.50." in said["price"]
    assert "medians" not in said["sure"], "one result a side tells nothing"
    assert "At the lowest (Hello): h100 in 1, from 6.00 to 6.00 USD a training." in said["which"]
    assert "a100 in 1, from 8.00 to 8.00" in said["which"]
    assert "One card is clearly the cheapest in 1 of 1 (BERT: a100); " in said["sure"]


@pytest.mark.parametrize(
    ("values", "is_open"),
    [
        ({"accelerators": 16}, "the number of cards is"),
        ({"submitter": "B"}, "the maker is"),
        ({"submitter": "B", "accelerators": 16}, "the maker and the number of cards are"),
        ({"system": "another box"}, "the system is"),
    ],
)
def test_where_the_card_is_clear_what_else_is_open_is_said(values: dict, is_open: str) -> None:
    minutes = 60 * 8 / values.get("accelerators", 8)
    table = scored(noisy(60, 0.03, 1), noisy(minutes, 0.03, 2, **values), noisy(600, 0.03, 3, card="h100"))
    (row,) = rounds.newest(table, ABOUT, PRICES.assign(price_as_of="2026-01"), "today").to_dict("records")
    assert row["near"] == f"the card is clear, {is_open} open: 1 of a100"


def test_medians_decide_on_a_card_that_single_results_leave_open() -> None:
    """Of x the medians tell B from A and from C, of which single results may cost as little; of y and v from one."""
    others = {"x": "2 of A; 1 of C", "y": "1 of A", "v": "2 of A; 1 of C", "z": "none"}
    newest = pd.DataFrame({"label": list(others), "card": "B", "near_others": list(others.values())})
    newest = newest.assign(is_card_clear=newest["near_others"] == "none", near="1 of B; " + newest["near_others"])
    rows = [
        ("x", "B", "A", "less", "2"),
        ("x", "C", "B", "more", "2"),
        ("y", "B", "A", "less", "1"),
        ("y", "B", "A", "", "2"),
        ("v", "B", "A", "less", "2"),
    ]
    rows += [("z", "B", "A", "less", "2")]
    pairs = pd.DataFrame(rows, columns=["label", "new", "old", "told_usd", "published"])
    found = figures._by_medians(newest, pairs).set_index("label")
    assert found["is_card_clear"].to_dict() == {"x": True, "y": False, "v": False, "z": True}
    assert found["by_medians"].to_dict() == {"x": True, "y": False, "v": False, "z": False}
    assert found["near"]["x"] == "the card is clear by medians; as single results 1 of B; 2 of A; 1 of C"
    assert found["near"]["y"] == "1 of B; 1 of A"


def test_machine_at_the_lowest_offer_is_not_said_to_be_its_makers() -> None:
    newest, low = ({"label": ["x"], "machine": ["8 × B, Dell"], "card": ["B"], "usd": [usd]} for usd in (2.0, 1.0))
    table = figures._beside(pd.DataFrame(newest), {"lowest": pd.DataFrame(low)}, pd.Series({"B": "Hello"}))
    (row,) = table.to_dict("records")
    assert (row["machine"], row["machine_lowest"]) == ("8 × B, Dell", "8 × B at Hello, measured by Dell")


def test_newest_generation_is_read_first_and_each_benchmark_has_its_machine_at_the_lowest_offer() -> None:
    derived = {"generations": pd.DataFrame({"published": ["2020", "2025"], "new": ["B", "D"], "old": ["A", "C"]})}
    assert figures.readable(derived)["generations"]["cards"].to_list() == ["D over C", "B over A"]
    words = read_yaml(ROOT / "reports" / "words" / "mlperf.yaml", "words")["newest"]["columns"]
    shown = [name for name, column in words.items() if not column.get("more")]
    assert {"usd", "machine", "usd_lowest", "machine_lowest"} <= set(shown)
    first, lowest = shown.index("usd"), shown.index("usd_lowest")
    assert shown.index("machine") < first < shown.index("minutes") < lowest, "minutes are those of the first machine"
    assert shown[lowest + 1] == "machine_lowest"
    seen_on_a_phone = int(re.search(r"MOST_VALUES = (\d+)", (ROOT / "reports/scripts/tables.js").read_text())[1]) + 1
    assert ("usd_lowest" in shown[:seen_on_a_phone]) == ("machine_lowest" in shown[:seen_on_a_phone])


def test_generations_are_compared_by_how_far_makers_lie_apart() -> None:
    rng = np.random.default_rng(1)
    makers = [("a100", 60.0), ("h100", 20.0), ("a100", 60.0), ("h100", 19.0)]
    rows = [
        result(middle * float(np.exp(0.05 * rng.standard_normal())), card=card, submitter=str(i), benchmark=name)
        for (card, middle), name in zip(makers, ("bert", "bert", "ssd", "ssd"), strict=True)
        for i in range(6)
    ]
    found = rounds.generations(scored(*rows), ABOUT, PRICES, "today")
    assert found["told_hours"].to_list() == ["less", "less"]
    assert found["told_usd"].to_list() == ["", ""], "an hour costs three times as much"
    single = scored(result(60), result(20, card="h100"))
    assert rounds.generations(single, ABOUT, PRICES, "today")["told_hours"].to_list() == [""], "one result a side"


def test_software_is_one_submitter_on_one_card() -> None:
    table = scored(
        result(60, round="v1.0", submitter="maker"),
        result(50),
        result(20, submitter="B"),
        result(40, round="v3.0"),
        result(9, round="v3.0", card="h100"),
    )
    found = rounds.software(table, "Maker")
    assert found["speedup"].to_list() == pytest.approx([1.0, 1.2, 1.5])


def test_scale_is_the_widest_line_of_one_submitter() -> None:
    table = scored(
        result(60),
        result(10, accelerators=64),
        result(2, accelerators=512),
        result(61, submitter="B"),
        result(1, accelerators=4096, submitter="B"),
    )
    found = rounds.scale(table)
    assert found["submitter"].unique() == ["Maker"], "two sizes are no line"
    assert found["faster"].to_list() == pytest.approx([1, 6, 30])
    assert found["dearer"].to_list() == pytest.approx([1, 8 / 6, 64 / 30])
    derived = {"scale": found, "cheapest": rounds.cheapest(table, ABOUT, PRICES, "today")}
    derived["generations"] = rounds.generations(scored(result(60), result(30, card="h100")), ABOUT, PRICES, "today")
    figures = rounds.figures(derived)
    assert (figures["cheaper_at_scale"], figures["halved_usd"]) == (0.0, 0.0)
    assert figures["median_hours_h100/a100"] == 0.5


def test_rounds_without_a_price_or_a_generation_have_empty_tables() -> None:
    table = scored(result(60, card="l4"))
    derived = {
        "generations": rounds.generations(table, ABOUT, PRICES, "today"),
        "cheapest": rounds.cheapest(table, ABOUT, PRICES, "today"),
        "scale": rounds.scale(table),
    }
    assert all(frame.empty for frame in derived.values())
    assert set(rounds.figures(derived).values()) == {0.0}


def test_submitters_of_one_card_lie_apart() -> None:
    table = scored(*(result(minutes, submitter=str(minutes)) for minutes in (10, 11, 12, 25)))
    (row,) = rounds.spread(table).to_dict("records")
    assert (row["submitters"], row["median"], row["apart"]) == (4, 11.5, 2.5)
    assert rounds.spread(table.head(3)).empty


def test_providers_are_set_beside_one_another() -> None:
    table = card_prices.providers(PRICES, ABOUT).set_index("card")
    assert table.loc["h100"].to_dict() == {"usd_aws": 3.0, "usd_other": 1.5, "apart": 2.0}
    assert pd.isna(table.loc["a100", "apart"]), "one provider is no spread"


def test_owned_machine_pays_from_so_many_trainings() -> None:
    own = {"acquisition_usd": 4800, "life_months": 48, "power_watts": 0, "usd_per_kwh": 0.1}
    found = card_prices.owned(scored(result(30)), ABOUT, PRICES, "today", {"a100": {"own": own}, "h100": {}})
    assert found[["usd_rented", "break_even_hours", "trainings"]].to_numpy().tolist() == [[4.0, 12.5, 25.0]]


def test_nothing_is_left_out_without_a_word() -> None:
    table = scored(
        result(60),
        result(60.5, card="", submitter="B"),
        result(61, accelerators=None, submitter="C"),
        result(62, card="mi300x", submitter="D"),
        result(63, seconds="60", submitter="E"),
        result(64, card="cpu", accelerators=None, submitter="F"),
        result(65, card="pcie", submitter="G"),
    )
    labels = {"mi300x": "MI300X", "cpu": "CPUs alone", "pcie": "H100 PCIe"}
    found = rounds.omitted(table, ["a100", "h100"], labels, {"pcie": ["lambda"]})
    assert found[["reason", "which"]].to_numpy().tolist() == [
        ["no score", "v2.0 E box"],
        ["not attributed", "v2.0 B box"],
        ["not attributed", "v2.0 C box"],
        ["no price", "MI300X"],
        ["no price", "CPUs alone"],
        ["no price", "H100 PCIe"],
    ]
    said = found.set_index("which")["what"]
    assert said["H100 PCIe"] == "rented by lambda alone, whose prices are not mixed with the page's"
    assert said["MI300X"] == "rented by none of the price books"
    (row,) = rounds.counts(table, ["a100", "h100"]).to_dict("records")
    assert (row["results"], row["unscored"], row["compared"], row["priced"]) == (7, 1, 6, 1)


def test_first_round_is_compared_with_no_other() -> None:
    """v0.6 changed the clock of every benchmark: MLCommons' terms of use and its compatibility table."""
    about = results.series()
    spans = [name for name, one in about["series"].items() if one["first"] == "v0.5" != one["last"]]
    assert spans == []


def test_score_names_its_system_and_says_that_nobody_verified_it() -> None:
    """As MLCommons' guidelines ask: the system under test, and the word beside each score that is not official."""
    prices = PRICES.assign(price_as_of="2026-01")
    assert rounds.cheapest(scored(result(60)), ABOUT, prices, "today")["system"].to_list() == ["box"]
    assert set(rounds.trainings(scored(result(60)), ABOUT, prices, "today")["scale"]) == {"unverified"}
    words = read_yaml(ROOT / "reports" / "words" / "mlperf.yaml", "words")
    scores = [name for name in words["cheapest"]["columns"] if name.startswith(("minutes", "usd", "fastest"))]
    assert all("unverified" in words["cheapest"]["columns"][name]["title"] for name in scores)
