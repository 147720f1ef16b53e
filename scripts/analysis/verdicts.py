"""One rule by which two cells are told apart, at every number of runs.

Two cells are told apart where their medians differ by at least `GAP` *and* a moderated t test of the logarithms of
their runs (Smyth 2004; see `noise`) has p of at most `SIGNIFICANT`. With many runs it is nearly Student's test; with
one it asks whether the gap is beyond what the known noise makes of two runs. Where a page compares many cells, p must
also stand among all of them: the false discovery rate of the page is held at `FALSE_DISCOVERIES` (Benjamini and
Hochberg, 1995).

Tried beside it: a gap of 5 % alone calls identical cells different in 64 % of cases at one run; Mann and Whitney's test
finds a gap of 20 % less often at six runs (53 %), and below six runs on each side cannot reach p = .005 at all.
docs/measuring.md has what the rule does on noise that is known.

Distributions are those functions of `scipy.special` on which `scipy.stats` is built: the same bits, without a tenth of
a millisecond of checks in each comparison and half a second of importing in each process of a study.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import exp, inf, nan
from typing import Any

import numpy as np
import pandas as pd
from scipy import special

from scripts.analysis import noise
from scripts.analysis.noise import Noise
from scripts.costs import outcomes
from scripts.storage.axes import CELL
from scripts.storage.numbers import TIE

#: The least gap that is told, of medians.
GAP = TIE

#: The highest p at which two cells are told apart; with few runs, which two humps make alike by chance, a lower one.
SIGNIFICANT, SIGNIFICANT_OF_FEW = 0.005, 0.002
FALSE_DISCOVERIES = 0.05

#: Below so many runs on a side, what is not told apart is said to have too few.
FEW_RUNS = 4

#: From so many runs on each side a probability is told.
ENOUGH_RUNS = 6

LESS, MORE, TIED, NOT_TOLD, TOO_FEW = "less", "more", "tie", "not told apart", "too few to tell"

#: More pairs of cells than these are drawn at random for the false discovery rate.
_PAIRS = 200_000


@dataclass(frozen=True)
class Comparison:
    """Two cells compared: the ratio of their medians, its 95 % interval, p, the fewest runs of a side, and the word."""

    ratio: float
    low: float
    high: float
    p: float
    runs: int
    word: str

    @property
    def told(self) -> bool:
        """Whether the two are told apart."""
        return self.word in (LESS, MORE)

    @property
    def mark(self) -> str:
        """What stands beside the ratio: empty where the two are told apart."""
        if self.word == TOO_FEW:
            return f"{self.runs} run{'s' if self.runs > 1 else ''}: {TOO_FEW}"
        return "" if self.told else self.word


@dataclass(frozen=True)
class Judge:
    """Compares the cells of a page by its noise; `level` is the highest p at which two are told apart."""

    noise: Noise
    level: float = SIGNIFICANT

    @classmethod
    def of(cls, runs: pd.DataFrame) -> "Judge":
        """Return the judge of a page with these runs: of its noise, and of how many cells it compares."""
        judge = cls(noise.of_runs(runs))
        return cls(judge.noise, min(SIGNIFICANT, judge._level(runs)))

    def of_values(self, cells: Iterable[Any]) -> "Judge":
        """Return the judge of values that are no times, such as accuracies: by their own noise, or of nothing."""
        own = noise.pooled([values for values in cells if min(values) > 0], "its own runs")
        return Judge(own or Noise(inf, inf, 0, 0, "no run"), self.level)

    def compare(self, a: Any, b: Any) -> Comparison:
        """Compare the values of the runs of two cells: times, costs or rates. Neither may be empty."""
        first, second = _values(a), _values(b)
        fewest = min(len(first), len(second))
        if min(first.min(), second.min()) <= 0 or not np.isfinite([*first, *second]).all():
            return _without_logarithm(float(np.median(first)), float(np.median(second)), fewest)
        ratio = float(np.median(first) / np.median(second))
        logs = np.log(first), np.log(second)
        gap, error, degrees = self._gap(*logs)
        p = 2 * float(special.stdtr(degrees, -abs(gap) / error)) if error else float(gap == 0)
        reach = float(special.stdtrit(degrees, 0.975)) * error
        low, high = min(ratio, exp(gap - reach)), max(ratio, exp(gap + reach))
        level = self.level if fewest >= FEW_RUNS else min(self.level, SIGNIFICANT_OF_FEW)
        if max(ratio, 1 / ratio) >= 1 + GAP and p <= level and (ratio < 1) == (gap < 0):
            word = LESS if ratio < 1 else MORE
        elif low > 1 / (1 + GAP) and high < 1 + GAP:
            word = TIED
        else:
            word = NOT_TOLD if fewest >= FEW_RUNS else TOO_FEW
        return Comparison(ratio, low, high, p, fewest, word)

    def _gap(self, first: np.ndarray, second: np.ndarray) -> tuple[float, float, float]:
        """Return the difference of the means of logarithms, its standard error and degrees of freedom."""
        variance, degrees = self.noise.variance_of(first, second)
        error = (variance * (1 / len(first) + 1 / len(second))) ** 0.5
        return float(first.mean() - second.mean()), error, degrees

    def probability_less(self, a: Any, b: Any, price: tuple[float, float] = (1, 1)) -> float | None:
        """Return the probability that the next run of A takes less than the next of B, None below `ENOUGH_RUNS`.

        `price` is the lowest and the highest ratio of A's price per hour to B's, each as likely: (1, 1) for times.
        """
        first, second = _values(a), _values(b)
        if min(len(first), len(second)) < ENOUGH_RUNS or min(first.min(), second.min()) <= 0 or min(price) <= 0:
            return None
        logs = np.log(first), np.log(second)
        variance, degrees = self.noise.variance_of(*logs)
        error = (variance * (2 + 1 / len(first) + 1 / len(second))) ** 0.5
        ratios = np.log(np.linspace(*price, 41)) if price[0] < price[1] else np.log([price[0]])
        return float(np.mean(special.stdtr(degrees, (logs[1].mean() - logs[0].mean() - ratios) / error)))

    def flattered(self, cells: Sequence[Any], draws: int = 2000) -> float:
        """Return by which share the smallest of several cells is shown too small, as chance helped to choose it.

        A parametric bootstrap: cells as they are seen, seen again with their errors, the smallest chosen again.
        """
        logs = [np.log(values) for values in map(_values, cells) if values.min() > 0]
        if len(logs) < 2:
            return 0.0
        means = np.array([one.mean() for one in logs])
        errors = np.array([(self.noise.variance_of(one)[0] / len(one)) ** 0.5 for one in logs])
        near = means - means.min() < 6 * errors + 6 * errors[means.argmin()]
        means, errors = means[near], errors[near]
        seen = means + errors * np.random.default_rng(0).standard_normal((draws, len(means)))
        chosen = seen.argmin(axis=1)
        return 1 - exp(float((seen[np.arange(draws), chosen] - means[chosen]).mean()))

    def _level(self, runs: pd.DataFrame) -> float:
        """Return the highest p that is a discovery among all pairs of cells of one workload (1 without a pair)."""
        found = np.concatenate([np.empty(0), *(self._p_values(group) for _, group in _timed(runs).groupby("workload"))])
        if not len(found):
            return 1.0
        return max(discovered(found), FALSE_DISCOVERIES / len(found))

    def _p_values(self, runs: pd.DataFrame) -> np.ndarray:
        groups = runs.groupby(CELL, sort=False, dropna=False)["train_seconds"]
        logs = [noise.logarithms(values) for _, values in groups]
        if len(logs) < 2:
            return np.empty(0)
        first, second = np.triu_indices(len(logs), 1) if len(logs) ** 2 < 2 * _PAIRS else _drawn(len(logs))
        counts = np.array([len(one) for one in logs])
        means = np.array([one.mean() for one in logs])
        squares = np.array([((one - one.mean()) ** 2).sum() for one in logs])
        degrees = counts[first] + counts[second] - 2
        variance = np.full(len(first), self.noise.variance)
        if self.noise.degrees < inf:
            prior = self.noise.degrees
            variance = (prior * self.noise.variance + squares[first] + squares[second]) / (prior + degrees)
        errors = np.sqrt(variance * (1 / counts[first] + 1 / counts[second]))
        return 2 * special.stdtr(self.noise.degrees + degrees, -np.abs(means[first] - means[second]) / errors)

    @cached_property
    def words(self) -> str:
        """The rule and its noise, for a page."""
        return (
            f"Two cells are told apart where their medians differ by {GAP:.0%} or more and a moderated t test has "
            f"p ≤ {self.level:.2g} ({min(self.level, SIGNIFICANT_OF_FEW):.2g} below {FEW_RUNS} runs). "
            f"Its noise, {self.noise.percent:.0f} % a run, is pooled from {self.noise.of}: "
            f"{self.noise.runs} runs of {self.noise.cells} cells."
        )


def discovered(p_values: np.ndarray) -> float:
    """Return the highest p that is a discovery (Benjamini and Hochberg 1995), 0 where none is."""
    ordered = np.sort(p_values)
    adjusted = ordered * (len(ordered) / np.arange(1, len(ordered) + 1))
    return float(ordered[adjusted <= FALSE_DISCOVERIES].max(initial=0))


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
    return array[~np.isnan(array)]


def _without_logarithm(first: float, second: float, runs: int) -> Comparison:
    """Compare medians where some value has no logarithm: what is free costs less than what is not, of others none."""
    if first == second == 0:
        return Comparison(1.0, nan, nan, 1.0, runs, TIED)
    if min(first, second) == 0:
        return Comparison(first / second if second else inf, nan, nan, 0.0, runs, MORE if first else LESS)
    ratio = first / second if second else nan
    return Comparison(ratio, nan, nan, 1.0, runs, NOT_TOLD if runs >= FEW_RUNS else TOO_FEW)


def not_told(judge: Judge, winner: Any, others: Iterable[Any]) -> tuple[list[int], list[int]]:
    """Return which of `others`, best first, are not told apart from the winner: before the first that is, and after.

    Those after it are too noisy to tell: they are shown as worse than a cell that is surely worse than the winner.
    """
    near: list[int] = []
    behind: list[int] = []
    is_passed = False
    for place, values in enumerate(others):
        if judge.compare(values, winner).told:
            is_passed = True
        else:
            (behind if is_passed else near).append(place)
    return near, behind


def front(judge: Judge, seconds: Sequence[Any], costs: Sequence[Any]) -> list[bool]:
    """Return which cells no other is told apart from as better: none is surely faster and no dearer, or surely cheaper
    and no slower. `seconds` and `costs` hold the values of the runs of each cell.
    """
    middles = [
        (float(np.median(_values(time))), float(np.median(_values(cost))))
        for time, cost in zip(seconds, costs, strict=True)
    ]
    fastest = outcomes.pareto_front([time for time, _ in middles], [cost for _, cost in middles])
    best = [i for i, on_front in enumerate(fastest) if on_front]

    def is_beaten(one: int) -> bool:
        for other in best:
            no_worse = [middles[other][axis] <= middles[one][axis] for axis in (0, 1)]
            if no_worse[1] and judge.compare(seconds[other], seconds[one]).word == LESS:
                return True
            if no_worse[0] and judge.compare(costs[other], costs[one]).word == LESS:
                return True
        return False

    return [bool(on_front) or not is_beaten(one) for one, on_front in enumerate(fastest)]
