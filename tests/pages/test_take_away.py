import csv
import io
from urllib.parse import unquote

from scripts.pages.take_away import context
from tests.made import STUDY, inputs, run, runs


def test_file_holds_every_run_with_its_costs_and_no_formula() -> None:
    given = inputs(STUDY, runs(run(), run(repeat=2, framework="=1+1")))
    url = context(given)["runs_csv"]
    text = unquote(url.removeprefix("data:text/csv;charset=utf-8,"))
    rows = list(csv.DictReader(io.StringIO(text)))
    assert [row["framework"] for row in rows] == ["tensorflow", "'=1+1"]
    assert [float(row["train_seconds"]) for row in rows] == [100.0, 100.0]
    assert [float(row["cost_usd then"]) for row in rows] == [0.001, 0.001]


def test_file_of_rates_says_what_a_dollar_buys() -> None:
    """1,000 samples a second at 0.036 USD an hour are 100 million for a dollar."""
    nothing = dict.fromkeys(("train_seconds", "total_seconds", "samples_fraction", "train_samples"))
    url = context(inputs(STUDY, runs(run(**nothing, samples_per_second=1000.0))))["runs_csv"]
    (row,) = csv.DictReader(io.StringIO(unquote(url.removeprefix("data:text/csv;charset=utf-8,"))))
    assert float(row["samples_per_usd then"]) == 1e8
    assert "cost_usd then" not in row


def test_page_without_runs_has_no_file() -> None:
    assert context(inputs(STUDY, runs()))["runs_csv"] == ""


def test_citation_tells_who_what_when_and_the_days_of_the_prices() -> None:
    about = {"title": "Old article", "by": "Somebody", "date": "2017-07", "url": "https://example.org/a"}
    assert context(inputs(STUDY | {"published": about}, runs(run())))["citation"] == (
        "Somebody, “Old article”, 2017-07, https://example.org/a, priced by Epochs per Dollar at prices of 2026-01-02."
    )
    assert context(inputs(STUDY, runs(run())))["citation"] == (
        "Epochs per Dollar, “Old logs”, 2026-01-02, at prices of 2026-01-02."
    )
