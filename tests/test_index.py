import json
import sys
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from scripts import index as verb
from scripts.storage.errors import InputError
from tests.reading import EVIL, Read
from tests.test_report_page import browser, opened  # noqa: F401, a fixture


def claim(says: str, held: int, cases: int, word: str, note: str = "") -> dict:
    count = f"{held} of {cases}" if cases > 1 else ""
    return {
        "says": says,
        "held": held,
        "cases": cases,
        "details": [],
        "note": note,
        "word": word,
        "count": count,
        "sentence": count or word,
    }


CLAIMS = [
    claim("It is faster.", 6, 6, "holds"),
    claim(f"It is cheaper {EVIL}.", 2, 6, "partly", f"note {EVIL}"),
    claim("It is blue.", 0, 1, "fails"),
    claim("It is loud.", 0, 0, "no data"),
]

STUDY = {
    "name": "old",
    "title": f"Title {EVIL}",
    "summary": f"Summary {EVIL}",
    "published": {"title": "An article", "by": f"Somebody {EVIL}", "date": "2017-07", "url": "https://example.org/a"},
    "runs": 64,
    "findings": 3,
    "claims": CLAIMS,
}


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Return a function that writes the index of studies and returns the page."""

    def write(*studies: dict) -> str:
        paths = [tmp_path / study["name"] / "claims.json" for study in studies]
        for path, study in zip(paths, studies, strict=True):
            path.parent.mkdir()
            path.write_text(json.dumps(study))
        monkeypatch.setattr(sys, "argv", ["index", str(tmp_path / "index.html"), *map(str, paths)])
        assert verb.main() == 0
        return (tmp_path / "index.html").read_text()

    return write


def test_study_has_its_link_and_its_verdicts_counted(index) -> None:
    read = Read(index(STUDY))
    assert "old.html" in read.links
    assert "2017-07 · 64 runs · 3 audit findings" in read.text
    assert "Claims: 1 holds , 1 partly , 1 fails , 1 no data" in read.text


def test_studies_stand_in_the_order_that_is_given(index) -> None:
    page = index(STUDY | {"name": "second"}, STUDY | {"name": "first"})
    assert page.index("second.html") < page.index("first.html")


def test_claims_that_do_not_hold_are_listed_and_lead_to_their_study(index) -> None:
    page = index(STUDY)
    listed = Read(page[page.index("<ul") :])
    assert "It is faster." not in listed.text
    assert "2 of 6" in listed.text
    assert "fails It is blue." in listed.text
    assert "no data It is loud." in listed.text
    assert '<li class="no-data">' in page
    assert listed.links == ["old.html#claims"] * 3


def test_study_without_runs_or_findings_says_nothing_of_them(index) -> None:
    text = Read(index(STUDY | {"runs": 0, "findings": 0, "claims": CLAIMS[:1]})).text
    assert "runs" not in text.split("2017-07")[1].split("claims")[0]
    assert "audit findings" not in text
    assert "Claims: 1 holds" in text
    assert "partly" not in text.split("Claims: 1 holds")[1].split("Made by")[0]


def test_texts_are_escaped(index) -> None:
    read = Read(index(STUDY))
    assert read.tags.count("script") == 1, "our own"
    for origin in ("Title", "Summary", "Somebody", "It is cheaper", "note"):
        assert f"{origin} {EVIL}" in read.text, origin


def test_page_fetches_nothing(index) -> None:
    assert set(Read(index(STUDY)).links) == {"data:,", "old.html", "old.html#claims", "ledger.html", "quote.html"}


def test_study_that_does_not_say_whose_it_is_is_refused(index) -> None:
    with pytest.raises(InputError, match=r"claims\.json: published: study old does not say whose figures it shows"):
        index(STUDY | {"published": None})


def training(role: str) -> dict:
    """What a study says of the lowest cost, or of the shortest time, of a billion tokens."""
    return {
        **{"role": role, "workload": "Llama_3_8B_pre-training_at_8192", "of": "a billion tokens", "date": "2024-04"},
        **{"machine": "NeMo-25.11 · 8 × H100 · fp8", "provider": "hyperstack", "seconds": 8649.9, "usd": 61.51},
        **{"price_as_of": "2026-08-26", "price": "the lowest offer of a cloud", "option": "lowest", "scale": ""},
        "offers": {
            "lowest": {"usd": 61.51, "high": 61.51, "provider": "hyperstack"},
            "median": {"usd": 97.5, "high": 236.2, "provider": "8 providers"},
        },
        **{"runs": 1, "cells": 1, "near": [], "not_told": 0, "settled_by": "", "why": "", "usd_of_runs": [61.51]},
    }


def test_row_of_tokens_leads_to_the_row_of_its_study_and_has_one_unit_of_time(index) -> None:
    given = [training(role) for role in ("cheapest", "fastest", "best value")]
    read = Read(index(STUDY | {"trainings": [given[0], given[1] | {"seconds": 3192.0}, given[2]]}))
    assert "old.html#row&workload=Llama%203%208B%20pre-training%20at%208192" in read.links
    assert "144 min" in read.text
    assert "53.2 min" in read.text


@pytest.mark.slow
def test_first_dollars_are_on_the_first_screen_of_a_phone(index, browser: Browser, tmp_path: Path) -> None:  # noqa: F811
    text = index(STUDY | {"trainings": [training(role) for role in ("cheapest", "fastest", "best value")]})
    assert "clouds ask from 61.5 (Hyperstack) to 236, median 97.5 of 8 providers" in Read(text).text
    page = opened(browser, tmp_path / "index.html", 390, "light")
    dollars = page.locator("td.n", has_text="61.5").first.bounding_box()
    page.close()
    assert dollars is not None
    assert dollars["y"] + dollars["height"] < 844
