"""Texts of others (labels, logs, reasons of failures), made harmless where they are shown."""

import re
from collections.abc import Sequence
from typing import Any, TextIO

#: Control characters, those that turn the direction of what follows, halves of characters, and what XML cannot hold.
_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ufff9-\ufffb\ufffe\uffff\ud800-\udfff]"
)


def printable(text: str) -> str:
    """Return `text` with a replacement character for each that does something unseen to a terminal or a page."""
    return _UNSEEN.sub("\ufffd", text)


def escaped(text: str) -> str:
    """Return `text` with each such character as Python writes it (\\x1b): two names that differ still do."""
    return _UNSEEN.sub(lambda sign: sign[0].encode("unicode_escape").decode(), text)


def shortened(text: str, most: int) -> str:
    """Return a text of at most `most` letters, cut in its middle: names differ at their ends."""
    if len(text) <= most:
        return text
    end = most // 2
    return f"{text[: most - end - 1]}\N{HORIZONTAL ELLIPSIS}{text[-end:]}"


#: So many names are read; of more it is counted how many there are.
NAMED = 3


def few(names: Sequence[str], count: int | None = None) -> str:
    """Return the first of some names, and how many more there are, of `count` where not all are given."""
    more = max(len(names), count or 0) - min(len(names), NAMED)
    return "; ".join(names[:NAMED]) + (f" and {more} more" if more else "")


#: What Markdown reads anywhere in a line, what it reads at its beginning, and what GitHub makes a link, a mention, an
#: issue or a picture of after that: a backslash does not keep it from it, something unseen in between does.
_SIGNS = re.compile(r"[\\`*_{}\[\]<>|~&$#!]")
_FIRST = re.compile(r"^([-+=]|\d+(?=[.)]))")
_LINKED = re.compile(r"@|\\#(?=\d)|\bGH-(?=\d)|:(?=//|[\w+-]+:)|\bwww(?=\.)|\bmailto:|\bxmpp:", re.IGNORECASE)
_BETWEEN = "&#8203;"


def markdown(text: str) -> str:
    """Return a text of others as one line of Markdown that shows it as it is, also on GitHub: no link, no mention."""
    plain = _SIGNS.sub(r"\\\g<0>", " ".join(printable(text).split()))
    first = _FIRST.match(plain)
    if first:
        sign = first[1]
        plain = f"\\{plain}" if not sign.isdigit() else f"{sign}\\{plain[len(sign) :]}"
    return _LINKED.sub(rf"\g<0>{_BETWEEN}", plain)


class Harmless:
    """A stream of text on which all is `printable`: what a name of others holds reaches no terminal."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        #: Where rich writes its colours and moves its cursor; what it shows of others is made printable by who asks it.
        self.rich_proxied_file = stream

    def write(self, text: str) -> int:
        """Write a text, without what a terminal would obey."""
        return self._stream.write(printable(text))

    def writelines(self, lines: list[str]) -> None:
        """Write several texts, likewise."""
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)
