"""Every table, chart and claim of the five articles: shown on its page, or left out with the reason."""

import html
import re
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[1]
ROWS = yaml.safe_load((ROOT / "tests" / "article_rows.yaml").read_text(encoding="utf-8"))

#: Article: how many of its rows are shown, shown in part and left out.
COUNTS = {
    "cpu-or-gpu-2017": {"shown": 20, "in part": 1},
    "gpus-2017": {"shown": 19, "left out": 2},
    "gpu-providers-2018": {"shown": 16, "in part": 1, "left out": 1},
    "cloud-or-office-2018": {"shown": 13, "in part": 6, "left out": 1},
    "scheduled-2018": {"shown": 8, "left out": 2},
}


def words(part: str) -> str:
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", " ", part))).strip()


@cache
def page(name: str) -> dict[str, Any]:
    """Return what a published page shows: text, ids, claims (words -> verdict), and what it leaves out."""
    source = (ROOT / "reports" / "published" / f"{name}.html").read_text(encoding="utf-8")
    source = re.sub(r"(?s)<style.*?</style>|<svg.*?</svg>", lambda found: " " * ("<svg" in found[0]), source)
    section = source.partition('<section id="claims"')[2].partition("</section>")[0]
    verdicts = re.findall(r'(?s)<span class="verdict">(.*?)</span>\s*<span>(.*?)(?=<details|</span>\s*</li>)', section)
    return {
        "text": words(source).replace(" —", ""),
        "ids": set(re.findall(r'<(?:section|figure) id="([^"]+)"', source)),
        "claims": {words(says): words(verdict) for verdict, says in verdicts},
        "left_out": [words(term) for term in re.findall(r"(?s)<dt>(.*?)</dt>", source)],
    }


def missing(name: str, row: dict[str, Any]) -> list[str]:
    """Return what a row names that its page does not have."""
    there = page(name)
    unchecked = [says for says, verdict in there["claims"].items() if verdict == "cannot be checked"]
    claimed = [says for says in there["claims"] if says not in unchecked]
    sides = {
        "claims": lambda begin: sum(says.startswith(begin) for says in claimed) == 1,
        "charts": lambda chart: any(re.fullmatch(rf"{re.escape(chart)}-\w+", each) for each in there["ids"]),
        "tables": lambda table: table in there["ids"],
        "text": lambda text: text in there["text"],
        "left_out": lambda begin: any(what.startswith(begin) for what in [*there["left_out"], *unchecked]),
    }
    found = [f"{kind}: {one}" for kind in sides for one in row.get(kind, []) if not sides[kind](one)]
    return found + [lack for other, rows in row.get("elsewhere", {}).items() for lack in missing(other, rows)]


def mark(row: dict[str, Any]) -> str:
    if "left_out" not in row:
        return "shown"
    return "left out" if len(row) == 1 else "in part"


@pytest.mark.parametrize("name", ROWS)
def test_every_row_of_the_article_is_on_its_page_or_left_out_with_the_reason(name: str) -> None:
    assert {row: lacks for row, about in ROWS[name].items() if (lacks := missing(name, about))} == {}
    assert all(about for about in ROWS[name].values())


def test_rows_of_each_article_are_counted() -> None:
    assert {name: dict(Counter(map(mark, rows.values()))) for name, rows in ROWS.items()} == COUNTS
    assert sum(map(len, ROWS.values())) == 90


def test_page_without_a_claim_a_chart_or_a_reason_is_noticed() -> None:
    assert missing("gpus-2017", {"claims": ["Pigs fly"], "charts": ["no_chart"], "tables": ["none"]}) == [
        "claims: Pigs fly",
        "charts: no_chart",
        "tables: none",
    ]
    unchecked = {"claims": ["Multi-GPU training"], "left_out": ["Multi-GPU training"]}
    assert missing("gpus-2017", unchecked) == ["claims: Multi-GPU training"], "what cannot be checked is not shown"
