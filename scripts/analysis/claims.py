"""Checks what somebody says of a study's figures against its tables. Pure.

A claim of a study's config has the words (`says`) and a check:

- `less`, `more`: in each pair of a cell that matches `cell` and one that matches `than`, `by` is less (times
  `factor`), or more. A pair agrees in the workload and in everything that neither selection names.
  Without `than` a cell is compared with itself at another price (`than_price`); `pairs` names machines instead.
- `ratio`: in each such pair, or with `median` in their median, cell over than lies `between` two numbers.
- `best`, `never_best`: in each workload, a cell that matches `cell` has the smallest `by` of all, or has not.
- `front`: in each workload, no other cell is both faster and cheaper than a cell that matches `cell`.
- `unchecked`: nothing here can tell; `note` says why.
- `figure`: a figure that the study computes is the `printed` one, `within` its rounding.

Where two measured values are compared, runs may not tell them apart (`statistics.tie`): for neither side. A `factor`
and `between` are limits that somebody chose, and have no ties. A case in which a cell takes part whose log the audit
doubts is marked with a dagger.
"""

import json
from collections.abc import Container, Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any

import numpy as np
import pandas as pd

from scripts.analysis import statistics
from scripts.costs import outcomes
from scripts.storage.errors import InputError
from scripts.storage.numbers import number
from scripts.storage.tables import CELL, records

_COSTS = ("cost_usd", "billed_usd", "usd_per_million_samples", "usd_per_hour")

#: What each check cannot do without; `less`, `more` and `ratio` also need two sides.
_NEEDS = {
    "figure": ("figure", "printed", "within"),
    "best": ("by", "cell"),
    "never_best": ("by", "cell"),
    "less": ("by",),
    "more": ("by",),
    "ratio": ("by", "between"),
    "front": ("cell",),
    "unchecked": ("note",),
}


DAGGER = "†"

#: What can be said of a claim.
WORDS = ("holds", "holds or ties", "partly", "tie", "fails", "no data", "cannot be checked")


@dataclass(frozen=True)
class Verdict:
    """What the tables say of a claim: in `held` of `cases` it is true, `ties` tell nothing; each case in words."""

    says: str
    held: int
    cases: int
    details: list[str]
    note: str = ""
    ties: int = 0
    checked: bool = True

    @property
    def word(self) -> str:
        """Return one of `WORDS`."""
        if not self.checked:
            return "cannot be checked"
        if self.cases == 0:
            return "no data"
        if self.ties == self.cases:
            return "tie"
        if self.held + self.ties == self.cases:
            return "holds or ties" if self.ties else "holds"
        return "partly" if self.held else "fails"

    @property
    def count(self) -> str:
        """Return of how many cases it is true, and how many ties there are; empty for a single case."""
        ties = f", {self.ties} tie{'s' if self.ties > 1 else ''}" if self.ties else ""
        return f"{self.held} of {self.cases}{ties}" if self.cases > 1 else ""

    @property
    def doubted(self) -> int:
        """Return in how many cases a log takes part that the audit doubts."""
        return sum(detail.endswith(DAGGER) for detail in self.details)


def _values(by: str, price: str, runs: pd.DataFrame, costs: pd.DataFrame) -> pd.DataFrame:
    """Return one row per cell with `value`, the median of column `by` over its runs, and `points`, those of the runs.

    Cells without one are left out.
    """
    rows = costs[costs["price_option"] == price] if by in _COSTS else runs[runs["status"] == "done"]
    if by not in rows or not pd.api.types.is_numeric_dtype(rows[by]):
        raise InputError(f"claims: by: {by!r} is unknown: it is one of {', '.join(_COSTS)}, or a column of runs")
    runs_of = rows.dropna(subset=by).groupby(CELL, sort=False, dropna=False)[by]
    cells = runs_of.agg(value="median", points=list).reset_index()
    return cells.dropna(subset="value").reset_index(drop=True)


def _select(cells: pd.DataFrame, where: Mapping[str, Any]) -> pd.DataFrame:
    chosen = pd.Series(True, index=cells.index)
    for axis, names in where.items():
        chosen &= cells[axis].isin([names] if isinstance(names, str) else names)
    return cells[chosen]


def _cell_words(row: Mapping[str, Any], labels: Mapping[str, str]) -> str:
    words = [labels.get(row["hardware"], row["hardware"]), row["framework"]]
    words += [
        row[axis]
        for axis, plain in (("mode", "stock"), ("precision", "float32"))
        if pd.notna(row[axis]) and row[axis] != plain
    ]
    return " ".join(words)


def _pairs(claim: Mapping[str, Any], left: pd.DataFrame, right: pd.DataFrame) -> pd.DataFrame:
    if "pairs" in claim:
        pairs = pd.DataFrame(claim["pairs"], columns=["hardware", "hardware_than"])
        both = left.merge(right, on=[axis for axis in CELL if axis != "hardware"], suffixes=("", "_than"))
        return both.merge(pairs, on=["hardware", "hardware_than"])
    named = {*claim["cell"], *claim["than"]} if "than" in claim else set()
    same = [axis for axis in CELL if axis == "workload" or axis not in named]
    return left.merge(right, on=same, suffixes=("", "_than"))


def _names(where: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return (axis, name) for each name of a selection."""
    listed = {axis: [names] if isinstance(names, str) else names for axis, names in where.items()}
    return [(axis, name) for axis, names in listed.items() for name in names]


def _check(claim: Mapping[str, Any], study: Mapping[str, Any], runs: pd.DataFrame) -> None:
    """Raise InputError for a claim that lacks something, or names a price or a cell that is not there."""
    needs = [key for key in _NEEDS[claim["check"]] if key not in claim]
    if claim["check"] in ("less", "more", "ratio") and "pairs" not in claim:
        needs += [key for key in ("cell",) if key not in claim]
        needs += ["than (or than_price, or pairs)"] if {"than", "than_price"}.isdisjoint(claim) else []
    if needs:
        raise InputError(f"claims: {claim['says']!r}: check {claim['check']} needs {needs[0]}")
    for key in ("price", "than_price"):
        if key in claim and claim[key] not in study["prices"]:
            known = ", ".join(study["prices"])
            raise InputError(f"claims: {key}: {claim[key]!r} is unknown: it is one of {known}")
    given = [(key, *name) for key in ("among", "cell", "than") for name in _names(claim.get(key, {}))]
    given += [("pairs", "hardware", name) for pair in claim.get("pairs", []) for name in pair]
    for key, axis, name in given:
        if name not in set(runs[axis]):
            known = ", ".join(sorted(set(runs[axis])))
            raise InputError(f"claims: {key}: {axis}: {name!r} has no run: it is one of {known}")


def evaluate(
    claim: Mapping[str, Any],
    study: Mapping[str, Any],
    runs: pd.DataFrame,
    costs: pd.DataFrame,
    figures: Mapping[str, float],
    labels: Mapping[str, str],
    doubted: Container[tuple[str, str, str]] = (),
) -> Verdict:
    """Return the verdict on one claim.

    `doubted` holds (workload, hardware, framework) of the cells whose logs the audit doubts. Raises InputError
    when it lacks something, or names a column, price, cell or figure that is not there.
    """
    _check(claim, study, runs)
    says, note = claim["says"], claim.get("note", "")
    if claim["check"] == "unchecked":
        return Verdict(says, 0, 0, [], note, checked=False)
    if claim["check"] == "figure":
        name = claim["figure"]
        if name not in figures:
            raise InputError(f"claims: figure: {name!r} is unknown: it is one of {', '.join(sorted(figures))}")
        off = abs(figures[name] - claim["printed"])
        held = off <= claim["within"] + 1e-12
        words = f"{name.replace('_', ' ')}: {number(figures[name], 4)}, printed {claim['printed']:,.10g}"
        return Verdict(says, int(held), 1, [words], note)

    def dagger(*rows: Mapping[str, Any]) -> str:
        keys = [(row["workload"], row["hardware"], row["framework"]) for row in rows]
        return f" {DAGGER}" if any(key in doubted for key in keys) else ""

    price = claim.get("price", study["price"])
    cells = _values("cost_usd" if claim["check"] == "front" else claim["by"], price, runs, costs)
    among = claim.get("among", {})
    cells = _select(cells, among)
    left = _select(cells, claim.get("cell", {}))
    # Prices are no measurements, and one run at two prices is one measurement.
    measured = claim.get("by") != "usd_per_hour" and ("than" in claim or "than_price" not in claim)
    details: list[str] = []
    ratios: list[float] = []
    held = ties = 0
    if claim["check"] == "front":
        seconds = _values("train_seconds", price, runs, costs).rename(columns={"value": "seconds"})
        both = cells.merge(seconds, on=CELL)
        for workload, group in both.groupby("workload", sort=False):
            ours = _select(group, claim["cell"])
            if ours.empty:
                continue
            front = group[outcomes.pareto_front(group["seconds"], group["value"])]
            good = bool(front.index.isin(ours.index).any())
            held += good
            names = ", ".join(_cell_words(row, labels) for row in records(front))
            details.append(
                f"{workload}: on the front are {names}{'' if good else ' (against)'}{dagger(*records(front))}"
            )
        return Verdict(says, held, len(details), details, note)
    if claim["check"] in ("best", "never_best"):
        groups = [group for name, group in cells.groupby("workload", sort=False) if name in set(left["workload"])]
        for group in groups:
            values = group["value"].astype(float).to_numpy()
            best = records(group)[int(values.argmin())]
            inside = group.index.isin(left.index)
            ours, others = values[inside].min(), values[~inside].min() if (~inside).any() else float("inf")
            points = [list(group["points"])[int(np.where(side, values, np.inf).argmin())] for side in (inside, ~inside)]
            tie = measured and bool((~inside).any()) and statistics.tie(*points)
            good = not tie and bool(ours < others) == (claim["check"] == "best")
            held, ties = held + good, ties + tie
            words = "is best" if not tie else "is best by less than the noise (tie)"
            against = "" if good or tie else " (against)"
            details.append(f"{best['workload']}: {_cell_words(best, labels)} {words}{against}{dagger(best)}")
        return Verdict(says, held, len(groups), details, note, ties)

    right = _select(_values(claim["by"], claim.get("than_price", price), runs, costs), among)
    pairs = _pairs(claim, left, _select(right, claim.get("than", claim.get("cell", {}))))
    factor, (low, high) = claim.get("factor", 1), claim.get("between", (0, 0))
    for pair in records(pairs):
        ratio = float(outcomes.relative(float(pair["value"]), float(pair["value_than"])))
        compared = measured and claim["check"] != "ratio" and factor == 1
        tie = compared and statistics.tie(pair["points"], pair["points_than"])
        true = {"less": ratio < 1 / factor, "more": ratio > factor, "ratio": low <= ratio <= high}[claim["check"]]
        good = true and not tie
        held, ties = held + good, ties + tie
        others = {axis: pair.get(f"{axis}_than", pair[axis]) for axis in CELL}
        sides = f"{_cell_words(pair, labels)} {ratio:.2f}× {_cell_words(others, labels)}"
        against = " (tie)" if tie else "" if good or claim.get("median") else " (against)"
        details.append(f"{pair['workload']}: {sides}{against}{dagger(pair, others)}")
        ratios.append(ratio)
    if claim.get("median") and ratios:
        middle = median(ratios)
        good = low <= middle <= high
        words = f"the median of {len(ratios)} is {middle:.2f}×{'' if good else ' (against)'}"
        return Verdict(says, int(good), 1, [words, *details], note)
    return Verdict(says, held, len(pairs), details, note, ties)


def tally(verdicts: Sequence[Verdict]) -> dict[str, int]:
    """Return how many claims got each word."""
    return {word: sum(verdict.word == word for verdict in verdicts) for word in WORDS}


def told(name: str, study: Mapping[str, Any], runs: int, findings: int, verdicts: Sequence[Verdict]) -> str:
    """Return what the index tells of a study (JSON): its words, how many runs and audit findings, every verdict."""
    about = {key: study.get(key) for key in ("title", "summary", "published")}
    claims = [asdict(verdict) | {"word": verdict.word, "count": verdict.count} for verdict in verdicts]
    return json.dumps({"name": name} | about | {"runs": runs, "findings": findings, "claims": claims}, indent=2) + "\n"
