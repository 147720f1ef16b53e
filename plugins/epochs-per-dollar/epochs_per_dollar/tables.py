"""Tables that are printed row by row under a heading: fastai, skorch, spaCy, scikit-learn's boosting."""

from __future__ import annotations

import re

from epochs_per_dollar.lines import Tick, plain

_UNITS = {
    **dict.fromkeys(("step", "steps", "iter", "iteration", "it", "#", "batch", "update"), "step"),
    **dict.fromkeys(("epoch", "epochs"), "epoch"),
}
_BETWEEN = re.compile(r"(?:[\s|│┃\[\]]|,(?=\s|$))+")
_VALUE = re.compile(r"[-+]?(?:\d[\d.,:]*(?:e[-+]?\d+)?|nan|inf)[a-z%]?", re.IGNORECASE)

#: The column that counts is one of the first: where names have two words, the place of a later one is not known.
_FIRST_COLUMNS = 2


class Table:
    """The table that a program prints: which column counts is known from its heading."""

    def __init__(self) -> None:
        self._column: int | None = None
        self._name = self._unit = ""

    def read(self, line: str) -> Tick | None:
        """Return what a row says; None for a heading, and for what is no row of a table."""
        text = plain(line)
        # `epoch,step,loss` and what follows: rows of CSV
        words = [word for word in (_BETWEEN.split(text) if " " in text else re.split(r"[\s|│┃,]", text)) if word]
        if len(words) < 2:
            return None
        if not any(_VALUE.fullmatch(word) for word in words):
            self._head(words)
            return None
        if self._column is None or len(words) <= self._column or not re.fullmatch("[0-9]+", words[self._column]):
            return None
        # Words beside the numbers, as of an evaluation's result, are a row of something else.
        if sum(bool(_VALUE.fullmatch(word)) for word in words) < len(words) - 1:
            return None
        return Tick(self._name, self._unit, float(words[self._column]), None, "a table's rows")

    def _head(self, words: list[str]) -> None:
        names = [word.lower() for word in words[:_FIRST_COLUMNS]]
        found = [place for place, name in enumerate(names) if name in _UNITS]
        if found:
            # Of an epoch and a step in it the step says more.
            self._column = min(found, key=lambda place: _UNITS[names[place]] == "epoch")
            self._name, self._unit = f"table {names[self._column]}", _UNITS[names[self._column]]
