"""What the titles of charts say, and how much is said below them."""

import html
import re
from dataclasses import replace
from math import inf
from pathlib import Path

import pytest

from scripts import charts
from scripts.analysis.noise import Noise
from scripts.analysis.verdicts import WITHHELD, Judge
from scripts.charts import _findings
from scripts.charts._view import CAPTION_WORDS
from tests.charts.test_charts import AXES, curve, drawn, view
from tests.made import run

PAGES = sorted((Path(__file__).resolve().parents[2] / "reports" / "published").glob("*.html"))

#: Two cells are clearly different from 5 % on, as runs of one cell are never 1 % apart.
SURE = Judge(Noise(0.0001, inf, 100, 10, "a test"))


@pytest.mark.parametrize(
    ("values", "finding"),
    [
        ([[10.0], [20.0], [30.0]], "A costs least"),
        ([[30.0], [20.0], [10.0]], "C costs least"),
        ([[10.0], [10.1], [30.0]], "Too close to call which costs least: A or B"),
        ([[10.1], [10.0], [10.2], [30.0]], "Too close to call which costs least: B or A or C"),
        ([[10.0], [10.4], [10.5], [10.4]], "Too few runs to say which of 4 costs least"),
        ([[10.0], [10.1], [10.2], [10.1]], "Too close to call which of 4 costs least"),
        ([[10.0], [10.1], [10.5], [10.1]], "Too close to call or too few runs to say which of 4 costs least"),
        ([[10.0] * 6, [10.1] * 6, [10.2] * 6, [10.1] * 6, [30.0]], "Too close to call which of 4 (of 5) costs least"),
        ([[10.0]], ""),
    ],
)
def test_winner_is_named_with_those_that_are_not_clearly_different(values: list[list[float]], finding: str) -> None:
    assert _findings.winner("ABCDE"[: len(values)], values, SURE, "costs least") == finding


def test_winner_of_disturbed_runs_is_none_however_many_they_are() -> None:
    withheld = replace(SURE, level=WITHHELD)
    words = "All runs disturbed: nobody can say which of 2 costs least"
    assert _findings.winner("AB", [[10.0] * 9, [30.0] * 9], withheld, "costs least") == words


def test_winner_of_noisy_cells_is_none() -> None:
    noisy = Judge(Noise(1.0, 20.0, 100, 10, "a test"))
    words = "Too few runs to say which of 2 costs least"
    assert _findings.winner("AB", [[10.0], [20.0]], noisy, "costs least") == words


def test_span_of_one_number_is_that_number() -> None:
    assert _findings.span(0.5, 0.5) == "0.50×"
    assert _findings.span(1.0, 12345.0, 0, " USD") == "1 to 12,345 USD"


@pytest.mark.parametrize("name", charts.names())
def test_every_chart_finds_something_in_a_few_words(name: str) -> None:
    chart = drawn(name, view(*AXES, epochs=curve("a", "jax", 0.4, 0.6, 0.7)))
    assert len(chart.finding.split()) > 3 or name == "per_usd", "one card alone buys neither more nor less"
    assert len(chart.caption.split()) <= CAPTION_WORDS
    assert all(note.endswith(".") for note in chart.notes)


def test_what_buys_most_is_found_among_cards() -> None:
    rate = {"train_seconds": None}
    rows = [run(samples_per_second=10.0, **rate), run(samples_per_second=60.0, hardware="cpu4", **rate)]
    seen = view(*rows, cards={"cpu1": "V100", "cpu4": "A100"}, prices={"on-demand": "rented"})
    assert drawn("per_usd", seen).finding == "A100 buys most per dollar"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_captions_are_short_and_no_sentence_stands_twice(page: Path) -> None:
    figures = re.findall(r"(?s)<figure id=.*?</figure>", page.read_text(encoding="utf-8"))
    captions = [re.search(r"(?s)<figcaption>(.*?)(?:<details>|</figcaption>)", figure) for figure in figures]
    words = [html.unescape(caption[1]).split() for caption in captions if caption]
    assert [" ".join(each) for each in words if len(each) > CAPTION_WORDS] == []
    assert all(re.search(r"<h3>.{12,}</h3>", figure) for figure in figures if "<figcaption>" in figure)
    notes = [
        note[1] for figure in figures if (note := re.search(r"(?s)<summary>Notes</summary>(.*?)</details>", figure))
    ]
    sentences = [sentence for note in notes for sentence in set(re.split(r"(?<=\.) ", note)) if len(sentence) > 60]
    repeated = {sentence for sentence in sentences if sentences.count(sentence) > max(2, len(figures) / 3)}
    assert repeated == set()
