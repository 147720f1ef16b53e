"""What the tables say of a claim: in how many of its cases it holds, in one of a few words."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

#: Marks a case in which a log takes part that the audit doubts.
DAGGER = "†"

#: What can be said of a claim.
WORDS = (
    "holds",
    "holds where decided",
    "partly",
    "undecided",
    "fails where decided",
    "fails",
    "holds by figures",
    "partly by figures",
    "fails by figures",
    "no data",
    "cannot be checked",
)

#: What a claim of an article says of figures that are single runs, by how many of its cases agree.
_BY_FIGURES = {
    "holds by figures": "holds by figures",
    "partly by figures": "partly",
    "fails by figures": "fails by figures",
}


@dataclass(frozen=True)
class Verdict:
    """What the tables say of a claim: it holds in `held` of `cases`, `undecided` decide nothing; each case in words.

    `by_figures`: the cases are single runs of an article, of which `clear` differ by more than runs are known to.
    """

    says: str
    held: int
    cases: int
    details: list[str]
    note: str = ""
    undecided: int = 0
    checked: bool = True
    by_figures: bool = False
    clear: int = 0

    @property
    def word(self) -> str:
        """Return one of `WORDS`."""
        if not self.checked:
            return "cannot be checked"
        if self.cases == 0:
            return "no data"
        if self.by_figures:
            return (
                "holds by figures"
                if self.held == self.cases
                else "partly by figures"
                if self.held
                else "fails by figures"
            )
        if self.undecided == self.cases:
            return "undecided"
        if self.held and self.failed:
            return "partly"
        return f"{'holds' if self.held else 'fails'}{' where decided' if self.undecided else ''}"

    @property
    def rank(self) -> int:
        """Return the place of its verdict on a page: claims that fail are no worse news than those that hold."""
        return WORDS.index(self.word)

    @property
    def failed(self) -> int:
        """In how many cases it is false."""
        return self.cases - self.held - self.undecided

    @property
    def count(self) -> str:
        """Return in how many cases it holds, is undecided and fails, without zeros; empty for a single case."""
        if self.cases == 0:
            return ""
        if self.by_figures:
            cases = f"{self.held} of {self.cases} pairs agree" if self.cases > 1 else "1 case"
            return f"{cases}, {self.clear} beyond noise"
        if self.cases < 2:
            return ""
        counted = {"holds": self.held, "undecided": self.undecided, "fails": self.failed}
        words = [f"{word} in {count}" for word, count in counted.items() if count]
        return ", ".join([f"{words[0]} of {self.cases}", *words[1:]])

    @property
    def sentence(self) -> str:
        """Return the verdict in words: how its cases came out, or of one case the word."""
        if self.word in _BY_FIGURES:
            return f"{_BY_FIGURES[self.word]}: {self.count}"
        return self.count or self.word

    @property
    def doubted(self) -> int:
        """Return in how many cases a log takes part that the audit doubts."""
        return sum(detail.endswith(DAGGER) for detail in self.details)


def tally(verdicts: Sequence[Verdict]) -> dict[str, int]:
    """Return how many claims got each word."""
    return {word: sum(verdict.word == word for verdict in verdicts) for word in WORDS}


def to_json(
    name: str,
    study: Mapping[str, Any],
    runs: int,
    findings: int,
    verdicts: Sequence[Verdict],
    trainings: Sequence[Mapping[str, Any]] = (),
) -> str:
    """Return what the index shows of a study (JSON).

    Its words, how many runs and audit findings, every verdict, and what a training costs (`trainings.best`).
    """
    about = {key: study.get(key) for key in ("title", "summary", "published")}
    claims = [
        asdict(verdict) | {"word": verdict.word, "count": verdict.count, "sentence": verdict.sentence}
        for verdict in verdicts
    ]
    counts = {"runs": runs, "findings": findings}
    return (
        json.dumps({"name": name} | about | counts | {"claims": claims, "trainings": list(trainings)}, indent=2) + "\n"
    )
