"""The project's own ledger, and its page."""

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from scripts import ledger as verb
from scripts.charts import _ledger
from scripts.records import ledger
from scripts.storage.errors import InputError
from tests.conftest import ROOT
from tests.reading import EVIL, Read

ROW = ledger.Training("2026-11-25", "0257777", "loop", "A loop", "log lines", "2 cores, x86_64", 10.0, 50.0, 60.0)


def page(folder: Path, *rows: ledger.Training) -> str:
    ledger.write(folder / "ledger.csv", rows)
    sys.argv = ["ledger", str(folder / "ledger.csv"), str(folder / "page.html")]
    assert verb.main() == 0
    return (folder / "page.html").read_text()


def test_what_is_written_is_read(tmp_path: Path) -> None:
    rows = [ROW, replace(ROW, program="other", label="one, two", promised_seconds=None, doubts="disturbed")]
    ledger.write(tmp_path / "ledger.csv", rows)
    assert ledger.read(tmp_path / "ledger.csv") == rows


def test_a_training_that_is_measured_again_replaces_its_row_of_the_same_commit() -> None:
    again, later = replace(ROW, taken_seconds=55.0), replace(ROW, commit="1111111", date="2026-11-26")
    assert ledger.with_new([ROW], [again]) == [again]
    assert ledger.with_new([ROW], [later]) == [ROW, later]
    assert ledger.newest([ROW, later]) == [later]


def test_promises_are_judged_both_ways() -> None:
    """50 s that took 60 are off by 1.2, and so are 60 that took 50; what promised nothing does not count."""
    rows = [
        ROW,
        replace(ROW, promised_seconds=60.0, taken_seconds=50.0),
        replace(ROW, promised_seconds=100.0, taken_seconds=102.0),
        replace(
            ROW, promised_seconds=50.0, taken_seconds=100.0, doubts="disturbed: other programs kept 0.5 cores busy"
        ),
        replace(ROW, promised_seconds=50.0, taken_seconds=75.0, doubts="not steady yet: measure longer"),
        replace(ROW, promised_seconds=None),
    ]
    assert ledger.summary(rows) == (
        "off by a factor of 1.20 in the median, 1.20 at most, where nothing was in doubt (1 of 3 within 1.15); "
        "off by a factor of 2.00 in the median, 2.00 at most, where other programs disturbed it (0 of 1 within 1.15); "
        "off by a factor of 1.50 in the median, 1.50 at most, where it was in doubt otherwise (0 of 1 within 1.15)"
    )
    assert ledger.summary(rows[3:4]).endswith("(0 of 1 within 1.15); none was measured on a quiet machine")
    assert ledger.summary(rows[5:]) == "nothing was promised"
    chart = _ledger.draw(rows)
    assert chart is not None
    assert list(chart.data["took"]) == [60, 50, 102, 100, 75]
    assert list(chart.data["word"]) == [*["quiet"] * 3, "disturbed", "in doubt"]
    assert "n = 5 trainings" in chart.caption


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("label", "name", "ledger.csv:1: the columns must be"),
        (",60,", ",sixty,", "ledger.csv:2: taken_seconds must be a number above 0, not 'sixty'"),
        (",10,", ",,", "ledger.csv:2: measured_seconds must be a number above 0, not ''"),
        (",50,", ",-50,", "ledger.csv:2: promised_seconds must be a number above 0, not '-50'"),
    ],
)
def test_what_is_no_ledger_is_a_line(tmp_path: Path, old: str, new: str, said: str) -> None:
    file = tmp_path / "ledger.csv"
    ledger.write(file, [ROW])
    file.write_text(file.read_text().replace(old, new))
    with pytest.raises(InputError, match=said.replace("'", ".")):
        ledger.read(file)


def test_page_has_each_training_and_escapes_what_it_says(tmp_path: Path) -> None:
    read = Read(page(tmp_path, ROW, replace(ROW, program="evil", label=EVIL, promised_seconds=None, doubts=EVIL)))
    assert [row[:6] for row in read.rows["ledger"]][1:] == [
        ["A loop", "log lines", "10.0", "50.0", "60.0", "1.20"],
        [EVIL, "log lines", "10.0", "unknown", "60.0", "—"],
    ]
    assert "index.html" in read.links


def test_published_page_is_that_of_the_ledger(tmp_path: Path) -> None:
    made = page(tmp_path, *ledger.read(ROOT / "reports" / "ledger.csv"))
    assert made == (ROOT / "reports" / "published" / "ledger.html").read_text(), "run: snakemake published"
