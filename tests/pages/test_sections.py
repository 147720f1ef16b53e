"""The page is a list of small templates, each of which shows itself where its data are."""

from pathlib import Path

import pytest

from scripts.pages import render, report
from tests.made import STUDY, inputs, log, runs
from tests.reading import Read

FILES = sorted((render.TEMPLATES / "sections").glob("*.html.j2"))

#: The longest that a section may be, in lines.
MOST_LINES = 40


def test_every_template_of_a_section_is_in_the_list_once() -> None:
    names = [path.name.removesuffix(".html.j2") for path in FILES]
    assert sorted(report.SECTIONS) == names, "add it to SECTIONS in scripts/pages/report.py, at its place in the page"


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_section_is_short(path: Path) -> None:
    assert len(path.read_text().splitlines()) <= MOST_LINES, "make two sections of it, or a macro beside layout.html.j2"


def test_study_without_runs_has_no_section_about_runs() -> None:
    """A study of figures, as of a machine on a schedule: nothing was timed."""
    page = report.page(inputs(STUDY, runs()))
    assert set(Read(page).rows) == {"now", "prices"}


def test_logs_have_no_word_of_how_this_project_measures() -> None:
    text = Read(report.page(inputs(STUDY, runs(log())))).text
    for ours in ("How it was measured", "What ran where", "fresh process", "first step", "warm-up"):
        assert ours not in text, ours


def test_contents_list_the_sections_that_are_shown_in_their_order() -> None:
    page = report.page(inputs(STUDY, runs(log())))
    links = [link[1:] for link in Read(page).links if link.startswith("#")]
    shown = [part.partition('"')[0] for part in page.split('<section id="')[1:]]
    assert links == shown
    assert links[:2] == ["short", "cost"]


def test_rooms_must_not_use_one_name_for_two_things(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(report, "_ROOMS", (report.money, report.money))
    with pytest.raises(ValueError, match="is given by another room too"):
        report.context(inputs(STUDY, runs()))
