"""Each head of a column says what it means."""

import re

import pytest

from scripts.pages import heads, report
from tests.made import STUDY, inputs, log, run, runs
from tests.reading import EVIL
from tests.test_report_page import PUBLISHED


def silent(page: str) -> list[str]:
    """Return the heads of a page that do not say what they mean."""
    every = re.findall(r"<th\b[^>]*>.*?</th>", "".join(re.findall(r"(?s)<thead.*?</thead>", page)), re.DOTALL)
    return [head for head in every if not re.match(r'<th\b[^>]*\stitle="[^"]+"', head)]


@pytest.mark.parametrize("path", PUBLISHED, ids=lambda path: path.stem)
def test_every_head_of_a_published_page_says_what_it_means(path) -> None:
    assert silent(path.read_text()) == []


@pytest.mark.slow
def test_every_head_of_a_study_of_ones_own_says_what_it_means() -> None:
    two = [run(repeat=i, hardware=name) for i in range(2) for name in ("cpu1", "cpu4")]
    for rows in (two, [log(), log(hardware="cpu4")]):
        page = report.page(inputs(STUDY, runs(*rows)))
        assert page.count("<thead") > 1
        assert silent(page) == []


@pytest.mark.parametrize(
    ("thead", "title"),
    [
        ("<thead><tr><th>runs</th></tr></thead>", "How many runs are behind it"),
        ('<thead><tr><th class="n">cost, USD <br>in a  year</th></tr></thead>', "at this price"),
        ('<thead data-means="of &lt;this&gt;"><tr><th>never heard of</th></tr></thead>', "of &lt;this&gt;"),
        ('<thead data-means="of all"><tr><th title="its own">runs</th></tr></thead>', "its own"),
        (f'<thead data-means="of all"><tr><th>{EVIL.replace("<", "&lt;")}</th></tr></thead>', "of all"),
    ],
)
def test_meaning_is_that_of_the_head_of_its_beginning_or_of_its_table(thead: str, title: str) -> None:
    (found,) = re.findall(r'title="([^"]*)"', heads.explained(thead))
    assert title in found


def test_row_heads_and_unknown_heads_are_left_as_they_are() -> None:
    table = "<thead><tr><th>never heard of</th></tr></thead><tbody><tr><th>runs</th></tr></tbody>"
    assert heads.explained(table) == table
