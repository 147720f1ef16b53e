"""What one training costs by each configuration of a study: cheapest, fastest, best value, and whether a machine pays.

A training is one of full length, billed alone as its provider does, unless the price option says that
trainings follow one another (`scripts.costs.prices.price_runs`); of MLPerf, to its target, by the card-hour.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import Any

import numpy as np
import pandas as pd

from scripts.analysis import scale_ups
from scripts.analysis.names import FRAMEWORK_NAMES, workload_name
from scripts.analysis.verdicts import (
    EQUAL,
    FEW_RUNS,
    LESS,
    MORE,
    TOO_CLOSE,
    TOO_FEW,
    Judge,
    settled_by,
    undecided,
    why,
    won,
)
from scripts.costs.billing import SECONDS_PER_HOUR
from scripts.costs.uncertainty import paid_if
from scripts.storage.axes import CELL
from scripts.storage.tables import cells_of, records

CHEAPEST, FASTEST, VALUE = ROLES = ("cheapest", "fastest", "best value")

#: By which the best of each role is chosen; the best value is the least time x cost, as an article's winner is read.
BY = {CHEAPEST: "usd", FASTEST: "seconds", VALUE: "seconds_usd"}

#: What the best of each role is called, and what it does, where it has won.
CALLED = {CHEAPEST: "cheapest", FASTEST: "fastest", VALUE: "least time × cost"}
_DOES = {CHEAPEST: "is cheapest", FASTEST: "is fastest", VALUE: "has the least time × cost"}

#: What those do that are equal; of times none are.
_ALIKE = "cost the same"

#: What is said of it where others are not clearly different: that its median is the smallest, and no more.
MEASURED = {CHEAPEST: "lowest cost measured", FASTEST: "shortest time measured", VALUE: "least time × cost measured"}

#: What a configuration may be beside that of the lowest cost (`marks`).
BEST, SAME_BILL, NEAR, FEW = "best", "equal", "near", "few"

#: What would settle which of several is cheapest that are billed the same.
SAME = "nothing, all are the same"

#: A machine that wins at less than this share of its price wins at none that anybody asks.
LEAST_SHARE = 0.1

#: What a cost is of: a whole training, a part of one, or a million samples of what has its speed alone. A study may
#: have another amount, as a billion tokens (`definition.per_samples`).
TRAINING, PART, MILLION_SAMPLES = KINDS = ("a training", "a part of a training", "a million samples")


def by_workload(
    costs: pd.DataFrame,
    option: str,
    name_of: Callable[[Mapping[str, Any]], str],
    shares: Mapping[str, float] | None = None,
) -> dict[str, list[dict[str, Any]]]:
    """Return the configurations of each workload that have a cost under a price option, the cheapest first.

    Keys: cell, run (its first), machine (its name), usd, seconds and seconds_usd (medians over the runs), of (their
    values), usd_per_hour (of the machine), price_as_of, and is_least (whether it is billed the least that there is).
    `shares` are those of the full length that runs have trained (`clocks.shares`).
    """
    paid = costs[costs["price_option"] == option].dropna(subset="cost_usd")
    return _by_workload(paid, paid["cost_usd"], paid["used_seconds"], name_of, shares or {})


def by_workload_of_rates(
    costs: pd.DataFrame, option: str, name_of: Callable[[Mapping[str, Any]], str], samples: int = 10**6
) -> dict[str, list[dict[str, Any]]]:
    """Return the same of workloads whose logs have rates alone: for so many samples."""
    timed = set(costs.loc[costs["cost_usd"].notna(), "workload"])
    paid = costs[(costs["price_option"] == option) & ~costs["workload"].isin(timed)]
    paid = paid.dropna(subset="usd_per_million_samples")
    usd = paid["usd_per_million_samples"] * (samples / 1e6)
    return _by_workload(paid, usd, usd / paid["usd_per_hour"] * SECONDS_PER_HOUR, name_of, {})


def is_least(runs: pd.DataFrame, shares: Mapping[str, float]) -> bool:
    """Return whether runs are surely billed the least that there is, however far off they are extrapolated.

    `runs` are rows of the costs of a cell.
    """
    if (runs["usd_per_hour"] == 0).all():
        return True
    most = paid_if({str(name): values for name, values in runs.items()}, scale_ups.of_runs(runs["run"], shares)[1])
    least = runs["minimum_seconds"]
    return bool((~runs["in_a_row"].astype(bool) & (least > 0) & (most <= least)).all())


def _by_workload(
    paid: pd.DataFrame,
    usd: pd.Series,
    seconds: pd.Series,
    name_of: Callable[[Mapping[str, Any]], str],
    shares: Mapping[str, float],
) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = {}
    rows = records(paid)
    columns = {name: values.to_numpy(dtype=float) for name, values in (("usd", usd), ("seconds", seconds))}
    for _, places in cells_of(paid):
        first = rows[places[0]]
        of = {name: values[places] for name, values in columns.items()}
        of["seconds_usd"] = of["usd"] * of["seconds"]
        found.setdefault(str(first["workload"]), []).append(
            {
                "cell": {axis: first[axis] for axis in CELL},
                "run": str(first["run"]),
                "machine": name_of(first),
                "of": of,
                "usd_per_hour": float(first["usd_per_hour"]),
                "price_as_of": str(first["price_as_of"]),
                "provider": str(first["provider"]),
                "is_least": is_least(paid.iloc[places], shares),
            }
            | {column: float(np.median(values)) for column, values in of.items()}
        )
    return {name: sorted(cells, key=lambda cell: (cell["usd"], cell["seconds"])) for name, cells in found.items()}


def best(cells: Iterable[Mapping[str, Any]], judge: Judge) -> list[dict[str, Any]]:
    """Return the best of one workload's configurations (`by_workload`) by each of `ROLES`.

    Of those that cost the same, as where all are billed the least that there is, the shortest comes first.
    Keys: role, head (what it may be called: its role only if none of the others is near), machine, seconds, usd, runs,
    usd_of_runs, hardware, near (the names of those not clearly different from it), not_told (how many they are), why
    (`verdicts.why` they are not), settled_by (what would settle it), said (`verdicts.won`), cells, price_as_of,
    provider.
    """
    found = []
    for role, column in BY.items():
        first, *others = sorted(cells, key=lambda cell: (cell[column], cell["seconds"], cell["usd"]))
        machines = [cell["cell"]["hardware"] for cell in (first, *others)]
        reasons = undecided(judge, judged(first, column), [judged(cell, column) for cell in others], machines)
        near = [others[place] for place in reasons]
        names = [cell["machine"] for cell in (first, *near)]
        because = [
            EQUAL if role == CHEAPEST and is_same(first, others[place]) else reason for place, reason in reasons.items()
        ]
        settled = SAME if set(because) == {EQUAL} else settled_by(because)
        found.append(
            {key: first[key] for key in ("machine", "seconds", "usd", "price_as_of", "provider")}
            | {"hardware": first["cell"]["hardware"]}
            | {"role": role, "head": MEASURED[role] if near else CALLED[role]}
            | {"runs": len(first["of"]["usd"]), "cells": 1 + len(others)}
            | {"usd_of_runs": [float(f"{usd:.6g}") for usd in first["of"]["usd"]]}
            | {"near": [cell["machine"] for cell in near], "not_told": len(near), "settled_by": settled}
            | {"why": why(because)}
            | {"said": won(names, _DOES[role], 1 + len(others), because, _ALIKE)}
        )
    return found


def is_same(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Return whether two cells surely cost the same: both are billed the least that there is."""
    return bool(one["is_least"] and other["is_least"] and one["usd"] == other["usd"])


def marks(cells: Sequence[Mapping[str, Any]], judge: Judge) -> dict[str, str]:
    """Return by its name what a configuration is beside that of the lowest cost, which is the first: `BEST`,
    `SAME_BILL` if both surely cost the same, `NEAR` if they are too close to call, `FEW` if its runs cannot say. Those
    that are clearly dearer have none.
    """
    first, *others = cells
    machines = [cell["cell"]["hardware"] for cell in cells]
    reasons = undecided(judge, first["of"]["usd"], [cell["of"]["usd"] for cell in others], machines)
    return {first["machine"]: BEST} | {
        others[place]["machine"]: SAME_BILL if is_same(first, others[place]) else NEAR if reason == TOO_CLOSE else FEW
        for place, reason in reasons.items()
    }


@dataclass(frozen=True)
class Flip:
    """At which price of its hour (USD) a machine wins, over all others or over one (`than`).

    `below` that price it wins clearly, 0 where the rule names none; at `even` its lowest median costs as much as that
    of the others; `now` is the price it has, of the day `as_of`; `is_single` whether all that is compared has one run.
    """

    hardware: str
    now: float
    even: float
    below: float
    than: str = ""
    is_single: bool = False
    as_of: str = ""

    @property
    def share(self) -> float:
        """To which share its price must fall, by the rule where that names a price."""
        return (self.below or self.even) / self.now


def flip(cells: Sequence[Mapping[str, Any]], judge: Judge) -> Flip | None:
    """Return which other machine wins first as its price falls; None where all is one machine, or something is free.

    `cells` are those of one workload (`by_workload`), the cheapest first. Of each machine its cheapest is compared.
    """
    firsts = {cell["cell"]["hardware"]: cell for cell in reversed(cells)}
    if len(firsts) < 2 or not all(cell["usd"] > 0 for cell in firsts.values()):
        return None
    found = []
    is_single = all(len(cell["of"]["usd"]) == 1 for cell in firsts.values())
    for name, cell in firsts.items():
        if cell is not cells[0]:
            others = [other for machine, other in firsts.items() if machine != name]
            share = min(judge.wins_below(cell["of"]["usd"], one["of"]["usd"], _machines(cell, one)) for one in others)
            now, even = cell["usd_per_hour"], min(other["usd"] for other in others) / cell["usd"]
            below = now * share if share >= LEAST_SHARE else 0.0
            found.append(Flip(name, now, now * even, below, is_single=is_single, as_of=cell["price_as_of"]))
    return max(found, key=lambda one: (one.below > 0, one.share))


def judged(cell: Mapping[str, Any], column: str) -> np.ndarray:
    """Return the values by which a cell is compared: of seconds x USD the roots, which vary as one time does."""
    values: np.ndarray = cell["of"][column]
    return np.sqrt(values) if column == BY[VALUE] else values


@dataclass(frozen=True)
class Answer:
    """Whether one machine costs less than another, over the pairs of cells that differ in the machine alone."""

    pairs: int
    cheaper: int
    dearer: int
    faster: int
    price: float  # x an hour of the other's
    speedup: float  # the best that is clearly different, x; 0 if none is faster
    where: str  # workload and cell of that
    few: int = 0  # undecided pairs of which a side has too few runs
    flips: Sequence[Flip] = ()  # of the machines compared, where a price of theirs may change the answer

    @property
    def undecided(self) -> int:
        """How many pairs are not clearly different."""
        return self.pairs - self.cheaper - self.dearer

    @property
    def word(self) -> str:
        """Return yes or no where most pairs say so and none the contrary."""
        return verdict(self.pairs, self.cheaper, self.dearer)


def flip_of_pairs(
    names: tuple[str, str],
    now: float,
    cheaper: Iterable[float],
    dearer: Iterable[float],
    ratios: Iterable[float],
    is_single: bool = False,
) -> Flip:
    """Return below which price of its hour the first of two machines pays, by `verdict`.

    Of each pair: at which share of its price the machine is clearly cheaper (`Judge.wins_below`), at which it is not
    clearly dearer any more, and what it costs now over the other. `even` is where half of the medians cost as little.
    """
    over = sorted(1 / ratio for ratio in ratios)
    half = len(over) // 2  # of so many shares, from the lowest, the half or more are no lower
    share = min(sorted(cheaper)[half], *dearer)
    return Flip(names[0], now, now * over[half], now * share if share >= LEAST_SHARE else 0.0, names[1], is_single)


def verdict(pairs: int, cheaper: int, dearer: int) -> str:
    """Return the answer to whether it pays: `Yes` or `No` where half of the pairs or more say so, none the contrary.

    `It depends` where some say the one and some the other, `Undecided` where too few are clearly different.
    """
    if cheaper and dearer:
        return "It depends"
    if 2 * max(cheaper, dearer) < pairs:
        return "Undecided"
    return "Yes" if cheaper else "No"


@dataclass(frozen=True)
class Question:
    """Whether cells with one `value` on an axis of the grid cost less than those with another, all else alike."""

    axis: str
    value: Any
    than: Any

    @classmethod
    def of(cls, study: Mapping[str, Any]) -> "Question | None":
        """Return what a study asks; None where it asks nothing, or nothing of an axis."""
        asked = study.get("question", {})
        axis = next((axis for axis in CELL if axis in asked), None)
        if axis is None:
            return None
        return cls(axis, asked[axis], asked.get("than", study.get("base", {}).get(axis)))

    def name(self, value: Any, labels: Mapping[str, str]) -> str:
        """Return what a value of the axis is called; `labels` are those of machines."""
        if self.axis == "hardware":
            return labels[value]
        known = {"framework": FRAMEWORK_NAMES.get(value, value), "batch_size": f"batch {value}"}
        return str(known.get(self.axis, f"{value} devices" if self.axis == "devices" else value))


def pairs(
    found: Mapping[str, list[dict[str, Any]]], question: Question
) -> list[tuple[str, dict[str, Any], dict[str, Any]]]:
    """Return the pairs of configurations that differ in what is asked alone: workload, the one, the other."""
    axes = [axis for axis in CELL if axis != question.axis]
    both = []
    for workload, cells in found.items():
        others = {_key(cell, axes): cell for cell in cells if cell["cell"][question.axis] == question.than}
        ours = [cell for cell in cells if cell["cell"][question.axis] == question.value]
        both += [(workload, cell, others[_key(cell, axes)]) for cell in ours if _key(cell, axes) in others]
    return both


def pays(found: Mapping[str, list[dict[str, Any]]], question: Question, judge: Judge) -> Answer | None:
    """Return whether what is asked costs less than the other for the trainings that both did; None without a pair."""
    compared = pairs(found, question)
    if not compared:
        return None
    cost, time = (
        [judge.compare(one["of"][by], other["of"][by], _machines(one, other)) for _, one, other in compared]
        for by in ("usd", "seconds")
    )
    faster = [
        (other["seconds"] / one["seconds"], f"{workload_name(workload)}: {one['machine']}")
        for (workload, one, other), in_time in zip(compared, time, strict=True)
        if in_time.word == LESS
    ]
    speedup, where = max(faster, default=(0.0, ""))
    cheaper = sum(one.word == LESS for one in cost)
    _, first, other = compared[0]
    return Answer(
        pairs=len(compared),
        cheaper=cheaper,
        dearer=sum(one.is_clear for one in cost) - cheaper,
        faster=len(faster),
        price=first["usd_per_hour"] / other["usd_per_hour"],
        speedup=speedup,
        where=where,
        few=sum(one.word == TOO_FEW for one in cost),
        flips=_flips(compared, judge) if question.axis == "hardware" else (),
    )


def _flips(compared: Sequence[tuple[str, dict[str, Any], dict[str, Any]]], judge: Judge) -> list[Flip]:
    """Return at which price of its hour the first machine of these pairs pays; nothing where one of them is free."""
    sides = [(one, other) for _, one, other in compared]
    if not all(cell["usd"] > 0 for pair in sides for cell in pair):
        return []
    first, other = sides[0]
    cheaper, dearer = (
        [judge.wins_below(a["of"]["usd"], b["of"]["usd"], _machines(a, b)) for a, b in of]
        for of in (sides, [(b, a) for a, b in sides])
    )
    flip = flip_of_pairs(
        _machines(first, other),
        first["usd_per_hour"],
        cheaper,
        (1 / share if share else inf for share in dearer),
        (one["usd"] / than["usd"] for one, than in sides),
        all(len(cell["of"]["usd"]) == 1 for pair in sides for cell in pair),
    )
    return [replace(flip, as_of=first["price_as_of"])]


def newer_pay(generations: pd.DataFrame) -> Answer | None:
    """Return whether newer cards cost less than older ones (`rounds.generations` of the article `mlperf`).

    A pair is a benchmark on two cards; where their makers lie too far apart, it is undecided. Prices of `flips`
    are × an hour of the older card.
    """
    generations = generations.dropna(subset=["usd", "hours"])
    if generations.empty:
        return None
    usd, hours = generations["usd"].astype(float), generations["hours"].astype(float)
    faster = generations[generations["told_hours"] == LESS].assign(hours=hours).nsmallest(1, "hours")
    where = [f"{row['label']}, {row['new']} over {row['old']}" for row in records(faster)]
    is_open = ~generations["told_usd"].isin([LESS, MORE])
    return Answer(
        pairs=len(usd),
        cheaper=int((generations["told_usd"] == LESS).sum()),
        dearer=int((generations["told_usd"] == MORE).sum()),
        faster=int((generations["told_hours"] == LESS).sum()),
        price=float((usd / hours).median()),
        speedup=float(1 / faster["hours"].iloc[0]) if where else 0.0,
        where="".join(where),
        few=int((is_open & (generations[["new_results", "old_results"]].min(axis=1) < FEW_RUNS)).sum()),
        flips=[
            flip_of_pairs(
                (str(new), str(old)),
                float((of["usd"] / of["hours"]).iloc[0]),
                of["pays_share"],
                of["dearer_share"],
                of["usd"],
            )
            for (new, old), of in generations.groupby(["new", "old"], sort=False)
        ],
    )


def _machines(one: Mapping[str, Any], other: Mapping[str, Any]) -> tuple[str, str]:
    return one["cell"]["hardware"], other["cell"]["hardware"]


def _key(cell: Mapping[str, Any], axes: Iterable[str]) -> tuple[Any, ...]:
    return tuple(None if pd.isna(cell["cell"][axis]) else cell["cell"][axis] for axis in axes)
