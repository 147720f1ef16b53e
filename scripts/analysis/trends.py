"""How the cells of a scheduled study went over its repetitions: time and cost apart, and where one changed.

What a day does to a machine meets all runs of that day, so that they are no independent witnesses: a cell's value at a
repetition is the median of its runs, and its noise is that between repetitions. A control chart: effects that all
cells of a machine share at a repetition are removed first (`common`), and are a series of their own; of the rest,
variance and correlation from one repetition to the next are estimated over all cells, drawn towards what is assumed of
days where there are few (`noise.days`). A change is a level that lasted `LEAST` repetitions or more after `BEFORE` of
another, where a regression with correlated errors (Cochrane and Orcutt, 1949) puts the two further apart than chance
would in about one place a month of all cells. Places are judged as they come, the last `WINDOW` at a time, so that a
later repetition takes no mark back. What that does on noise that is known: tests/simulation/trends.py.

Tried beside it (tests/simulation/detectors.py), each with known noise and one false alarm a month: levels of 2 to 5
repetitions find 84, 62 and 51 % of steps by 10 % within five at a correlation of 0, .3 and .7, of 4 and 5 alone 88, 65
and 51, for which short levels have a small share of what is marked by chance here; a CUSUM that is tuned to 10 % 81, 59
and 36, an EWMA of .3 72, 47 and 28. What is lost here beside that is lost to noise that must be estimated.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from math import exp, log
from typing import Any

import numpy as np
import pandas as pd
from scipy import special

from scripts.analysis import noise, states
from scripts.storage.axes import CELL
from scripts.storage.numbers import TIE
from scripts.storage.tables import known

#: Repetitions that a level must have lasted: of a single one that is off nobody knows whether it will last; and
#: those before it, of which the level it is held against is made.
LEAST, BEFORE = 2, 5

#: So many repetitions back a change is still looked for.
WINDOW = 5

#: The highest p of a change, over all cells of a machine: about one false mark in thirty repetitions of twelve cells.
#: It is lower where repetitions are correlated: then neighbouring places are more witnesses of their own.
SIGNIFICANT = 0.072

#: Of that a level of so few repetitions has a share: a large step is clear after two, and a small one is found sooner
#: where little of what chance may do is spent on them.
_SHARE = {2: 0.05, 3: 0.25}

#: A repetition, by its place, and the runs of a cell in it.
_Side = tuple[int, pd.DataFrame]

#: From so many cells on an effect is common to them.
_CELLS = 3

#: What is assumed of the correlation of repetitions, with the weight of so many.
_CORRELATION, _WEIGHT = 0.5, 20

#: A cell's own variance is drawn towards that of all, with the weight of so many repetitions.
_ALIKE = 20

#: Of times that are the same to the last digit: a millionth is their noise.
_LEAST_VARIANCE = 1e-12

#: A single day counts as no further from its neighbours than so many standard deviations: a day is no level.
_OUTLIER = 3


@dataclass(frozen=True)
class Repetition:
    """One repetition: what it is called, its runs, and what they cost: by its own books, and by those of today.

    Both tables of costs are those of one price option.
    """

    name: str
    runs: pd.DataFrame
    costs: pd.DataFrame
    today: pd.DataFrame

    @cached_property
    def _places(self) -> dict[str, dict[str, np.ndarray]]:
        return {name: getattr(self, name).groupby("run").indices for name in ("costs", "today")}

    def of(self, table: str, runs: pd.Series) -> pd.DataFrame:
        """Return the rows of some runs in a table of costs: found by their places, as cells are many."""
        places = self._places[table]
        rows = np.sort(np.concatenate([places.get(run, np.empty(0, int)) for run in runs]))
        found: pd.DataFrame = getattr(self, table).iloc[rows]
        return found


@dataclass(frozen=True)
class Change:
    """Where a series changed: the first value after, by which factor, and its 95 % interval."""

    at: int
    ratio: float
    low: float
    high: float


@dataclass(frozen=True)
class Days:
    """What repetitions do to the cells of a machine.

    `common` are the logarithms of what all its cells share at each repetition (0 where they are too few to know it),
    `variance` that of what is left of a usual cell, `correlation` that of it from one repetition to the next. `pairs`
    of neighbouring repetitions, of `cells` cells, are behind them.
    """

    common: np.ndarray
    variance: float
    correlation: float
    pairs: int
    cells: int

    @property
    def percent(self) -> float:
        """The standard deviation of a usual cell between repetitions, in percent of its time."""
        return 100 * (exp(self.variance**0.5) - 1)

    @property
    def level(self) -> float:
        """The highest p at which a change of one cell is marked.

        Of correlation r it is divided by 1 + 7 r - 5.3 r squared, which holds false marks at one a month in the trials.
        """
        correlated = 1 + 7 * self.correlation - 5.3 * self.correlation**2
        return SIGNIFICANT / max(self.cells, 12) / correlated

    def changes(self, logs: np.ndarray) -> list[Change]:
        """Return where a series of logarithms changed, what is common removed."""
        usual = self.variance * (1 - self.correlation)
        steps = len(logs) - 1
        own = float((np.diff(logs) ** 2).mean() / 2) if steps > 0 else usual
        variance = self.variance * (_ALIKE + steps * own / usual) / (_ALIKE + steps) if usual else 0.0
        variance = max(variance, _LEAST_VARIANCE)
        found: list[Change] = []
        start, end = 0, BEFORE + LEAST
        while end <= len(logs):
            change = self._change(logs[start:end], variance)
            if change is None:
                end += 1
            else:
                start += change.at
                found.append(Change(start, change.ratio, change.low, change.high))
                end = max(end + 1, start + BEFORE + LEAST)
        return found

    def _change(self, logs: np.ndarray, variance: float) -> Change | None:
        """Return the most likely change among the last places of a series, if chance makes none as large."""
        kept = 1 - self.correlation
        first = (1 - self.correlation**2) ** 0.5
        count = len(logs)
        level = np.append(first, np.full(count - 1, kept))
        places = np.arange(max(BEFORE, count - WINDOW), count - LEAST + 1)
        after = count - 1 - places
        squares, mixed = 1 + after * kept**2, level[places] + after * kept**2
        of_level = level @ level
        free = squares - mixed**2 / of_level

        def steps_of(series: np.ndarray) -> np.ndarray:
            # Whitened: each value less what the one before makes expect.
            values = np.append(first * series[0], series[1:] - self.correlation * series[:-1])
            behind = np.cumsum(values[::-1])[::-1][places] - values[places]
            found: np.ndarray = (values[places] + kept * behind - mixed * (level @ values) / of_level) / free
            return found

        reach = _OUTLIER * variance**0.5
        steps, errors = steps_of(logs), np.sqrt(variance * (1 - self.correlation**2) / free)
        sure = np.abs(steps_of(_near(logs, reach))) / errors
        asked = -special.ndtri(self.level * np.array([_SHARE.get(int(lasted), 1.0) for lasted in count - places]) / 2)
        clear = (np.abs(steps) >= log(1 + TIE)) & (sure >= asked)
        if not clear.any():
            return None
        best = int(np.argmax(np.where(clear, sure, -1.0)))
        step, around = float(steps[best]), 1.96 * float(errors[best])
        return Change(int(places[best]), exp(step), exp(step - around), exp(step + around))


def _near(logs: np.ndarray, reach: float) -> np.ndarray:
    """Return a series in which no value lies further than a reach from all of its neighbours and the median."""
    middle = np.median(logs)
    padded = np.concatenate([[middle], logs, [middle]])
    beside = [padded[:-2], padded[2:], np.full(len(logs), middle)]
    found: np.ndarray = np.clip(logs, np.min(beside, axis=0) - reach, np.max(beside, axis=0) + reach)
    return found


def judge(repetitions: Sequence[Repetition]) -> dict[str, Days]:
    """Return what repetitions do to the cells of each machine (`hardware`)."""
    series: dict[str, list[np.ndarray]] = {}
    for key, points in _points(repetitions).items():
        logs = np.full(len(repetitions), np.nan)
        for place, rows in points:
            logs[place] = log(rows["train_seconds"].astype(float).median())
        series.setdefault(str(key[CELL.index("hardware")]), []).append(logs)
    return {hardware: days(np.array(logs)) for hardware, logs in series.items()}


def days(logs: np.ndarray) -> Days:
    """Return what repetitions do to cells, from the logarithms of their medians (cells x repetitions, NaN: none)."""
    common = _common(logs)
    rest = [one[np.isfinite(one)] for one in logs - common]
    rest = [one for one in rest if len(one) > 1]
    pairs = sum(len(one) - 1 for one in rest)
    assumed, weight = noise.days()
    if not pairs:
        return Days(common, assumed, _CORRELATION, 0, len(logs))
    near = _half_squares(rest, 1)
    lags = [lag for lag in range(3, 9) if lag < max(map(len, rest)) - 2] or [2]
    far = float(np.mean([_half_squares(rest, lag) for lag in lags]))
    # Of a correlation r the half squares at a lag k are those at lag 1 times 1 + r + ... + r^(k - 1).
    tried = np.linspace(0, 0.95, 96)
    times = np.mean([np.sum([tried**power for power in range(lag)], axis=0) for lag in lags], axis=0)
    found = float(np.interp(far / near, times, tried)) if near and np.isfinite(far) else _CORRELATION
    correlation = (_WEIGHT * _CORRELATION + pairs * found) / (_WEIGHT + pairs)
    variance = (weight * assumed + pairs * near / (1 - correlation)) / (weight + pairs)
    return Days(common, variance, correlation, pairs, len(logs))


def _half_squares(series: Sequence[np.ndarray], lag: int) -> float:
    """Return half the mean squares of differences at a lag: of many cells the median, which one that changed is not."""
    found = [float(((one[lag:] - one[:-lag]) ** 2).mean() / 2) for one in series if len(one) > lag]
    if not found:
        return float("nan")
    return float(np.median(found) if len(found) >= _CELLS else np.mean(found))


def _common(logs: np.ndarray) -> np.ndarray:
    """Return what all cells share at each repetition: trimmed means about each cell's level, and no more of them than
    is beyond what as many cells without a common effect would show.
    """
    common = np.zeros(logs.shape[1])
    if len(logs) < _CELLS:
        return common
    for _ in range(3):
        level = np.nanmedian(logs - common, axis=1, keepdims=True)
        common = np.array([_trimmed(day) for day in (logs - level).T])
        common -= np.median(common)
    rest = logs - common
    rest = rest - np.nanmedian(rest, axis=1, keepdims=True)
    by_chance = (np.nanmedian(np.abs(rest)) / 0.6745) ** 2 * 1.1 / (len(logs) - 1)
    seen = float(np.mean(common**2))
    return common * max(0.0, 1 - by_chance / seen) if seen else common


def _trimmed(values: np.ndarray) -> float:
    there = np.sort(values[np.isfinite(values)])
    if len(there) < _CELLS:
        return 0.0
    cut = max(1, len(there) // 6)
    return float(there[cut:-cut].mean())


def of_all(repetitions: Sequence[Repetition], judged: Mapping[str, Days]) -> list[dict[str, Any]]:
    """Return the changes that all cells of a machine share: as in `cells`, with `hardware`."""
    found = []
    for hardware, one in judged.items():
        if one.common.any():
            alone = days(one.common[None])
            for change in alone.changes(one.common):
                sides = [(at, _on(repetitions[at].runs, hardware)) for at in (change.at - 1, change.at)]
                found.append({"hardware": hardware} | _row(change, repetitions, *sides))
    return found


def _on(runs: pd.DataFrame, hardware: str) -> pd.DataFrame:
    return runs[runs["hardware"] == hardware]


def _points(repetitions: Sequence[Repetition]) -> dict[tuple[Any, ...], list[tuple[int, pd.DataFrame]]]:
    """Return the runs that are done of each cell, those of other settings apart, by the place of their repetition."""
    parts: dict[tuple[Any, ...], list[tuple[int, pd.DataFrame]]] = {}
    for place, one in enumerate(repetitions):
        done = one.runs[(one.runs["status"] == "done") & (one.runs["train_seconds"] > 0)]
        for key, rows in done.groupby([*CELL, *states.ALIKE], sort=False, dropna=False):
            parts.setdefault(known(key), []).append((place, rows))
    return parts


def cells(repetitions: Sequence[Repetition], judged: Mapping[str, Days]) -> list[dict[str, Any]]:
    """Return one row per cell that any repetition measured, those of other settings apart.

    Keys beside the cell's axes: `points`, one for each repetition that has runs of it which are done: `place` (of the
    repetition), `repetition`, `seconds` (of every run), `median`, `usd` and `usd_today` (medians; None without a
    price), `usd_per_hour` and `price_as_of`; `changes` of the time: `place`, `repetition`, `ratio`, `low`, `high`,
    `word` (faster or slower), `versions` (`states.changed` of the repetitions on its two sides); `repriced`, where the
    price of an hour changed: `place`, `repetition`, `ratio`, `old` and `new` (its dates).
    """
    found = []
    for key, measured in _points(repetitions).items():
        points = [_point(place, repetitions[place], rows) for place, rows in measured]
        mine = judged[str(key[CELL.index("hardware")])]
        logs = np.log([point["median"] for point in points]) - mine.common[[point["place"] for point in points]]
        changes = [_row(one, repetitions, measured[one.at - 1], measured[one.at]) for one in mine.changes(logs)]
        about = dict(zip([*CELL, *states.ALIKE], key, strict=True))
        found.append(about | {"points": points, "changes": changes, "repriced": _new(points)})
    return found


def _row(change: Change, repetitions: Sequence[Repetition], old: _Side, new: _Side) -> dict[str, Any]:
    """Return a change between two of a cell's repetitions, as `cells` has it."""
    sides = [
        states.State(repetitions[at].name, rows, repetitions[at].of("costs", rows["run"])) for at, rows in (old, new)
    ]
    return {
        "place": new[0],
        "repetition": repetitions[new[0]].name,
        "ratio": change.ratio,
        "low": change.low,
        "high": change.high,
        "word": states.SLOWER if change.ratio > 1 else states.FASTER,
        "versions": states.changed(*sides),
    }


def _point(place: int, repetition: Repetition, rows: pd.DataFrame) -> dict[str, Any]:
    seconds = [float(value) for value in rows["train_seconds"]]
    mine, today = (repetition.of(table, rows["run"]) for table in ("costs", "today"))
    return {
        "place": place,
        "repetition": repetition.name,
        "seconds": seconds,
        "median": float(np.median(seconds)),
        "usd": _median(mine["cost_usd"]),
        "usd_today": _median(today["cost_usd"]),
        "usd_per_hour": _median(mine["usd_per_hour"]),
        "price_as_of": max(map(str, mine["price_as_of"].dropna()), default=None),
    }


def _median(values: pd.Series) -> float | None:
    there = values.dropna()
    return float(there.astype(float).median()) if len(there) else None


def _new(points: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return where the price of an hour is not that of the repetition before."""
    rows = []
    for before, after in pairwise(points):
        rates = before["usd_per_hour"], after["usd_per_hour"]
        if None not in rates and rates[0] != rates[1]:
            about = {"old": before["price_as_of"], "new": after["price_as_of"]}
            rows.append(
                {key: after[key] for key in ("place", "repetition")}
                | {"ratio": rates[1] / rates[0] if rates[0] else None}
                | about
            )
    return rows
