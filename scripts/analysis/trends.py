"""How the cells of a study that repeats itself went over its repetitions: time and cost apart, and where one changed.

A change is marked where a change-point method proposes one *and* the rule of verdicts tells its two sides apart. The
values are the medians of the repetitions, one each: what a day does to a machine meets all runs of that day, so that
they are no independent witnesses. The method is the penalised least squares of `ruptures` (kept up, on PyPI, and its
search is exact: Celisse et al., 2018) on logarithms; as it looks at all places at once, the level of the verdicts is
divided by their number. What that does on noise that is known: tests/simulation/trends.py.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd

from scripts.analysis import states
from scripts.analysis.verdicts import SIGNIFICANT, Comparison, Judge
from scripts.storage.axes import CELL
from scripts.storage.tables import known

#: What a change must save of the squares to be proposed, in variances of the noise times the logarithm of the number
#: of repetitions: that of the Bayesian information criterion. The verdicts decide; this only keeps proposals few.
_PENALTY = 2.0

#: Repetitions that a level must have lasted: of a single one that is off nobody can tell whether it will last.
LEAST = 2


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
        return getattr(self, table).iloc[np.sort(np.concatenate([places.get(run, np.empty(0, int)) for run in runs]))]


def judge(repetitions: Sequence[Repetition]) -> Judge:
    """Return the judge of a history: by the noise of runs of one cell in one repetition, or the project's."""
    runs = [one.runs.assign(hardware=one.runs["hardware"] + f" {i}") for i, one in enumerate(repetitions)]
    return Judge.of_machines(pd.concat(runs, ignore_index=True))


def changes(medians: Sequence[float], judge: Judge) -> list[tuple[int, Comparison]]:
    """Return where a series of positive values changed: the place of the first value after, and new against old."""
    values = np.asarray(medians, dtype=float)
    if len(values) < 2 * LEAST:
        return []
    strict = replace(judge, level=min(judge.level, SIGNIFICANT) / (len(values) - 1))
    bounds = [0, *_proposed(values, judge.noise.variance), len(values)]
    while len(bounds) > 2:
        compared = [
            strict.compare(values[at:after], values[before:at])
            for before, at, after in zip(bounds, bounds[1:], bounds[2:], strict=False)
        ]
        weak = [place for place, one in enumerate(compared) if not one.told]
        if not weak:
            return list(zip(bounds[1:-1], compared, strict=True))
        # The weakest goes first: what it parted may be told apart from its neighbours together.
        del bounds[1 + max(weak, key=lambda place: compared[place].p)]
    return []


def _proposed(values: np.ndarray, variance: float) -> list[int]:
    import ruptures  # takes a second, and a short history has nothing to propose

    search = ruptures.KernelCPD(kernel="linear", min_size=LEAST).fit(np.log(values)[:, None])
    return [int(place) for place in search.predict(pen=_PENALTY * variance * np.log(len(values)))][:-1]


def cells(repetitions: Sequence[Repetition], judge: Judge) -> list[dict[str, Any]]:
    """Return one row per cell that any repetition measured, those of other settings apart.

    Keys beside the cell's axes: `points`, one for each repetition that has runs of it which are done: `place` (of the
    repetition), `repetition`, `seconds` (of every run), `median`, `usd` and `usd_today` (medians; None without a
    price), `usd_per_hour` and `price_as_of`; `changes` of the time: `place`, `repetition`, `ratio`, `low`, `high`,
    `word` (faster or slower), `versions` (`states.changed` of the repetitions on its two sides); `repriced`, where the
    price of an hour changed: `place`, `repetition`, `ratio`, `old` and `new` (its dates).
    """
    parts: dict[tuple[Any, ...], list[tuple[int, pd.DataFrame]]] = {}
    keys = [*CELL, *states.ALIKE]
    for place, one in enumerate(repetitions):
        done = one.runs[(one.runs["status"] == "done") & (one.runs["train_seconds"] > 0)]
        for key, rows in done.groupby(keys, sort=False, dropna=False):
            parts.setdefault(known(key), []).append((place, rows))
    found = []
    for key, measured in parts.items():
        points = [_point(place, repetitions[place], rows) for place, rows in measured]
        told = []
        for at, compared in changes([point["median"] for point in points], judge):
            sides = [_state(repetitions[measured[i][0]], measured[i][1]) for i in (at - 1, at)]
            told.append(
                {
                    "place": points[at]["place"],
                    "repetition": points[at]["repetition"],
                    "ratio": compared.ratio,
                    "low": compared.low,
                    "high": compared.high,
                    "word": states.SLOWER if compared.ratio > 1 else states.FASTER,
                    "versions": states.changed(*sides),
                }
            )
        found.append(dict(zip(keys, key, strict=True)) | {"points": points, "changes": told, "repriced": _new(points)})
    return found


def _state(repetition: Repetition, rows: pd.DataFrame) -> states.State:
    return states.State(repetition.name, rows, repetition.of("costs", rows["run"]))


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
