"""Checks what somebody says of a study's figures against its tables. Pure.

A claim of a study's config has the words (`says`) and a check:

- `less`, `more`: in each pair of a cell that matches `cell` and one that matches `than`, `by` is less, or more: at all,
  by more than a `factor`, some `times`, or as a `word` is read (`readings`). A pair agrees in the workload and in
  everything that neither selection names. Without `than` a cell is compared with itself at another price
  (`than_price`); `pairs` names machines instead; `than_study` is where the other side is measured.
- `same`: in each such pair, the runs do not tell the two apart; with too few runs to tell anything it is undecided.
- `alike`: in each such pair, both are on the same side of the base cell of their workload: faster (cheaper) or not, as
  one reads two charts with a dashed line at 1.00x; `by` is `relative_time` or `relative_cost`.
- `ratio`: in each such pair, or with `median` in their median, cell over than lies `between` two numbers, or is as near
  as a `word` asks for. With `often` a share of the pairs is enough, here and above.
- `best`, `never_best`: in each workload, a cell that matches `cell` has the smallest `by` of all, or has not.
- `front`: in each workload, no other cell is both faster and cheaper than a cell that matches `cell`.
- `unchecked`: nothing here can tell; `note` says why.
- `figure`: each figure that is named, or its ratio to the figure `over`, is the `printed` one, `within` its rounding,
  or lies `between` two numbers.

Two sides that both name a workload are compared across workloads; `relative_time` and `relative_cost` (over the base
cell of the same workload, as the charts of these names) can be.

Where two measured values are compared, runs may not tell them apart (`verdicts`): then the case is undecided. What an
article says of single runs of its own is checked on these figures, as they cannot carry more, and worded so. `factor`,
`times`, `word` and `between` are limits that somebody chose. A case in which a cell takes part whose log the audit
doubts is marked with a dagger.
"""

from collections.abc import Container, Mapping
from dataclasses import dataclass
from statistics import median
from typing import Any

import numpy as np
import pandas as pd

from scripts.analysis import readings, verdicts
from scripts.analysis.claim_verdict import DAGGER, Verdict
from scripts.analysis.names import FRAMEWORK_NAMES, workload_name
from scripts.analysis.verdicts import FEW_RUNS, TOO_FEW, Judge
from scripts.costs import outcomes
from scripts.storage.errors import InputError
from scripts.storage.numbers import number
from scripts.storage.tables import CELL, records

#: What is as noisy as the time of a run.
_TIMED = ("train_seconds", "samples_per_second", "cost_usd", "billed_usd", "usd_per_million_samples", "usd_per_hour")

#: What the charts of these names show: a cell's value over that of the study's base cell in the same workload.
RELATIVE = {"relative_time": "train_seconds", "relative_cost": "cost_usd"}

_COSTS = ("cost_usd", "billed_usd", "usd_per_million_samples", "usd_per_hour")

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

#: What is compared, in words.
_NOUNS = {
    "train_seconds": "time",
    "published_seconds": "time",
    "total_seconds": "time",
    "samples_per_second": "samples/s",
    "cost_usd": "cost",
    "usd_per_million_samples": "cost",
    "seconds_usd": "time × cost",
    "val_acc": "accuracy",
}

#: Time and cost in one figure, in which a percent of either weighs alike: seconds x dollars of a training.
BALANCE = "seconds_usd"


@dataclass(frozen=True)
class Other:
    """Another study that a claim compares with: its tables, and the price option it shows."""

    title: str
    runs: pd.DataFrame
    costs: pd.DataFrame
    price: str


def _values(by: str, price: str, runs: pd.DataFrame, costs: pd.DataFrame) -> pd.DataFrame:
    """Return one row per cell with `value`, the median of `by` over its runs, and `points`, those of the runs.

    `by` is a column of costs or runs, or `BALANCE`. Cells without a value are left out.
    """
    of_cost = by in _COSTS or by == BALANCE
    rows = costs[costs["price_option"] == price] if of_cost else runs[runs["status"] == "done"]
    if by == BALANCE:
        rows = rows.assign(**{BALANCE: rows["useful_seconds"] * rows["cost_usd"]})
    if by not in rows or not pd.api.types.is_numeric_dtype(rows[by]):
        known = ", ".join([*_COSTS, BALANCE, *RELATIVE])
        raise InputError(f"claims: by: {by!r} is unknown: it is one of {known}, or a column of runs")
    runs_of = rows.dropna(subset=by).groupby(CELL, sort=False, dropna=False)[by]
    cells = runs_of.agg(value="median", points=list).reset_index()
    return cells.dropna(subset="value").reset_index(drop=True)


def _over_base(by: str, price: str, study: Mapping[str, Any], runs: pd.DataFrame, costs: pd.DataFrame) -> pd.DataFrame:
    """Return `_values` of a name of `RELATIVE`, over the base cell's; `base_points` are that cell's over its median.

    The base cell itself is left out, and so is a workload without one, or whose base is free.
    """
    if "base" not in study:
        raise InputError(f"claims: by: {by!r} is over the base cell, and the study has no base")
    cells = _values(RELATIVE[by], price, runs, costs)
    base = _select(cells[cells["value"] > 0], study["base"]).drop_duplicates("workload")
    both = cells[~cells.index.isin(base.index)].merge(base, on="workload", suffixes=("", "_base"))
    for name in ("points", "points_base"):
        both[name] = [
            [float(point) / over for point in points]
            for points, over in zip(both[name], both["value_base"].astype(float), strict=True)
        ]
    both["value"] = both["value"].astype(float) / both["value_base"].astype(float)
    return both.rename(columns={"points_base": "base_points"})[[*cells, "base_points"]]


def _listed(names: Any) -> list[Any]:
    return names if isinstance(names, list) else [names]


def _select(cells: pd.DataFrame, where: Mapping[str, Any]) -> pd.DataFrame:
    chosen = pd.Series(True, index=cells.index)
    for axis, names in where.items():
        chosen &= cells[axis].isin(_listed(names))
    return cells[chosen]


def _cell_words(row: Mapping[str, Any], labels: Mapping[str, str]) -> str:
    words = [labels.get(row["hardware"], row["hardware"]), FRAMEWORK_NAMES.get(row["framework"], row["framework"])]
    words += [
        row[axis]
        for axis, plain in (("mode", "stock"), ("precision", "float32"))
        if pd.notna(row[axis]) and row[axis] != plain
    ]
    return " ".join(words)


def _sides(pair: Mapping[str, Any], theirs: Mapping[str, Any], labels: Mapping[str, str]) -> tuple[str, str]:
    """Return the names of two cells, with the batch sizes and devices in which they differ."""
    names = [_cell_words(cell, labels) for cell in (pair, theirs)]
    for axis, words in (("batch_size", "batch {}"), ("devices", "{} devices")):
        if pair[axis] != theirs[axis] and pd.notna(pair[axis]) and pd.notna(theirs[axis]):
            names = [f"{name} {words.format(cell[axis])}" for name, cell in zip(names, (pair, theirs), strict=True)]
    return names[0], names[1]


def _across(claim: Mapping[str, Any]) -> bool:
    """Return whether a claim compares one workload with another."""
    return all("workload" in claim.get(side, {}) for side in ("cell", "than"))


def _pairs(claim: Mapping[str, Any], left: pd.DataFrame, right: pd.DataFrame) -> pd.DataFrame:
    if "pairs" in claim:
        pairs = pd.DataFrame(claim["pairs"], columns=["hardware", "hardware_than"])
        both = left.merge(right, on=[axis for axis in CELL if axis != "hardware"], suffixes=("", "_than"))
        return both.merge(pairs, on=["hardware", "hardware_than"])
    if _across(claim):  # each workload has a batch size of its own
        return left.merge(
            right, on=[axis for axis in CELL if axis not in ("workload", "batch_size")], suffixes=("", "_than")
        )
    named = {*claim["cell"], *claim["than"]} if "than" in claim else set()
    same = [axis for axis in CELL if axis == "workload" or axis not in named]
    return left.merge(right, on=same, suffixes=("", "_than"))


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
    if claim["check"] == "alike" and claim["by"] not in RELATIVE:
        raise InputError(f"claims: by: {claim['by']!r} is not for check alike: it is one of {', '.join(RELATIVE)}")
    for key in ("price", "than_price"):
        if key in claim and claim[key] not in study["prices"]:
            known = ", ".join(study["prices"])
            raise InputError(f"claims: {key}: {claim[key]!r} is unknown: it is one of {known}")
    theirs = others[claim["than_study"]].runs if "than_study" in claim else runs
    sides = (("among", runs), ("cell", runs), ("than", theirs))
    given = [
        (key, axis, name, there)
        for key, there in sides
        for axis, names in claim.get(key, {}).items()
        for name in _listed(names)
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

    `judge` tells cells apart; `doubted` holds (workload, hardware, framework) of the cells whose logs the audit doubts;
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
        return _over_base(by, price, study, runs, costs) if by in RELATIVE else _values(by, price, runs, costs)

    cells = _select(values("cost_usd" if claim["check"] == "front" else claim["by"], price), claim.get("among", {}))
    few = "import" in study and bool((cells["points"].map(len) < FEW_RUNS).all())
    judge = judge if claim.get("by", "cost_usd") in (*_TIMED, *RELATIVE) else judge.of_values(cells["points"])
    other = others[claim["than_study"]] if "than_study" in claim else None
    case = _Case(claim, note, judge, few, labels, doubted, other.title if other else "")
    if claim["check"] == "front":
        return case.front(cells.merge(_values("train_seconds", price, runs, costs), on=CELL, suffixes=("", "_time")))
    if claim["check"] in ("best", "never_best"):
        return case.best(cells)
    if other:
        right = _values(claim["by"], other.price, other.runs, other.costs)
    else:
        right = values(claim["by"], claim.get("than_price", price))
    right = _select(_select(right, claim.get("among", {})), claim.get("than", claim.get("cell", {})))
    return case.pairs(_pairs(claim, _select(cells, claim.get("cell", {})), right))


def _figure(claim: Mapping[str, Any], figures: Mapping[str, float], note: str) -> Verdict:
    names, over = _listed(claim["figure"]), claim.get("over")
    for name in (*names, *_listed(over or [])):
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
        value = figures[name] / (figures[over] if over else 1)
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

    def _verdict(self, held: int, details: list[str], undecided: int = 0, told: int = 0) -> Verdict:
        by_figures = self.few and self._measured
        return Verdict(
            self.claim["says"], held, len(details), details, self.note, undecided, by_figures=by_figures, told=told
        )

    def front(self, cells: pd.DataFrame) -> Verdict:
        """Return in how many workloads a cell of the claim is beaten by none (`value`: cost, `value_time`: seconds)."""
        held, details = 0, []
        for workload, group in cells.groupby("workload", sort=False):
            ours = _select(group, self.claim["cell"])
            if ours.empty:
                continue
            if self.few:
                front = group[outcomes.pareto_front(group["value_time"], group["value"])]
            else:
                front = group[verdicts.front(self.judge, list(group["points_time"]), list(group["points"]))]
            good = bool(front.index.isin(ours.index).any())
            held += good
            names = ", ".join(_cell_words(row, self.labels) for row in records(front))
            against = "" if good else " (against)"
            details.append(
                f"{workload_name(str(workload))}: on the front are {names}{against}{self._dagger(*records(front))}"
            )
        return Verdict(self.claim["says"], held, len(details), details, self.note)

    def best(self, cells: pd.DataFrame) -> Verdict:
        """Return in how many workloads a cell of the claim has the smallest value."""
        left = _select(cells, self.claim["cell"])
        wanted = self.claim["check"] == "best"
        held = undecided = told = 0
        details = []
        for workload, group in cells.groupby("workload", sort=False):
            if workload not in set(left["workload"]):
                continue
            values = group["value"].astype(float).to_numpy()
            best = records(group)[int(values.argmin())]
            inside = group.index.isin(left.index)
            ours, theirs = values[inside].min(), values[~inside].min() if (~inside).any() else float("inf")
            points = [list(group["points"])[int(np.where(side, values, np.inf).argmin())] for side in (inside, ~inside)]
            compared = self.judge.compare(*points) if self._measured and (~inside).any() else None
            open_ = compared is not None and not (self.few or compared.told)
            good = not open_ and bool(ours < theirs) == wanted
            held, undecided, told = held + good, undecided + open_, told + (compared is not None and compared.told)
            words = f"is best, {compared.mark}" if compared and open_ else "is best"
            against = "" if good or open_ else " (against)"
            details.append(
                f"{workload_name(str(workload))}: {_cell_words(best, self.labels)} {words}{against}{self._dagger(best)}"
            )
        return self._verdict(held, details, undecided, told)

    def pairs(self, pairs: pd.DataFrame) -> Verdict:
        """Return in how many pairs (`value` and `points` of both sides) the claim holds, or whether in enough."""
        claim, limits = self.claim, readings.limits(self.claim)
        held = undecided = told = 0
        details: list[str] = []
        ratios: list[float] = []
        for pair in records(pairs):
            ratio = float(outcomes.relative(float(pair["value"]), float(pair["value_than"])))
            compared = self.judge.compare(pair["points"], pair["points_than"]) if self._measured else None
            is_told = compared is not None and compared.told
            if claim["check"] == "alike":
                is_told = all(
                    self.judge.compare(pair[f"points{side}"], pair[f"base_points{side}"]).told for side in ("", "_than")
                )
                open_, true = not (self.few or is_told), (pair["value"] < 1) == (pair["value_than"] < 1)
            elif claim["check"] == "same":
                open_ = compared is None or compared.word == TOO_FEW
                true = compared is not None and not compared.told
            elif limits:
                open_, true = False, limits[0] <= ratio <= limits[1]
            else:
                open_ = compared is not None and not (self.few or compared.told)
                true = ratio < 1 if claim["check"] == "less" else ratio > 1
            good = true and not open_
            held, undecided, told = held + good, undecided + open_, told + is_told
            theirs = {axis: pair.get(f"{axis}_than", pair[axis]) for axis in CELL}
            ours, other = _sides(pair, theirs, self.labels)
            sides = f"{ours} {ratio:.2f}× the {_NOUNS.get(claim['by'], claim['by'].replace('_', ' '))} of {other}"
            if claim["by"] in RELATIVE:
                other = "" if ours == other else f"{other} "
                sides = f"{ours} {pair['value']:.2f}× the base, {other}{pair['value_than']:.2f}×"
            sides += f" in {workload_name(theirs['workload'])}" if _across(claim) else ""
            sides += f" in {self.elsewhere!r}" if self.elsewhere else ""
            of_many = claim.get("median") or claim.get("often")
            against = f" ({compared.mark})" if compared and open_ else "" if good or of_many else " (against)"
            details.append(f"{workload_name(pair['workload'])}: {sides}{against}{self._dagger(pair, theirs)}")
            ratios.append(ratio)
        if claim.get("median") and ratios and limits:
            middle = median(ratios)
            good = limits[0] <= middle <= limits[1]
            words = f"the median of {len(ratios)} is {middle:.2f}×{'' if good else ' (against)'}"
            return Verdict(claim["says"], int(good), 1, [words, *details], self.note)
        if claim.get("often") and ratios:
            good = held >= readings.OFTEN * len(ratios)
            words = f"it is so in {held} of {len(ratios)} cases{'' if good else ' (against)'}"
            return Verdict(claim["says"], int(good), 1, [words, *details], self.note)
        return self._verdict(held, details, undecided, told)
