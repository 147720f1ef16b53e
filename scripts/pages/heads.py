"""What the heads of columns mean: each says so where a pointer or the focus rests on it."""

import html
import re
from functools import cache
from pathlib import Path

import yaml

_FILE = Path(__file__).resolve().parents[2] / "reports" / "heads.yaml"

_HEADS = re.compile(r'<thead(?: data-means="([^"]*)")?>(.*?)</thead>', re.DOTALL)
_HEAD = re.compile(r"<th(?![^>]*\stitle=)([^>]*)>(.*?)</th>", re.DOTALL)

#: Ends a key of the file that is the beginning of heads.
_MORE = "…"


def explained(page: str) -> str:
    """Return a page (HTML) whose heads of columns have their meaning as a title.

    A head that says what it means keeps that; one that is not known means what its thead says (`data-means`).
    """

    def of_table(heads: re.Match[str]) -> str:
        def of_head(head: re.Match[str]) -> str:
            means = html.escape(meaning(_text(head[2]))) or heads[1]
            return f'<th{head[1]} title="{means}">{head[2]}</th>' if means else head[0]

        return f"<thead>{_HEAD.sub(of_head, heads[2])}</thead>"

    return _HEADS.sub(of_table, page)


def meaning(head: str) -> str:
    """Return what a head of a column means by its words, empty where that is not known."""
    known = _known()
    begins = [key for key in known if key.endswith(_MORE) and head.startswith(key.removesuffix(_MORE))]
    return known.get(head) or known.get(max(begins, key=len, default=""), "")


@cache
def _known() -> dict[str, str]:
    found: dict[str, str] = yaml.safe_load(_FILE.read_text(encoding="utf-8"))
    return found


def _text(shown: str) -> str:
    return " ".join(html.unescape(re.sub(r"<[^>]*>", "", shown)).split())
