"""A page as its reader meets it."""

from collections import defaultdict
from html.parser import HTMLParser

#: Text that would be markup if it were not escaped.
EVIL = "<script>alert('&')</script>"


#: Characters of four lines of a page that is 1,400 px wide: an answer has no more.
LEAD = 320


class Read(HTMLParser):
    """A page as its reader meets it: its text, the rows of each section's table, what it links to."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.words: list[str] = []
        self.rows: dict[str, list[list[str]]] = defaultdict(list)
        self.links: list[str] = []
        self.tags = [""]
        self._section, self._is_in_cell = "", False
        self.feed(html)
        self.text = " ".join(" ".join(self.words).split())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.tags.append(tag)
        self.links += [given[key] or "" for key in ("href", "src") if key in given]
        if tag == "section":
            self._section = given.get("id") or ""
        elif tag == "tr":
            self.rows[self._section].append([])
        elif tag in ("td", "th"):
            self.rows[self._section][-1].append("")
            self._is_in_cell = True

    def handle_endtag(self, tag: str) -> None:
        if tag in ("td", "th"):
            self._is_in_cell = False

    def handle_data(self, data: str) -> None:
        if self.tags[-1] == "script":  # nobody reads it
            return
        self.words.append(data)
        # Of a cell that opens, what it shows while it is closed.
        if self._is_in_cell and self.tags[-1] in ("td", "th", "summary") and data.strip():
            self.rows[self._section][-1][-1] += data
