from pathlib import Path

import pandas as pd
import pytest

from scripts.pages import article, report
from scripts.storage import schemas
from scripts.storage.errors import InputError
from tests.conftest import ROOT
from tests.made import STUDY, inputs, runs
from tests.reading import EVIL, Read

WORDS = {path.stem: schemas.read_yaml(path, "words") for path in sorted((ROOT / "reports" / "words").glob("*.yaml"))}

#: Every table that somebody wrote words for: name -> its words.
TABLES = {name: words for study in WORDS.values() for name, words in study.items()}


def column(name: str, key: str, value: object) -> str:
    """Return what a derived table shows of one value; all other columns hold a 1."""
    columns = TABLES[name]["columns"]
    frame = pd.DataFrame([dict.fromkeys(columns, 1) | {key: value}])
    table = article.table(name, frame, TABLES[name], {"k80": "Tesla <K80>"})
    return dict(zip(columns, table["rows"][0], strict=True))[key]


@pytest.mark.parametrize(
    ("name", "key", "value", "shown"),
    [
        ("printed", "hardware", "k80", "Tesla <K80>"),
        ("printed", "agrees", True, "yes"),
        ("printed", "agrees", False, "no"),
        ("printed", "derived_usd", 3.25812, "3.258"),
        ("printed", "train_seconds", 13032.0, "13,032"),
        ("scaling", "workload", "vgg16", "VGG16"),
        ("gains", "break_even_days", 30.6, "never"),
        ("gains", "break_even_days", float("inf"), "never"),
        ("gains", "break_even_days", 5.04, "5.04"),
        ("monthly", "total_usd", 0.7581, "0.76"),
        ("monthly", "total_usd", 3.0, "3.00"),
        ("to_train", "samples", 128e6, "128,000,000"),
    ],
)
def test_value_of_a_derived_table_is_shown_with_its_digits(name: str, key: str, value: object, shown: str) -> None:
    assert column(name, key, value) == shown


@pytest.mark.parametrize("name", TABLES)
def test_derived_table_has_a_cell_for_each_of_its_columns(name: str) -> None:
    frame = pd.DataFrame([dict.fromkeys(TABLES[name]["columns"], 1)] * 2)
    table = article.table(name, frame, TABLES[name], {})
    assert (table["id"], len(table["rows"])) == (name.replace("_", "-"), 2)
    assert [len(row) for row in table["rows"]] == [len(table["columns"])] * 2
    assert table["about"].endswith(".")


def test_columns_that_no_words_name_stand_under_their_own_names() -> None:
    wide = pd.DataFrame(
        [("one", "b", 2, "vgg16", "A", 0.9, 0.95), ("one", "a", 4, "vgg16", "B", 0.39, 0.52)],
        columns=["single", "multi", "gpus", "workload", "setup", "batch 16", "batch 32"],
    )
    table = article.table("scaling", wide, TABLES["scaling"], {"a": "four cards"})
    assert [about["title"] for about in table["columns"]][-2:] == ["batch 16", "batch 32"]
    assert table["rows"] == [
        ["one", "b", "2", "VGG16", "A", "0.90", "0.95"],
        ["one", "four cards", "4", "VGG16", "B", "0.39", "0.52"],
    ]


DERIVED = {"printed": pd.DataFrame({"hardware": ["cpu1"], "derived_usd": [3.25812], "agrees": [True]})}


def test_table_without_words_stands_under_the_names_of_its_columns() -> None:
    (table,) = article.context(inputs(STUDY, runs(), derived=DERIVED))["derived"]
    assert (table["title"], [about["title"] for about in table["columns"]]) == (
        "Printed",
        ["hardware", "derived usd", "agrees"],
    )
    assert table["rows"] == [["1 vCPU", "3.258", "yes"]]


def test_page_has_the_tables_that_words_name_in_their_order() -> None:
    words = {name: {"title": name, "about": "x", "columns": {"a": {"title": "a"}}} for name in ("two", "one")}
    derived = {name: pd.DataFrame({"a": ["x"]}) for name in ("one", "two", "three")}
    found = article.context(inputs(STUDY, runs(), derived=derived, words=words))["derived"]
    assert [table["id"] for table in found] == ["two", "one"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("printed: {title: x, about: y, columns: {}}", "printed.columns: {} should be non-empty"),
        ("printed: {title: x, about: y, columns: {a: {digits: 3}}}", "'title' is a required property"),
        ("printed: {title: x, about: y, columns: {a: {title: x, digit: 3}}}", "'digit' is unknown: it is one of"),
        ("printed: {title: x, columns: {a: {title: x}}}", "'about' is a required property"),
    ],
)
def test_words_that_cannot_be_used_are_one_line(tmp_path: Path, words: str, message: str) -> None:
    (tmp_path / "words.yaml").write_text(words)
    with pytest.raises(InputError) as error:
        schemas.read_yaml(tmp_path / "words.yaml", "words")
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_words_are_of_tables_that_a_study_derives() -> None:
    studies = {path.stem for path in (ROOT / "config" / "studies").glob("*.yaml")}
    assert set(WORDS) <= studies


def test_words_are_texts_and_not_markup() -> None:
    words = {"t": {"title": f"title {EVIL}", "about": f"about {EVIL}", "columns": {"a": {"title": f"column {EVIL}"}}}}
    given = inputs(STUDY, runs(), derived={"t": pd.DataFrame({"a": [f"value {EVIL}"]})}, words=words)
    page = report.page(given)
    read = Read(page)
    assert EVIL not in page
    for origin in ("title", "about", "column", "value"):
        assert f"{origin} {EVIL}" in read.text, origin


def test_value_that_is_missing_is_a_dash() -> None:
    frame = pd.DataFrame({"hardware": ["cpu1"], "resnet50": [float("nan")]})
    words = {"title": "T", "about": "A", "columns": {"hardware": {"title": "machine"}}, "rest": {"decimals": 2}}
    assert article.table("t", frame, words, {})["rows"] == [["cpu1", "—"]]


def test_index_leads_to_the_first_row_of_a_name_at_the_top_else_to_the_last_of_a_linked_table() -> None:
    columns = {"label": {"title": "name"}}
    words = {
        name: {"title": name, "about": "", "columns": columns} | more
        for name, more in {"plain": {}, "linked": {"linked": True}, "lead": {"lead": True}}.items()
    }
    names = {"plain": "abc", "linked": "cabcac", "lead": "aab"}
    derived = {name: pd.DataFrame({"label": list(each)}) for name, each in names.items()}
    lead, derived = (
        article.context(inputs(STUDY, runs(), derived=derived, words=words))[key] for key in ("lead", "derived")
    )
    assert [table["names"] for table in lead] == [["a", "", "b"]]
    assert [table["names"] for table in derived] == [["", "", ""], ["", "", "", "", "", "c"]]
