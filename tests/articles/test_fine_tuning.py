"""Fine-tuning on an A10G: literals are printed minutes and dollars, AWS's list, and plain arithmetic."""

import csv
import html
import re
from types import SimpleNamespace

import pandas as pd
import pytest

from scripts.analysis import figures
from scripts.articles.fine_tuning import given
from scripts.articles.fine_tuning.figures import by_machine, does_not_fit
from scripts.costs import pricing
from scripts.storage import tables
from scripts.storage.errors import InputError
from scripts.studies import articles, definition
from tests.reading import LEAD

PUBLISHED = definition.ROOT / "reports" / "published"
SOURCE = PUBLISHED / "sources" / "litgpt-fine-tuning.csv"


@pytest.fixture(scope="module")
def shown() -> SimpleNamespace:
    """The published study: its tables and the figures of its claims."""
    study = definition.read("fine-tuning-a10g", {})[1]
    rates = tables.conform(pricing.price_table(study, study["machines"], study["machines"]), "prices")
    runs = pd.DataFrame(columns=list(tables.columns("runs")))
    asked = articles.given(study)
    derived = figures.tables(study, runs, pd.DataFrame(), rates, asked)
    return SimpleNamespace(study=study, derived=derived, figures=figures.figures(study, derived, rates, runs, asked))


#: Line of the README, minutes and dollars as printed there, USD at AWS's list: minutes / 60 x 1.006 (one A10G,
#: g5.xlarge) or 5.672 (four, g5.12xlarge).
BY_HAND = [
    (12, "24.84", "0.7", 0.416484),
    (13, "24.94", "2.0", 2.357661),
    (14, "50.85", "1.5", 0.852585),
    (16, "14.06", "1.1", 1.329139),
    (17, "9.41", "0.3", 0.157774),
    (23, "43.58", "1.3", 0.730691),
    (30, "50.01", "4.0", 0.838501),
    (33, "32.82", "1.0", 0.550282),
    (34, "32.83", "2.6", 3.103529),
    (43, "13.36", "1.1", 0.224003),
    (52, "14.89", "1.4", 0.249656),
    (71, "70.13", "5.6", 6.629623),
    (76, "2.58", "0.1", 0.043258),
]


@pytest.mark.parametrize(("line", "minutes", "usd", "usd_list"), BY_HAND)
def test_dollars_at_a_list_by_hand(line: int, minutes: str, usd: str, usd_list: float, shown: SimpleNamespace) -> None:
    rows = shown.derived["rows"]
    (row,) = rows[rows["source"].str.endswith(f"#L{line}")].to_dict("records")
    assert (row["minutes"], row["usd"]) == (float(minutes), float(usd))
    assert row["usd_list"] == pytest.approx(usd_list, abs=5e-7)


def test_printed_figures_imply_a_range_of_prices(shown: SimpleNamespace) -> None:
    rows = shown.derived["rows"]
    (row,) = rows[rows["source"].str.endswith("#L30")].to_dict("records")
    # 3.95 to 4.05 USD for 50.005 to 50.015 minutes
    assert row["per_hour_low"] == pytest.approx(60 * 3.95 / 50.015)
    assert row["per_hour_high"] == pytest.approx(60 * 4.05 / 50.005)
    shared = shown.derived["implied"].set_index("machine")
    assert list(shared["rows"]) == [34, 12]
    assert list(shared["agree"]) == [27, 12]
    # llama-3.1-8b by QLoRA, 0.65 USD or more for 21.815 minutes; mistral-7b by QLoRA, 1.35 USD or less for 44.745
    assert shared.loc["1xA10G", "low"] == pytest.approx(60 * 0.65 / 21.815)
    assert shared.loc["1xA10G", "high"] == pytest.approx(60 * 1.35 / 44.745)
    assert shared.loc["4xA10G", "low"] == pytest.approx(4.8, abs=5e-3)


def test_rows_whose_dollars_do_not_fit(shown: SimpleNamespace) -> None:
    off = shown.derived["does_not_fit"].set_index("config")
    assert list(off["instead"]) == ["4xA10G", "4xA10G", "", "", "4xA10G", "", ""]
    assert list(off.index[:2]) == ["gemma2-9b/qlora.yaml", "llama-3.1-8b/lora.yaml"]
    newest = off[off.index.str.startswith("llama-3.2")]
    assert len(newest) == 5
    # what all five share, as the page says: 1.35 USD for 14.895 minutes, 0.45 USD for 4.705
    assert newest["per_hour_low"].max() == pytest.approx(60 * 1.35 / 14.895)
    assert newest["per_hour_high"].min() == pytest.approx(60 * 0.45 / 4.705)


def test_four_cards_beside_one(shown: SimpleNamespace) -> None:
    pairs = shown.derived["several_cards"].set_index("config")
    assert len(pairs) == 9
    assert pairs.loc["falcon-7b/lora.yaml", "times"] == pytest.approx(24.94 / 24.84)
    assert pairs["memory_alike"].all()
    assert pairs["loss_apart"].abs().max() == pytest.approx(0.002)
    word, words = figures.answer(shown.study, shown.derived)
    assert word == "No, as printed"
    assert len(f"{word}. {words}") <= LEAD
    said = figures.minute(shown.study, shown.derived)
    assert "falcon-7b/lora.yaml: 0.416 USD, on 4xA10G 2.36." in said["which"]  # 24.84 and 24.94 minutes
    assert "With 1xA10G at 1.01 USD an hour, 4xA10G costs as much in the median config at 1.01" in said["price"]
    assert "(now 5.67)" in said["price"]
    assert "7 of the 46 rows with dollars" in figures.further(shown.study, shown.derived)
    assert shown.figures["cents_llama-3.1-8b/lora.yaml_1xA10G"] == pytest.approx(110 / 13.36)


def test_four_cards_that_take_a_quarter_would_pay(shown: SimpleNamespace) -> None:
    pairs = shown.derived["several_cards"].assign(times=0.17)
    assert figures.answer(shown.study, shown.derived | {"several_cards": pairs})[0] == "It depends, as printed"


def test_every_printed_row_is_on_the_page(shown: SimpleNamespace) -> None:
    with SOURCE.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len({row["source"] for row in rows}) == len(rows) == 53
    assert sum(row["outcome"] == given.OUT_OF_MEMORY for row in rows) == len(shown.derived["no_memory"]) == 7
    assert list(shown.derived["rows"]["source"]) == [row["source"] for row in rows]
    page = html.unescape((PUBLISHED / "fine-tuning-a10g.html").read_text(encoding="utf-8"))
    cells = set(re.findall(r'<td class="wrap[^"]*">([^<]*)</td>', page))
    assert [row["source"] for row in rows if row["source"] not in cells] == []


def test_a_price_is_that_which_most_rows_share() -> None:
    rows = pd.DataFrame(
        [("one", 1.0, 2.0), ("one", 1.5, 3.0), ("one", 1.8, 1.9), ("one", 5.0, 6.0), ("four", 5.5, 7.0)],
        columns=["machine", "per_hour_low", "per_hour_high"],
    )
    prices = pd.DataFrame({"price_option": "p", "hardware": ["a", "b"], "usd_per_hour": [1.0, 4.0]})
    study = {"price": "p", "fine_tuning": {"machines": {"one": "a", "four": "b"}}}
    shared = by_machine(rows, study, prices)
    assert shared[["agree", "low", "high"]].to_numpy().tolist() == [[3, 1.8, 1.9], [1, 5.5, 7.0]]
    assert does_not_fit(rows, shared)[["per_hour_low", "instead"]].to_numpy().tolist() == [[5.0, "four"]]


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("1xA10G,24.84", "2xA10G,24.84", r"mine.csv:2: machine: '2xA10G' is not one of 1xA10G, 4xA10G"),
        (",24.84,", ",long,", r"mine.csv:2: minutes: 'long' must be a number above 0"),
        ("out of memory", "broke", r"mine.csv:9: outcome: 'broke' must be empty or 'out of memory'"),
    ],
)
def test_a_row_that_cannot_be_is_one_line(tmp_path, old: str, new: str, says: str) -> None:
    (tmp_path / "mine.csv").write_text(SOURCE.read_text(encoding="utf-8").replace(old, new, 1))
    study = definition.read("fine-tuning-a10g", {})[1]
    study["fine_tuning"] = study["fine_tuning"] | {"source": str(tmp_path / "mine.csv")}
    with pytest.raises(InputError, match=says):
        given.read(study)
