"""Texts of others (labels, logs, reasons of failures), made harmless where they are shown."""

import re

#: Control characters, those that turn the direction of what follows, halves of characters, and what XML cannot hold.
_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ufff9-\ufffb\ufffe\uffff\ud800-\udfff]"
)


def printable(text: str) -> str:
    """Return `text` with a replacement character for each that does something unseen to a terminal or a page."""
    return _UNSEEN.sub("\ufffd", text)
