"""One rule by which two cells are called different, at every number of runs.

Two cells are clearly different where their medians differ by at least the gap of their machines' noise
(`noise.Noise.gap`) *and* a t test of the logarithms of their runs has p of at most `SIGNIFICANT`. Each cell has its
own variance, drawn towards what is known of such machines (Smyth 2004; see `noise`), as in Welch's test, and the test
has the degrees of freedom of the cell of which less is known: with many runs it is nearly Welch's test; with one it
asks whether the gap is beyond what the known noise makes of two runs, and where nobody knows the noise of such
machines it decides nothing.
Between two machines the spread of machines of one kind is counted besides. A page errs family-wise: of `FALSE_PAGES` of
pages any two cells that are alike are called different, however many others there are (Holm, 1979).

Tried beside it: a gap of 5 % alone calls identical cells different in 64 % of cases at one run; Mann and Whitney's test
finds a gap of 20 % less often at six runs (53 %), and below six runs on each side cannot reach p = .005 at all; one
variance for both cells calls cells of unlike noise different in up to 59 %; a false discovery rate in place of a
family-wise error lets the many cells that differ vouch for those that do not (42 % of pages).
docs/measuring.md has what the rule does on noise that is known.

Distributions are those functions of `scipy.special` on which `scipy.stats` is built: the same bits, without a tenth of
a millisecond of checks in each comparison and half a second of importing in each process of a study.
"""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import exp, inf, nan
from typing import Any

import numpy as np
import pandas as pd
from scipy import special

from scripts.analysis import noise
from scripts.analysis.noise import Noise
from scripts.analysis.validators import OTHER_CPU_PERCENT
from scripts.costs import outcomes
from scripts.storage.axes import CELL

#: The highest p of cells that are clearly different; with few runs, which two humps make alike by chance, a lower one.
SIGNIFICANT = 0.002
SIGNIFICANT_OF_FEW = {1: 0.0005, 2: 0.0005}
FALSE_PAGES = 0.05

#: The level of a page of which every run was disturbed by other work on its machine: no p is as low.
WITHHELD = -1.0

#: With fewer runs on a side, what is not clearly different has too few runs.
FEW_RUNS = 4

#: Cells that may have won are named up to so many, then counted.
_NAMED = 3

#: From so many runs on each side a probability is given.
ENOUGH_RUNS = 6

LESS, MORE, TIED = "less", "more", "tie"

#: Why two cells are not clearly different, and in words: they are the same or too close, or nothing could decide.
EQUAL, TOO_CLOSE, TOO_FEW, DISTURBED = "equal", "too close to call", "too few runs", "disturbed runs"
_WHY = {EQUAL: "equal", TOO_CLOSE: "too close to call", TOO_FEW: "too few runs", DISTURBED: "all runs disturbed"}

#: What would show which is better.
_SETTLED = {
    DISTURBED: "runs that nothing disturbs",
    TOO_FEW: f"{FEW_RUNS} runs or more of each",
    TOO_CLOSE: "more runs of each, on several machines of a kind",
}

#: The logarithm of a ratio that is as good as infinite.
_LARGEST = 700.0

#: More pairs of cells than these are drawn at random for the level of a page.
_PAIRS = 200_000


@dataclass(frozen=True)
class Comparison:
    """Two cells compared: the ratio of their medians, its 95 % interval, p, runs of the smaller side, and the word."""

    ratio: float
    low: float
    high: float
    p: float
    runs: int
    word: str

    @property
    def is_clear(self) -> bool:
        """Whether the two are clearly different."""
        return self.word in (LESS, MORE)

    @property
    def mark(self) -> str:
        """What stands beside the ratio: empty where the two are clearly different."""
        if self.word == TOO_FEW:
            return f"{TOO_FEW}: {self.runs}"
        return "" if self.is_clear else self.word


@dataclass(frozen=True)
class Judge:
    """Compares the cells of a page by its noise; `level` is the highest p at which two are clearly different.

    `noises` are those of the page's machines, `hosts` what each ran on: the same for parts of one machine, empty where
    all are one. `noise` is that of values of which no machine is named. `sittings` are the variance of the difference
    of two cells that were measured in different ones, and its degrees of freedom: None where all take turns.
    """

    noise: Noise
    level: float = SIGNIFICANT
    noises: Mapping[str, Noise] = field(default_factory=dict)
    hosts: Mapping[str, Hashable] = field(default_factory=dict)
    sittings: tuple[float, float] | None = None

    @classmethod
    def of(cls, runs: pd.DataFrame) -> "Judge":
        """Return the judge of a page with these runs: of its machines' noise, and of how many cells it compares."""
        judge = cls.of_machines(runs)
        disturbed = _timed(runs)["other_cpu_percent"] > OTHER_CPU_PERCENT
        if len(disturbed) and disturbed.fillna(False).all():
            return replace(judge, level=WITHHELD)
        return replace(judge, level=min(SIGNIFICANT, judge.level_of(runs)))

    @classmethod
    def of_machines(cls, runs: pd.DataFrame) -> "Judge":
        """Return the judge of two cells among these runs."""
        noises = noise.of_runs(runs)
        # Of nothing that is known, nothing is said; of what is known, the noisiest.
        common = min(noises.values(), key=lambda one: (one.degrees > 0, -one.variance), default=noise.UNKNOWN)
        return cls(common, SIGNIFICANT, noises, _hosts(runs))

    def of_values(self, cells: Iterable[Any]) -> "Judge":
        """Return the judge of values that are no times, such as accuracies: by their own noise, or of nothing."""
        own = noise.pooled([values for values in cells if min(values) > 0], "its own runs")
        return Judge(own or noise.UNKNOWN, self.level)

    def compare(self, a: Any, b: Any, machines: tuple[str, str] | None = None) -> Comparison:
        """Compare the values of the runs of two cells: times, costs or rates. Neither may be empty.

        `machines` (`hardware`) are those of the two cells; without them both are of one.
        """
        first, second = _values(a), _values(b)
        fewest = min(len(first), len(second))
        if min(first.min(), second.min()) <= 0 or not np.isfinite([*first, *second]).all():
            return _without_logarithm(float(np.median(first)), float(np.median(second)), fewest)
        ratio = float(np.median(first) / np.median(second))
        logs = np.log(first), np.log(second)
        gap = float(logs[0].mean() - logs[1].mean())
        error, degrees = self.error(logs, machines)
        if not degrees:
            return Comparison(ratio, 0.0, inf, 1.0, fewest, self.reason(fewest))
        p = 2 * float(special.stdtr(degrees, -abs(gap) / error)) if error else float(gap == 0)
        reach = float(special.stdtrit(degrees, 0.975)) * error
        low, high = min(ratio, exp(gap - reach)), max(ratio, exp(gap + reach))
        least = self._gap(machines)
        if max(ratio, 1 / ratio) >= 1 + least and p <= self._highest(fewest) and (ratio < 1) == (gap < 0):
            word = LESS if ratio < 1 else MORE
        elif low > 1 / (1 + least) and high < 1 + least:
            word = TIED
        else:
            word = self.reason(fewest)
        return Comparison(ratio, low, high, p, fewest, word)

    def reach(self, a: Any, b: Any, machines: tuple[str, str] | None = None) -> tuple[float, float]:
        """Return between which ratios a/b lies, as surely as two cells of this page are called different.

        From 0 to infinity where nothing is known.
        """
        first, second = _values(a), _values(b)
        if min(first.min(), second.min()) <= 0 or not np.isfinite([*first, *second]).all():
            return 0.0, inf
        logs = np.log(first), np.log(second)
        error, degrees = self.error(logs, machines)
        if not degrees or self.level <= 0:
            return 0.0, inf
        ratio, middle = float(np.median(first) / np.median(second)), float(logs[0].mean() - logs[1].mean())
        around = float(special.stdtrit(degrees, 1 - self._highest(min(len(first), len(second))) / 2)) * error
        return min(ratio, exp(middle - around)), max(ratio, exp(min(middle + around, _LARGEST)))

    def wins_below(self, a: Any, b: Any, machines: tuple[str, str] | None = None) -> float:
        """Return at which share of what they are, or less, the values of A are clearly less than those of B.

        With prices that is a share of the price of A's machine. 0 where no share is known.
        """
        high = self.reach(a, b, machines)[1]
        if high == inf:
            return 0.0
        ratio = float(np.median(_values(a)) / np.median(_values(b)))
        return 1 / max(high, ratio * (1 + self._gap(machines)))

    def _highest(self, fewest: int) -> float:
        """Return the highest p at which cells are clearly different of which one has so few runs."""
        return min(self.level, SIGNIFICANT_OF_FEW.get(fewest, SIGNIFICANT))

    def reason(self, fewest: int) -> str:
        """Return why two cells are not clearly different, one of which has so few runs."""
        return DISTURBED if self.level == WITHHELD else _undecided(fewest)

    def _gap(self, machines: tuple[str, str] | None) -> float:
        return max(self._noise(name).gap for name in machines or ("",))

    def _noise(self, machine: str) -> Noise:
        return self.noises.get(machine, self.noise)

    def error(
        self, logs: Sequence[np.ndarray], machines: tuple[str, str] | None = None, more: float = 0.0
    ) -> tuple[float, float]:
        """Return the standard error of the difference of the means of two cells, and its degrees of freedom.

        `logs` are the logarithms of their runs; `more` is how many runs of each are still to come: with 1 the error is
        that of the difference of two next runs. Infinite, of 0 degrees, where the noise of a cell is not known.
        """
        names = machines or ("", "")
        found = [self._noise(name).variance_of(one) for name, one in zip(names, logs, strict=True)]
        squares = sum(
            variance * (more + 1 / (len(one) if len(one) >= noise.THREE else 1))
            for (variance, _), one in zip(found, logs, strict=True)
        )
        degrees = min(degrees for _, degrees in found)
        if not self._is_one_machine(names):
            variance, of_machines = noise.between_machines()
            squares, degrees = squares + 2 * variance, min(degrees, of_machines)
        if self.sittings:
            squares, degrees = squares + self.sittings[0], min(degrees, self.sittings[1])
        return (squares**0.5, degrees) if degrees else (inf, 0.0)

    def _is_one_machine(self, names: tuple[str, str]) -> bool:
        first, second = (self.hosts.get(name, name) for name in names)
        return not self.hosts or first == second

    def probability_less(
        self, a: Any, b: Any, price: tuple[float, float] = (1, 1), machines: tuple[str, str] | None = None
    ) -> float | None:
        """Return the probability that the next run of A takes less than the next of B, None below `ENOUGH_RUNS`.

        Both on these two machines, as they were when they were measured: what another day does is not known.
        `price` is the lowest and the highest ratio of A's price per hour to B's, each as likely: (1, 1) for times.
        """
        first, second = _values(a), _values(b)
        if min(len(first), len(second)) < ENOUGH_RUNS or min(first.min(), second.min()) <= 0 or min(price) <= 0:
            return None
        logs = np.log(first), np.log(second)
        error, degrees = replace(self, hosts={}).error(logs, machines, more=1)
        ratios = np.log(np.linspace(*price, 41)) if price[0] < price[1] else np.log([price[0]])
        return float(np.mean(special.stdtr(degrees, (logs[1].mean() - logs[0].mean() - ratios) / error)))

    def flattered(self, cells: Sequence[Any], machines: Sequence[str] | None = None, draws: int = 2000) -> float:
        """Return by which share the smallest of several cells is shown too small, as chance helped to choose it.

        A parametric bootstrap: cells as they are seen, seen again with their errors, the smallest chosen again. 0 where
        the noise of a cell is not known.
        """
        names = machines or [""] * len(cells)
        values = [(name, one) for name, one in zip(names, map(_values, cells), strict=True) if one.min() > 0]
        if len(values) < 2:
            return 0.0
        logs = [(name, np.log(one)) for name, one in values]
        means = np.array([one.mean() for _, one in logs])
        errors = np.array([(self._noise(name).variance_of(one)[0] / len(one)) ** 0.5 for name, one in logs])
        if not np.isfinite(errors).all():
            return 0.0
        near = means - means.min() < 6 * errors + 6 * errors[means.argmin()]
        means, errors = means[near], errors[near]
        seen = means + errors * np.random.default_rng(0).standard_normal((draws, len(means)))
        chosen = seen.argmin(axis=1)
        return 1 - exp(float((seen[np.arange(draws), chosen] - means[chosen]).mean()))

    def level_of(self, runs: pd.DataFrame) -> float:
        """Return the highest p at which all pairs of cells of one workload hold the page's error (1 without a pair)."""
        timed = _timed(runs)
        cells = timed[CELL].drop_duplicates()["workload"]
        several = timed[timed["workload"].isin(cells[cells.duplicated()])]
        found = [self._p_values(group) for _, group in several.groupby("workload")]
        pairs = sum(count for count, _ in found)
        return family_wise(np.concatenate([np.empty(0), *(p_values for _, p_values in found)]), pairs)

    def _p_values(self, runs: pd.DataFrame) -> tuple[int, np.ndarray]:
        """Return how many pairs the cells are, and p of each, or of `_PAIRS` of them."""
        groups = runs.groupby(CELL, sort=False, dropna=False)["train_seconds"]
        cells = [(str(key[CELL.index("hardware")]), noise.logarithms(values)) for key, values in groups]
        if len(cells) < 2:
            return 0, np.empty(0)
        pairs = len(cells) * (len(cells) - 1) // 2
        first, second = np.triu_indices(len(cells), 1) if pairs <= _PAIRS else _drawn(len(cells))
        means = np.array([one.mean() for _, one in cells])
        variances, degrees = np.array([self._noise(name).variance_of(one) for name, one in cells]).T
        squares = variances / [len(one) if len(one) >= noise.THREE else 1 for _, one in cells]
        machines = [self.hosts.get(name, name) for name, _ in cells]
        codes = np.unique([machines.index(one) for one in machines], return_inverse=True)[1]
        between, of_machines = noise.between_machines()
        apart = (codes[first] != codes[second]) & bool(self.hosts)
        of_pair = np.minimum(degrees[first], degrees[second])
        of_pair = np.where(apart, np.minimum(of_pair, of_machines), of_pair)
        errors = np.sqrt(squares[first] + squares[second] + np.where(apart, 2 * between, 0.0))
        known = of_pair > 0
        ratio = np.abs(means[first] - means[second])[known] / errors[known]
        p_values = np.ones(len(first))
        p_values[known] = 2 * special.stdtr(of_pair[known], -ratio)
        return pairs, p_values

    @cached_property
    def words(self) -> str:
        """The rule and its noise, for a page."""
        if self.level == WITHHELD:
            return f"{OTHER_CPU_PERCENT} % of a core or more of other work disturbed every run: nothing is decided."
        names = dict.fromkeys(self.noises.values()) or {self.noise: None}
        found = [
            f"{one.percent:.2g} % a run, gaps from {100 * one.gap:.2g} % ({one.of}: {one.runs} runs of {one.cells} "
            "configurations)"
            if one.degrees
            else "not known for some machines, whose configurations are judged by their own runs alone"
            for one in names
        ]
        between = ""
        if len(set(self.hosts.values())) > 1:
            spread = 100 * (exp(noise.between_machines()[0] ** 0.5) - 1)
            between = f" Between two machines, {spread:.1f} % are added for how far machines of one kind lie apart."
        return (
            f"Two configurations are clearly different where their medians differ by {100 * self.noise.gap:.2g} % or "
            f"more and a t test, given the noise of both, has p ≤ {self.level:.2g} (less below {FEW_RUNS} runs). At "
            f"most {100 * FALSE_PAGES:g} % of such pages call any two that are alike different. "
            f"Noise: {'; '.join(found)}.{between}"
        )


def family_wise(p_values: np.ndarray, pairs: int) -> float:
    """Return the highest p at which on all but `FALSE_PAGES` of pages no pair alike is called different (Holm 1979).

    `p_values` are those of all pairs, or of as many as were drawn from them; 1 without any.
    """
    if not len(p_values):
        return 1.0
    left = pairs - np.arange(len(p_values)) * (pairs / max(len(p_values), 1))
    failed = np.flatnonzero(np.sort(p_values) > FALSE_PAGES / left)
    rejected = failed[0] if len(failed) else len(p_values) - 1
    return float(FALSE_PAGES / left[rejected])


def _hosts(runs: pd.DataFrame) -> dict[str, Hashable]:
    """Return by machine of a study (`hardware`) what it ran on: the same for two that are parts of one machine."""
    found: dict[str, Hashable] = {}
    for name, rows in runs.groupby("hardware", sort=False):
        models = rows[["cpu_model", "gpu_model", "machine_cores", "machine_memory_mib"]].drop_duplicates()
        is_known = len(models) and not models["cpu_model"].isna().any()
        found[str(name)] = tuple(sorted(map(str, models.itertuples(index=False)))) if is_known else str(name)
    return found


def _timed(runs: pd.DataFrame) -> pd.DataFrame:
    seconds = runs["train_seconds"].astype(float)
    return runs[(runs["status"] == "done") & (seconds > 0) & (seconds < inf)]


def _drawn(cells: int) -> tuple[np.ndarray, np.ndarray]:
    """Return pairs of different cells, drawn at random and the same in each call."""
    draw = np.random.default_rng(0)
    first = draw.integers(cells, size=_PAIRS)
    return first, (first + draw.integers(1, cells, size=_PAIRS)) % cells


def _values(values: Any) -> np.ndarray:
    array = np.asarray(values, dtype=float).ravel()
    known: np.ndarray = array[~np.isnan(array)]
    return known


def _undecided(runs: int) -> str:
    return TOO_CLOSE if runs >= FEW_RUNS else TOO_FEW


def _without_logarithm(first: float, second: float, runs: int) -> Comparison:
    """Compare medians where some value has no logarithm: what is free costs less than what is not, of others none."""
    if first == second == 0:
        return Comparison(1.0, nan, nan, 1.0, runs, TIED)
    if min(first, second) == 0:
        return Comparison(first / second if second else inf, nan, nan, 0.0, runs, MORE if first else LESS)
    ratio = first / second if second else nan
    return Comparison(ratio, nan, nan, 1.0, runs, _undecided(runs))


def undecided(
    judge: Judge, winner: Any, others: Iterable[Any], machines: Sequence[str] | None = None
) -> dict[int, str]:
    """Return which of `others` are not clearly different from the winner, and why: without any it has won.

    One far behind may be among them: with too few runs, or as too noisy; one that is known to lie within the least gap
    is too close, however few its runs are. `machines` are those of the winner and of each other.
    """
    compared = [
        judge.compare(values, winner, (machines[1 + place], machines[0]) if machines else None)
        for place, values in enumerate(others)
    ]
    return {
        place: judge.reason(FEW_RUNS) if one.word == TIED else one.word
        for place, one in enumerate(compared)
        if not one.is_clear
    }


def why(reasons: Iterable[str]) -> str:
    """Return in words why cells are not clearly different, of the reasons of `undecided`; empty without any."""
    found = set(reasons)
    return " or ".join(words for reason, words in _WHY.items() if reason in found)


def won(names: Sequence[str], does: str, of: int, reasons: Iterable[str], alike: str = "") -> str:
    """Return in words which of `of` cells has won: "A costs least"; else that nobody can say, and a few by name.

    `names` are the winner and those that are `undecided` from it, for these `reasons`; `alike` is what they do where
    all are `EQUAL`.
    """
    if len(names) == 1:
        return f"{names[0]} {does}"
    found = set(reasons)
    if found == {EQUAL}:
        return f"{len(names)}{f' of {of}' if len(names) < of else ''} {alike}"
    unsure = why(found) + (": nobody can say" if DISTURBED in found else " to say" if TOO_FEW in found else "")
    unsure = f"{unsure[:1].upper()}{unsure[1:]} which"
    if len(names) <= _NAMED and len(names) < of:
        return f"{unsure} {does}: {' or '.join(names)}"
    return f"{unsure} of {len(names)}{f' (of {of})' if len(names) < of else ''} {does}"


def clear_axes(axes: Mapping[str, tuple[str, int, int]]) -> str:
    """Return in a sentence which axes of cells are clear, and which open, where several cells may have won.

    By axis ("machine"): a value, how many values those have that may have won, and how many all have. Empty where none
    is clear, as where all have one value.
    """
    known = [f"{axis} is clear ({name})" for axis, (name, tied, of) in axes.items() if tied == 1 < of]
    if not known:
        return ""
    unknown = [f"{axis} is open" for axis, (_, tied, _) in axes.items() if tied > 1] or ["settings are open"]
    return f" The {', the '.join(known + unknown)}."


def settled_by(reasons: Iterable[str]) -> str:
    """Return what would show which of cells is better that are not clearly different, for these reasons."""
    found = set(reasons)
    return next((words for reason, words in _SETTLED.items() if reason in found), _SETTLED[TOO_CLOSE])


def front(
    judge: Judge, seconds: Sequence[Any], costs: Sequence[Any], machines: Sequence[str] | None = None
) -> list[bool]:
    """Return which cells are not clearly beaten in both time and cost: no other is surely faster and no dearer, or
    surely cheaper and no slower.

    `seconds` and `costs` hold the values of the runs of each cell, `machines` where it ran.
    """
    middles = [
        (float(np.median(_values(time))), float(np.median(_values(cost))))
        for time, cost in zip(seconds, costs, strict=True)
    ]
    fastest = outcomes.pareto_front([time for time, _ in middles], [cost for _, cost in middles])
    best = [i for i, on_front in enumerate(fastest) if on_front]

    def is_beaten(one: int) -> bool:
        for other in best:
            pair = (machines[other], machines[one]) if machines else None
            no_worse = [middles[other][axis] <= middles[one][axis] for axis in (0, 1)]
            if no_worse[1] and judge.compare(seconds[other], seconds[one], pair).word == LESS:
                return True
            if no_worse[0] and judge.compare(costs[other], costs[one], pair).word == LESS:
                return True
        return False

    return [bool(on_front) or not is_beaten(one) for one, on_front in enumerate(fastest)]
