"""Two states of a study side by side: what became faster, slower, cheaper or dearer, by the rule of verdicts. Pure.

A state is a study's runs and costs, of one of its machines or all of them, at one price option.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from math import isfinite
from typing import Any

import numpy as np
import pandas as pd

from scripts.analysis.verdicts import LESS, MORE, TIED, Comparison, Judge
from scripts.storage.axes import CELL
from scripts.storage.errors import InputError
from scripts.storage.numbers import TIE
from scripts.storage.tables import known, records

#: What must be the same in two cells for their times to be compared.
ALIKE = ("data", "samples_fraction", "data_fraction", "epochs", "settings")

#: What may have changed, and is told.
_TOLD = ("packages", "python", "cpu_model", "gpu_model", "system", "git_commit")

FASTER, SLOWER, CHEAPER, DEARER = "faster", "slower", "cheaper", "dearer"


@dataclass(frozen=True)
class State:
    """What it is called, its runs and its costs (those of one price option)."""

    name: str
    runs: pd.DataFrame
    costs: pd.DataFrame


def compare(old: State, new: State) -> dict[str, Any]:
    """Return `cells`, `unlike`, `only` and `changed` of two states.

    `cells` are the rows of those that both have: their axes, `old_seconds`, `new_seconds`, `old_usd`, `new_usd`
    (medians; None without a cost), and by `time` and `cost` the ratio new / old, its 95 % interval and the word: of
    `FASTER` ... `DEARER`, empty where the two are not told apart. `unlike` names what differs where cells are no
    measurement of one thing, `only` the cells that one of them has, `changed` what else did (versions, machine).

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
    judge = Judge.of(pd.concat([old.runs, new.runs.assign(hardware=new.runs["hardware"] + " (new)")]))
    unlike, cells = [], []
    for key in [key for key in before if key in after]:
        differs = [name for name in ALIKE if _values(before[key], name) != _values(after[key], name)]
        if differs:
            unlike.append({"cell": dict(zip(axes, key, strict=True)), "differs": differs})
        else:
            cells.append(dict(zip(axes, key, strict=True)) | _row(before[key], after[key], judge))
    only = [
        {"state": state.name, "cell": dict(zip(axes, key, strict=True))}
        for state, mine, others in ((old, before, after), (new, after, before))
        for key in mine
        if key not in others
    ]
    return {"cells": cells, "unlike": unlike, "only": only, "changed": changed(old, new), "rule": judge.words}


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
        if all(len(side) for side in sides):
            compared = judge.compare(sides[1], sides[0])
            if clock == "cost" and _is_one_measurement(old, new):
                compared = _repriced(compared)
            word = words[compared.word != LESS] if compared.told else ""
            found[clock] = {
                "ratio": _told(compared.ratio),
                "low": _told(compared.low),
                "high": _told(compared.high),
                "word": word,
                "mark": compared.mark,
            }
    return found


def _told(ratio: float) -> float | None:
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
    for name in _TOLD:
        before, after = (sorted(map(str, set(state.runs[name].dropna()))) for state in (old, new))
        if before != after:
            rows.append({"what": name.replace("_", " "), "old": before, "new": after})
    prices = [sorted({str(row["price_as_of"]) for row in records(state.costs)}) for state in (old, new)]
    if prices[0] != prices[1]:
        rows.append({"what": "prices of", "old": prices[0], "new": prices[1]})
    return rows
