"""Checks what somebody says of a study's figures against its tables. Pure.

A claim of a study's config has the words (`says`) and a check:

- `less`, `more`: in each pair of a cell that matches `cell` and one that matches `than`, `by` is less, or more: at all,
  by more than a `factor`, some `times`, or as a `word` is read (`readings`). A pair agrees in the workload and in
  everything that neither selection names. Without `than` a cell is compared with itself at another price
  (`than_price`); `pairs` names machines instead; `than_study` is where the other side is measured.
- `same`: in each such pair, the interval of the ratio lies within the margin; with too few runs it is undecided.
- `alike`: in each such pair, both are on the same side of the base cell of their workload: faster (cheaper) or not, as
  one reads two charts with a dashed line at 1.00x; `by` is `relative_time` or `relative_cost`.
- `ratio`: in each such pair, or with `median` in their median, cell over than lies `between` two numbers, or is as near
  as a `word` asks for. With `often` a share of the pairs is enough, here and above.
- `best`, `never_best`: in each workload, a cell that matches `cell` has the smallest `by` of all, or has not.
- `front`: in each workload, no other cell is both faster and cheaper than a cell that matches `cell`.
- `unchecked`: nothing here can decide it; `note` says why.
- `figure`: each figure that is named, or its ratio to the figure `over`, is the `printed` one, `within` its rounding,
  or lies `between` two numbers.

Two sides that both name a workload are compared across workloads; `relative_time` and `relative_cost` (over the base
cell of the same workload, as the charts of these names) can be.

Where two measured values are compared, they may not be clearly different (`verdicts`): that case is undecided. What an
article says of single runs of its own is checked on these figures, as they cannot carry more, and worded so. `factor`,
`times`, `word` and `between` are limits: a case holds where the whole interval of its ratio (`Judge.reach`) lies within
them, fails where it lies outside, and is undecided where it reaches over one. A case in which a cell takes part whose
log the audit doubts is marked with a dagger.
"""

from collections.abc import Container, Mapping
from dataclasses import dataclass, replace
from statistics import median
from typing import Any

import numpy as np
import pandas as pd

from scripts.analysis import claim_cells, clocks, readings, verdicts
from scripts.analysis.claim_cells import RELATIVE, across, cell_words, listed, select, sides
from scripts.analysis.claim_verdict import DAGGER, Verdict
from scripts.analysis.names import workload_name
from scripts.analysis.verdicts import FEW_RUNS, TIED, Comparison, Judge
from scripts.costs import outcomes
from scripts.storage.axes import CELL
from scripts.storage.errors import InputError
from scripts.storage.numbers import number
from scripts.storage.tables import records

#: What is as noisy as the time of a run.
_TIMED = ("train_seconds", "samples_per_second", "cost_usd", "billed_usd", "usd_per_million_samples", "usd_per_hour")


#: What each check cannot do without; `less`, `more` and `ratio` also need two sides.
_NEEDS = {
    "figure": ("figure",),
    "best": ("by", "cell"),
    "never_best": ("by", "cell"),
    "less": ("by",),
    "more": ("by",),
    "same": ("by",),
    "alike": ("by",),
    "ratio": ("by",),
    "front": ("cell",),
    "unchecked": ("note",),
}

#: The checks that compare two sides.
_PAIRED = ("less", "more", "same", "alike", "ratio")

#: What is compared, in words: a time is that of a clock (docs/measuring.md), and says of which.
_NOUNS = {
    "train_seconds": "time to train",
    "published_seconds": "time of a process of full length",
    "total_seconds": "time of the process",
    "samples_per_second": "samples/s",
    "cost_usd": "cost",
    "usd_per_million_samples": "cost",
    "seconds_usd": "time × cost",
    "val_acc": "accuracy",
}


@dataclass(frozen=True)
class Other:
    """Another study that a claim compares with: its tables, and the price option it shows."""

    title: str
    runs: pd.DataFrame
    costs: pd.DataFrame
    price: str


def _check(claim: Mapping[str, Any], study: Mapping[str, Any], runs: pd.DataFrame, others: Mapping[str, Other]) -> None:
    """Raise InputError for a claim that lacks something, or names a price or a cell that is not there."""
    needs = [key for key in _NEEDS[claim["check"]] if key not in claim]
    if claim["check"] in _PAIRED and "pairs" not in claim:
        needs += [key for key in ("cell",) if key not in claim]
        compared = {"than", "than_price", "than_study"}
        needs += ["than (or than_price, than_study or pairs)"] if compared.isdisjoint(claim) else []
    if claim["check"] == "ratio" and {"between", "word", "times"}.isdisjoint(claim):
        needs += ["between (or word, or times)"]
    if claim["check"] == "figure" and "between" not in claim:
        needs += [key for key in ("printed", "within") if key not in claim]
    if needs:
        raise InputError(f"claims: {claim['says']!r}: check {claim['check']} needs {needs[0]}")
    if "between" in claim and claim["between"][0] > claim["between"][1]:
        raise InputError(f"claims: {claim['says']!r}: between: {claim['between']}: the first is above the second")
    if claim["check"] == "alike" and claim["by"] not in RELATIVE:
        raise InputError(f"claims: by: {claim['by']!r} is not for check alike: it is one of {', '.join(RELATIVE)}")
    for key in ("price", "than_price"):
        if key in claim and claim[key] not in study["prices"]:
            known = ", ".join(study["prices"])
            raise InputError(f"claims: {key}: {claim[key]!r} is unknown: it is one of {known}")
    theirs = others[claim["than_study"]].runs if "than_study" in claim else runs
    selections = (("among", runs), ("cell", runs), ("than", theirs))
    given = [
        (key, axis, name, there)
        for key, there in selections
        for axis, names in claim.get(key, {}).items()
        for name in listed(names)
    ]
    given += [("pairs", "hardware", name, runs) for pair in claim.get("pairs", []) for name in pair]
    for key, axis, name, there in given:
        if name not in set(there[axis].dropna()):
            known = ", ".join(str(name) for name in sorted(set(there[axis].dropna())))
            raise InputError(f"claims: {key}: {axis}: {name!r} has no run: it is one of {known}")


def evaluate(
    claim: Mapping[str, Any],
    study: Mapping[str, Any],
    runs: pd.DataFrame,
    costs: pd.DataFrame,
    figures: Mapping[str, float],
    labels: Mapping[str, str],
    judge: Judge,
    doubted: Container[tuple[str, str, str]] = (),
    others: Mapping[str, Other] | None = None,
) -> Verdict:
    """Return the verdict on one claim.

    `judge` compares cells; `doubted` holds (workload, hardware, framework) of the cells whose logs the audit doubts;
    `others` are the studies that claims name. Raises InputError when a claim lacks something, or names a column, price,
    cell or figure that is not there.
    """
    others = others or {}
    _check(claim, study, runs, others)
    says = claim["says"]
    note = "; ".join(filter(None, (readings.words(claim), claim.get("note"))))
    if claim["check"] == "unchecked":
        return Verdict(says, 0, 0, [], note, checked=False)
    if claim["check"] == "figure":
        return _figure(claim, figures, note)
    price = claim.get("price", study["price"])

    def values(by: str, price: str) -> pd.DataFrame:
        if by in RELATIVE:
            return claim_cells.over_base(by, price, study, runs, costs)
        return claim_cells.values(by, price, runs, costs)

    cells = select(values("cost_usd" if claim["check"] == "front" else claim["by"], price), claim.get("among", {}))
    few = "import" in study and bool((cells["points"].map(len) < FEW_RUNS).all())
    judge = judge if claim.get("by", "cost_usd") in (*_TIMED, *RELATIVE) else judge.of_values(cells["points"])
    other = others[claim["than_study"]] if "than_study" in claim else None
    case = _Case(claim, note, judge, few, labels, doubted, other.title if other else "")
    if claim["check"] == "front":
        times = claim_cells.values("train_seconds", price, runs, costs)
        return case.front(cells.merge(times, on=CELL, suffixes=("", "_time")))
    if claim["check"] in ("best", "never_best"):
        return case.best(cells)
    if other:
        right = claim_cells.values(claim["by"], other.price, other.runs, other.costs)
    else:
        right = values(claim["by"], claim.get("than_price", price))
    right = select(select(right, claim.get("among", {})), claim.get("than", claim.get("cell", {})))
    both = claim_cells.pairs(claim, select(cells, claim.get("cell", {})), right)
    return case.pairs(_on_one_clock(both, runs, other.runs if other else runs))


def _on_one_clock(pairs: pd.DataFrame, runs: pd.DataFrame, others: pd.DataFrame) -> pd.DataFrame:
    """Return the pairs without those of a program that was watched from outside and of a training of our own."""
    of_theirs = pairs["workload_than"] if "workload_than" in pairs else pairs["workload"]
    ours, theirs = clocks.watched_workloads(runs), clocks.watched_workloads(others)
    alike = pairs["workload"].isin(ours).to_numpy() == of_theirs.isin(theirs).to_numpy()
    return pd.DataFrame(pairs.loc[alike])


def _compared(judge: Judge, one: Mapping[str, Any], other: Mapping[str, Any]) -> Comparison:
    return judge.compare(one["points"], other["points"], (one["hardware"], other["hardware"]))


def _within(reach: tuple[float, float], limits: tuple[float, float]) -> tuple[bool, bool]:
    """Return whether all that a ratio may be lies within limits, and whether that is open."""
    if limits[0] <= reach[0] and reach[1] <= limits[1]:
        return True, False
    return False, reach[1] >= limits[0] and reach[0] <= limits[1]


def _figure(claim: Mapping[str, Any], figures: Mapping[str, float], note: str) -> Verdict:
    names, over = listed(claim["figure"]), claim.get("over")
    for name in (*names, *listed(over or [])):
        if name not in figures:
            raise InputError(f"claims: figure: {name!r} is unknown: it is one of {', '.join(sorted(figures))}")
    if "between" in claim:
        low, high = claim["between"]
        wanted = f"{low:g} to {high:g}" if low else f"at most {high:g}"
    else:
        low, high = (claim["printed"] + side * claim["within"] for side in (-1, 1))
        wanted = f"printed {claim['printed']:,.10g}"
    held, details = 0, []
    for name in names:
        value = float(outcomes.relative(figures[name], figures[over] if over else 1.0))
        good = low - 1e-12 <= value <= high + 1e-12
        held += good
        words = f"{name} over {over}" if over else name
        against = "" if good or len(names) == 1 else " (against)"
        details.append(f"{words.replace('_', ' ')}: {number(value, 4)}, {wanted}{against}")
    return Verdict(claim["says"], held, len(names), details, note)


@dataclass(frozen=True)
class _Case:
    """A claim about cells; `few`: all of them are single runs, or few, of what is imported.

    `elsewhere` is the title of the study in which the other side was measured, empty if it is this one.
    """

    claim: Mapping[str, Any]
    note: str
    judge: Judge
    few: bool
    labels: Mapping[str, str]
    doubted: Container[tuple[str, str, str]]
    elsewhere: str = ""

    @property
    def _measured(self) -> bool:
        """Whether values are compared that runs have measured: prices are not, nor is a run at two prices."""
        claim = self.claim
        one_run = "than_price" in claim and {"than", "than_study", "pairs"}.isdisjoint(claim)
        return claim.get("by") != "usd_per_hour" and not one_run

    def _dagger(self, *rows: Mapping[str, Any]) -> str:
        keys = [(row["workload"], row["hardware"], row["framework"]) for row in rows]
        return f" {DAGGER}" if any(key in self.doubted for key in keys) else ""

    def _verdict(self, held: int, details: list[str], undecided: int = 0, clear: int = 0) -> Verdict:
        by_figures = self.few and self._measured
        return Verdict(
            self.claim["says"], held, len(details), details, self.note, undecided, by_figures=by_figures, clear=clear
        )

    def _one(self, good: bool, details: list[str], open_: bool, clear: bool) -> Verdict:
        """Return the verdict on several pairs that are one case."""
        return replace(self._verdict(int(good), details, int(open_), int(clear)), cases=1)

    def _reach(self, one: Mapping[str, Any], other: Mapping[str, Any]) -> tuple[float, float]:
        return self.judge.reach(one["points"], other["points"], (one["hardware"], other["hardware"]))

    def front(self, cells: pd.DataFrame) -> Verdict:
        """Return in how many workloads a cell of the claim is beaten by none (`value`: cost, `value_time`: seconds)."""
        held, clear, details = 0, 0, []
        for workload, group in cells.groupby("workload", sort=False):
            ours = select(group, self.claim["cell"])
            if ours.empty:
                continue
            points = [list(group[name]) for name in ("points_time", "points", "hardware")]
            if self.few:
                front = group[outcomes.pareto_front(group["value_time"], group["value"])]
            else:
                front = group[verdicts.front(self.judge, *points)]
            good = bool(front.index.isin(ours.index).any())
            held += good
            others = [*ours.index, *group.index[~np.array(verdicts.front(self.judge, *points))]]
            clear += set(group.index) == set(others)
            names = ", ".join(cell_words(row, self.labels) for row in records(front))
            against = "" if good else " (against)"
            details.append(
                f"{workload_name(str(workload))}: on the front are {names}{against}{self._dagger(*records(front))}"
            )
        return self._verdict(held, details, clear=clear)

    def best(self, cells: pd.DataFrame) -> Verdict:
        """Return in how many workloads a cell of the claim has the smallest value."""
        left = select(cells, self.claim["cell"])
        wanted = self.claim["check"] == "best"
        held = undecided = clear = 0
        details = []
        for workload, group in cells.groupby("workload", sort=False):
            if workload not in set(left["workload"]):
                continue
            values = group["value"].astype(float).to_numpy()
            best = records(group)[int(values.argmin())]
            inside = group.index.isin(left.index)
            ours, theirs = values[inside].min(), values[~inside].min() if (~inside).any() else float("inf")
            ends = [records(group)[int(np.where(side, values, np.inf).argmin())] for side in (inside, ~inside)]
            compared = _compared(self.judge, *ends) if self._measured and (~inside).any() else None
            is_clear = compared is not None and compared.is_clear
            open_ = bool(ours == theirs) or (compared is not None and not (self.few or is_clear))
            good = not open_ and bool(ours < theirs) == wanted
            held, undecided, clear = held + good, undecided + open_, clear + is_clear
            words = f"is best, {(compared and compared.mark) or 'as another is'}" if open_ else "is best"
            against = "" if good or open_ else " (against)"
            details.append(
                f"{workload_name(str(workload))}: {cell_words(best, self.labels)} {words}{against}{self._dagger(best)}"
            )
        return self._verdict(held, details, undecided, clear)

    def pairs(self, pairs: pd.DataFrame) -> Verdict:
        """Return in how many pairs (`value` and `points` of both sides) the claim holds, or whether in enough."""
        claim, limits = self.claim, readings.limits(self.claim)
        held = undecided = clear = 0
        details: list[str] = []
        ratios: list[float] = []
        reaches: list[tuple[float, float]] = []
        for pair in records(pairs):
            ratio = float(outcomes.relative(float(pair["value"]), float(pair["value_than"])))
            theirs = {axis: pair.get(f"{axis}_than", pair[axis]) for axis in CELL}
            against_it = {"points": pair["points_than"], "hardware": self.elsewhere or theirs["hardware"]}
            compared = _compared(self.judge, pair, against_it) if self._measured else None
            reach = (ratio, ratio) if compared is None or self.few else self._reach(pair, against_it)
            is_clear = compared is not None and compared.is_clear
            if claim["check"] == "alike":
                is_clear = all(
                    self.judge.compare(pair[f"points{side}"], pair[f"base_points{side}"]).is_clear
                    for side in ("", "_than")
                )
                open_, true = not (self.few or is_clear), (pair["value"] < 1) == (pair["value_than"] < 1)
            elif claim["check"] == "same" and self.few:
                least, most = readings.WORDS["same"]
                open_, true = False, 1 / most <= ratio <= most / least
            elif claim["check"] == "same":
                # That two are not clearly different is no proof: only an interval within the margin is.
                open_ = compared is None or not (compared.is_clear or compared.word == TIED)
                true = compared is not None and compared.word == TIED
            elif limits:
                true, open_ = _within(reach, limits)
            else:
                open_ = compared is not None and not (self.few or compared.is_clear)
                true = ratio < 1 if claim["check"] == "less" else ratio > 1
            good = true and not open_
            held, undecided, clear = held + good, undecided + open_, clear + is_clear
            ours, other = sides(pair, theirs, self.labels)
            words = f"{ours} {ratio:.2f}× the {_NOUNS.get(claim['by'], claim['by'].replace('_', ' '))} of {other}"
            if claim["by"] in RELATIVE:
                other = "" if ours == other else f"{other} "
                words = f"{ours} {pair['value']:.2f}× the base, {other}{pair['value_than']:.2f}×"
            words += f" in {workload_name(theirs['workload'])}" if across(claim) else ""
            words += f" in {self.elsewhere!r}" if self.elsewhere else ""
            of_many = claim.get("median") or claim.get("often")
            unsure = f"undecided: {reach[0]:.2f} to {reach[1]:.2f}" if limits else compared and compared.mark
            against = f" ({unsure})" if compared and open_ else "" if good or of_many else " (against)"
            details.append(f"{workload_name(pair['workload'])}: {words}{against}{self._dagger(pair, theirs)}")
            ratios.append(ratio)
            reaches.append(reach)
        if claim.get("median") and ratios and limits:
            # The median of what is each within its reach is between the medians of their ends.
            low, high = (median(ends) for ends in zip(*reaches, strict=True))
            good, open_ = _within((low, high), limits)
            against = f" (undecided: {low:.2f} to {high:.2f})" if open_ else "" if good else " (against)"
            words = f"the median of {len(ratios)} is {median(ratios):.2f}×{against}"
            return self._one(good, [words, *details], open_, clear == len(ratios))
        if claim.get("often") and ratios:
            enough = readings.OFTEN * len(ratios)
            good, open_ = held >= enough, held < enough <= held + undecided
            against = f", undecided in {undecided}" if open_ else "" if good else " (against)"
            words = f"it is so in {held} of {len(ratios)} cases{against}"
            return self._one(good, [words, *details], open_, clear == len(ratios))
        return self._verdict(held, details, undecided, clear)
