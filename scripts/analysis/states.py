"""Two states of a study side by side: what became faster, slower, cheaper or dearer, by the rule of verdicts. Pure.

A state is a study's runs and costs, of one of its machines or all of them, at one price option. Two states that were
measured in turns, in one sitting, are compared by the noise of a sitting. Any others differ by what days do to a
machine too: as much as the sittings within each show, drawn towards what is assumed of days (`noise.days`).
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from math import exp, isfinite
from typing import Any

import numpy as np
import pandas as pd

from scripts.analysis import clocks, noise
from scripts.analysis.verdicts import LESS, MORE, TIED, Comparison, Judge, family_wise
from scripts.storage.axes import CELL
from scripts.storage.errors import InputError
from scripts.storage.numbers import TIE
from scripts.storage.tables import known, records

#: What must be the same in two cells for their times to be compared.
ALIKE = ("data", "samples_fraction", "data_fraction", "epochs", "settings")

#: What may have changed, and is listed.
_LISTED = ("packages", "python", "cpu_model", "gpu_model", "system", "git_commit")

FASTER, SLOWER, CHEAPER, DEARER = "faster", "slower", "cheaper", "dearer"

#: After the name of a machine of the newer state.
_NEW = " (new)"

#: Runs of which nothing started for so long before are of another sitting.
_PAUSE = pd.Timedelta(hours=1)


@dataclass(frozen=True)
class State:
    """What it is called, its runs and its costs (those of one price option)."""

    name: str
    runs: pd.DataFrame
    costs: pd.DataFrame

    @cached_property
    def sittings(self) -> pd.Series:
        """The number of the sitting of each run, from 0; 0 where nobody knows when a run started."""
        started = pd.to_datetime(self.runs["started_at"], utc=True, format="ISO8601").sort_values()
        return (started.diff() > _PAUSE).cumsum().reindex(self.runs.index)

    @property
    def count(self) -> int:
        """How many sittings it was measured in."""
        return max(1, self.sittings.nunique())


def compare(old: State, new: State) -> dict[str, Any]:
    """Return `cells`, `unlike`, `only` and `changed` of two states.

    `cells` are the rows of those that both have: their axes, `old_seconds`, `new_seconds`, `old_usd`, `new_usd`
    (medians; None without a cost), and by `time` and `cost` the ratio new / old, its 95 % interval and the word: of
    `FASTER` ... `DEARER`, empty where they do not clearly differ. `rule` are the words of the rule. `unlike` names what
    differs where cells are no measurement of one thing, `only` the cells that one of them has, `changed` what else did
    (versions, machine).

    A state of one machine is compared with one of another by all axes but the machine. Raises InputError where they
    share no machine and one of them has several.
    """
    machines = [_machines(state) for state in (old, new)]
    axes = CELL if machines[0] & machines[1] else [axis for axis in CELL if axis != "hardware"]
    for state, some in zip((old, new), machines, strict=True):
        if axes is not CELL and len(some) > 1:
            raise InputError(
                f"{state.name}: has the machines {', '.join(sorted(some))}, and the other state none of them: "
                "name one, as in STUDY@MACHINE"
            )
    before, after = (_cells(state, axes) for state in (old, new))
    judge = Judge.of_machines(pd.concat([old.runs, new.runs.assign(hardware=new.runs["hardware"] + _NEW)]))
    judge = replace(judge, sittings=None if _in_turns(old, new) else _between(old, new))
    unlike, alike = [], []
    for key in [key for key in before if key in after]:
        differs = [name for name in ALIKE if _values(before[key], name) != _values(after[key], name)]
        differs += ["clock"] if clocks.watched(before[key]) != clocks.watched(after[key]) else []
        if differs:
            unlike.append({"cell": dict(zip(axes, key, strict=True)), "differs": differs})
        else:
            alike.append(key)
    found = [_compared(before[key], after[key], "train_seconds", judge) for key in alike]
    judge = replace(judge, level=min(judge.level, family_wise(np.array([one.p for one in found if one]), len(found))))
    cells = [dict(zip(axes, key, strict=True)) | _row(before[key], after[key], judge) for key in alike]
    only = [
        {"state": state.name, "cell": dict(zip(axes, key, strict=True))}
        for state, mine, others in ((old, before, after), (new, after, before))
        for key in mine
        if key not in others
    ]
    return {
        "cells": cells,
        "unlike": unlike,
        "only": only,
        "changed": changed(old, new),
        "rule": _rule(old, new, judge),
    }


def _in_turns(old: State, new: State) -> bool:
    """Return whether two states were measured in one sitting, their runs among each other."""
    spans = [
        pd.to_datetime(state.runs["started_at"], utc=True, format="ISO8601").agg(["min", "max"]) for state in (old, new)
    ]
    if any(span.isna().any() for span in spans):
        return False
    return bool(spans[0]["min"] < spans[1]["max"] and spans[1]["min"] < spans[0]["max"])


def _between(old: State, new: State) -> tuple[float, float]:
    """Return the variance of the difference of two cells of different sittings, and its degrees of freedom.

    Of each state with several, the variance of a cell's means by sitting, less what its runs make of it: all cells meet
    the same sittings, so that these, not the cells, are the degrees of freedom.
    """
    assumed, weight = noise.days()
    squares, degrees = weight * assumed, weight
    for state in (old, new):
        if found := _of_sittings(state):
            squares, degrees = squares + (state.count - 1) * float(np.mean(found)), degrees + state.count - 1
    return squares / degrees * (1 / old.count + 1 / new.count), degrees


def _of_sittings(state: State) -> list[float]:
    """Return of each cell that was measured in several sittings the variance between them, 0 or more."""
    runs = state.runs.assign(sitting=state.sittings)
    runs = runs[(runs["status"] == "done") & (runs["train_seconds"] > 0)]
    runs = runs.assign(log=np.log(runs["train_seconds"].astype(float)))
    found = []
    for _, cell in runs.groupby(CELL, sort=False, dropna=False):
        sittings = cell.groupby("sitting")["log"].agg(["mean", "count", "var"])
        if len(sittings) > 1:
            by_chance = float((sittings["var"] / sittings["count"]).mean())
            found.append(max(0.0, float(sittings["mean"].var(ddof=1)) - (by_chance if isfinite(by_chance) else 0.0)))
    return found


def _rule(old: State, new: State, judge: Judge) -> str:
    if judge.sittings is None:
        return f"{judge.words} Both were measured in one sitting, in turns."
    days = "their days are not known" if old.count == new.count == 1 else f"{old.count} and {new.count} sittings"
    reach = 100 * (exp(judge.sittings[0] ** 0.5) - 1)
    return (
        f"{judge.words} They were measured in different sittings ({days}): {reach:.1f} % are added for what days do, "
        "drawn towards an assumed 5 % a day."
    )


def counts(cells: Iterable[Mapping[str, Any]]) -> dict[str, int]:
    """Return how many cells became faster, slower, cheaper and dearer."""
    words = [row[clock]["word"] for row in cells for clock in ("time", "cost") if row[clock]]
    return {word: words.count(word) for word in (FASTER, SLOWER, CHEAPER, DEARER)}


def _machines(state: State) -> set[str]:
    return set(state.runs["hardware"])


def _cells(state: State, axes: list[str]) -> dict[tuple[Any, ...], pd.DataFrame]:
    done = state.runs[state.runs["status"] == "done"].dropna(subset="train_seconds")
    done = done.merge(state.costs[["run", "cost_usd"]].drop_duplicates("run"), on="run", how="left")
    return {known(key): rows for key, rows in done.groupby(axes, sort=False, dropna=False)}


def _values(cell: pd.DataFrame, name: str) -> set[Any]:
    return set(cell[name].dropna())


def _row(old: pd.DataFrame, new: pd.DataFrame, judge: Judge) -> dict[str, Any]:
    found: dict[str, Any] = {"old_runs": len(old), "new_runs": len(new)}
    for clock, column, words in (
        ("time", "train_seconds", (FASTER, SLOWER)),
        ("cost", "cost_usd", (CHEAPER, DEARER)),
    ):
        sides = [side[column].dropna().to_numpy(dtype=float) for side in (old, new)]
        unit = "seconds" if clock == "time" else "usd"
        found |= {
            f"{age}_{unit}": float(np.median(side)) if len(side) else None
            for age, side in zip(("old", "new"), sides, strict=True)
        }
        found[clock] = None
        compared = _compared(old, new, column, judge)
        if compared:
            if clock == "cost" and _is_one_measurement(old, new):
                compared = _repriced(compared)
            word = words[compared.word != LESS] if compared.is_clear else ""
            found[clock] = {
                "ratio": _finite(compared.ratio),
                "low": _finite(compared.low),
                "high": _finite(compared.high),
                "word": word,
                "mark": compared.mark,
            }
    return found


def _compared(old: pd.DataFrame, new: pd.DataFrame, column: str, judge: Judge) -> Comparison | None:
    sides = [side[column].dropna().to_numpy(dtype=float) for side in (new, old)]
    machines = new["hardware"].iloc[0] + _NEW, old["hardware"].iloc[0]
    return judge.compare(sides[0], sides[1], machines) if all(len(side) for side in sides) else None


def _finite(ratio: float) -> float | None:
    """Return a ratio, None where it is none: over a price of nothing, or without an interval."""
    return ratio if isfinite(ratio) else None


def _is_one_measurement(old: pd.DataFrame, new: pd.DataFrame) -> bool:
    """Return whether two cells have the same runs: only their prices may differ, and these have no noise."""
    return old[["run", "train_seconds"]].values.tolist() == new[["run", "train_seconds"]].values.tolist()


def _repriced(compared: Comparison) -> Comparison:
    ratio = compared.ratio
    near = max(ratio, 1 / ratio) < 1 + TIE if ratio else False
    word = TIED if near else LESS if ratio < 1 else MORE
    return replace(compared, low=ratio, high=ratio, p=0.0, word=word)


def changed(old: State, new: State) -> list[dict[str, Any]]:
    """Return what else differs between two states, versions, machine and dates of prices: `what`, `old` and `new`."""
    rows = []
    for name in _LISTED:
        before, after = (sorted(map(str, set(state.runs[name].dropna()))) for state in (old, new))
        if before != after:
            rows.append({"what": name.replace("_", " "), "old": before, "new": after})
    prices = [sorted({str(row["price_as_of"]) for row in records(state.costs)}) for state in (old, new)]
    if prices[0] != prices[1]:
        rows.append({"what": "prices of", "old": prices[0], "new": prices[1]})
    return rows
