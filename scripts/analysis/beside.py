"""The machines of other studies beside those of one: the best cell of each, on one clock for a workload. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from scripts.storage.axes import CELL
from scripts.storage.tables import records

#: The rate after the warm-up, without validation; of a table of throughput, the rate that it prints.
STEADY = "steady"

#: Samples over whole epochs, first step and validation with them: what the articles of 2017 timed.
TRAINING = "training"

#: Of a program that is watched from outside.
OBSERVED = "observed"

_SAMPLES = ["workload", "samples_fraction", "data_fraction", "train_samples"]

#: A machine of a study may be in a table once for each of these.
_MACHINE = ["hardware", "devices", "precision"]


@dataclass(frozen=True)
class Side:
    """A study to compare: its title, its runs table, what its machines are called.

    `published` is who measured it (by, title, date, url) and `unlike` what is compared although it differs in more
    than its cell, both as in the study's config. `doubts` says of runs, by name, why their log may not be theirs.
    """

    title: str
    runs: pd.DataFrame
    labels: Mapping[str, str]
    published: Mapping[str, str] = field(default_factory=dict)
    unlike: Sequence[Mapping[str, Any]] = ()
    doubts: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Table:
    """One workload: its rows, the fastest first.

    Keys of a row: `study` (title), `own` (of this study), `machine` (label), the cell's, `samples_per_second` (median
    over the cell's runs), `runs`, `cells` (of how many of the machine in that precision it is the best), `times` (rate
    of this study's best cell over its own), `first` and `last` (YYYY-MM of the runs; None where no run has a date),
    `published` (YYYY-MM, None without), `part` (of the official samples, 0 to 1; None if unknown), `epochs_done`,
    `epochs` (published; None without), `reduced` (fewer samples or epochs than published), `data` and `doubts` (why
    logs of its runs may not be theirs). `without` are the titles of studies whose runs of the workload have no rate on
    this clock. `assumed` is the number of samples an epoch that logs were taken to have which do not give theirs, None
    where all do.
    """

    workload: str
    clock: str
    rows: list[dict[str, Any]]
    without: list[str]
    assumed: int | None


def epoch_samples(runs: pd.DataFrame) -> dict[str, int]:
    """Return for each workload the samples of one official epoch, from the run with the largest part of them.

    Only runs of this project record their part. At a reduced scale the last batch is cut off: up to a batch over that
    part is missing.
    """
    parts = (runs["samples_fraction"] * runs["data_fraction"]).astype("Float64")
    with_part = runs.assign(part=parts).dropna(subset=["part", "train_samples"]).sort_values("part", kind="stable")
    last = with_part.drop_duplicates("workload", keep="last")
    return {str(row["workload"]): round(row["train_samples"] / row["part"]) for row in records(last)}


def rates(runs: pd.DataFrame, clock: str, per_epoch: Mapping[str, int]) -> pd.Series:
    """Return the samples per second of each run on a clock; missing where the run cannot give it.

    `training`: samples an epoch x epochs over the time to train; `per_epoch` is for logs that do not give theirs.
    `steady`: what the run recorded. A log by epoch has none: its throughput is worked out from whole epochs.
    `observed`: what was read of a program from outside, which has no other.
    """
    watched = runs["observed_seconds"].notna() if "observed_seconds" in runs else pd.Series(False, index=runs.index)
    recorded = runs["samples_per_second"].astype("Float64")
    own = runs["first_step_seconds"].notna()
    if clock == OBSERVED:
        return recorded.where(watched)
    if clock == STEADY:
        return recorded.where(own | runs["epochs_done"].isna())
    samples = runs["train_samples"].astype("Float64").fillna(runs["workload"].map(per_epoch).astype("Float64"))
    whole = samples * runs["epochs_done"].astype("Float64") / runs["train_seconds"].astype("Float64")
    return whole.mask(watched)


def compare(own: Side, others: Sequence[Side], epochs: Mapping[str, int]) -> list[Table]:
    """Return a table for each workload of `own` that another study has too, in the order of its runs.

    A row is the best cell of a machine and precision; of each batch size too where another study shares two of them.

    The clock of a table is the one that runs of this study and of the most others can give, `steady` before
    `training`. `epochs` is the published number by workload. Runs that did not end as done count for nothing.
    """
    if not others:
        return []
    sides = [own, *others]
    known = epoch_samples(pd.concat([side.runs[_SAMPLES] for side in sides]))
    tables = []
    for workload in own.runs["workload"].unique():
        runs = [side.runs[side.runs["workload"].eq(workload) & side.runs["status"].eq("done")] for side in sides]
        timed = {
            clock: [of.assign(rate=rates(of, clock, known)).dropna(subset="rate") for of in runs]
            for clock in (STEADY, TRAINING, OBSERVED)
        }
        given = {clock: sum(map(bool, map(len, found))) for clock, found in timed.items() if len(found[0])}
        clock = max(given, key=lambda name: given[name], default=STEADY)
        if given.get(clock, 0) < 2:
            continue
        found = timed[clock]
        axes = [*_MACHINE, *(["batch_size"] if _share_batch_sizes(found) else [])]
        best = [_best(side, of, axes, epochs.get(workload)) for side, of in zip(sides, found, strict=True)]
        fastest = max(row["samples_per_second"] for row in best[0])
        rows = [
            row | {"own": side is own, "times": fastest / row["samples_per_second"]}
            for side, of in zip(sides, best, strict=True)
            for row in of
        ]
        silent = any(of["train_samples"].isna().any() for of in found)
        tables.append(
            Table(
                workload=str(workload),
                clock=clock,
                rows=sorted(rows, key=lambda row: -row["samples_per_second"]),
                without=[
                    side.title for side, of, rated in zip(sides, runs, found, strict=True) if len(of) > len(rated) == 0
                ],
                assumed=known[workload] if clock == TRAINING and silent else None,
            )
        )
    return tables


def _share_batch_sizes(runs: Sequence[pd.DataFrame]) -> bool:
    """Return whether another study ran two of the batch sizes of the first: each is then a row of its own."""
    own, *others = (set(of["batch_size"].dropna()) for of in runs)
    return any(len(own & other) > 1 for other in others)


def unlike(sides: Sequence[Side], tables: Sequence[Table]) -> list[dict[str, Any]]:
    """Return what the studies say is unlike and touches a row that is shown.

    Keys: `study` (title), `says`, `workloads` (those whose tables it touches).
    """
    notes = [
        {
            "study": side.title,
            "says": entry["says"],
            "workloads": [t.workload for t in tables if _touches(side, entry, t)],
        }
        for side in sides
        for entry in side.unlike
    ]
    return [note for note in notes if note["workloads"]]


def _touches(side: Side, entry: Mapping[str, Any], table: Table) -> bool:
    return any(
        row["study"] == side.title and all(row[key] in _listed(names) for key, names in entry["where"].items())
        for row in table.rows
    )


def _listed(names: str | Sequence[str]) -> Sequence[str]:
    return [names] if isinstance(names, str) else names


def _best(side: Side, runs: pd.DataFrame, axes: Sequence[str], epochs: int | None) -> list[dict[str, Any]]:
    """Return the row of a study's best cell at each place on `axes`, of `runs` with a `rate`."""
    found: dict[tuple[Any, ...], dict[str, Any]] = {}
    for _, group in runs.groupby(CELL, sort=False, dropna=False):
        cell = {axis: None if pd.isna(group[axis].iloc[0]) else group[axis].iloc[0] for axis in CELL}
        rate = float(group["rate"].median())
        place = tuple(cell[axis] for axis in axes)
        before = found.get(place)
        cells = before["cells"] + 1 if before else 1
        if before and before["samples_per_second"] >= rate:
            before["cells"] = cells
            continue
        found[place] = (
            cell
            | _scale(group.iloc[-1], epochs)
            | _dates(side, group)
            | {
                "study": side.title,
                "machine": side.labels.get(str(cell["hardware"]), str(cell["hardware"])),
                "samples_per_second": rate,
                "runs": len(group),
                "cells": cells,
                "doubts": [side.doubts[run] for run in group["run"] if run in side.doubts],
            }
        )
    return list(found.values())


def _scale(run: pd.Series, epochs: int | None) -> dict[str, Any]:
    """Return what is known of the size of a run's training."""
    part, done = run["samples_fraction"] * run["data_fraction"], run["epochs_done"]
    part = None if pd.isna(part) else float(part)
    done = None if pd.isna(done) else int(done)
    fewer = bool(epochs and done is not None and done < epochs)
    return {
        "part": part,
        "epochs_done": done,
        "epochs": epochs,
        "reduced": fewer or (part is not None and part < 1),
        "data": None if pd.isna(run["data"]) else str(run["data"]),
    }


def _dates(side: Side, runs: pd.DataFrame) -> dict[str, str | None]:
    months = sorted({str(started)[:7] for started in runs["started_at"].dropna()})
    published = side.published.get("date")
    return {
        "first": months[0] if months else None,
        "last": months[-1] if months else None,
        "published": published[:7] if published else None,
    }
