"""What a careful reader would find in a table of facts before trusting it; pure.

Each check gives findings; the report shows them beside the charts that they touch.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from scripts.importers import CELL
from scripts.storage.errors import InputError
from scripts.storage.numbers import number
from scripts.storage.tables import records

#: Columns of the table of findings. `workload`, `hardware`, `framework` and `file` are empty where a
#: finding holds for several.
COLUMNS = ("kind", "workload", "hardware", "framework", "file", "message")

#: A first epoch that takes longer than so many times the median of the later ones is worth a finding.
FIRST_EPOCH_RATIO = 2

_THINGS = ("workload", "hardware", "framework")

Finding = dict[str, str]


def findings(
    facts: pd.DataFrame, unlike: Sequence[Mapping[str, Any]] = (), others: Mapping[str, pd.DataFrame] | None = None
) -> pd.DataFrame:
    """Return the findings in `facts`, a table with `scripts.importers.COLUMNS`.

    `unlike` says what the logs do not: `{where: {workload|hardware|framework: name or names}, says: text}`
    for runs that are compared although they differ in more than their cell. `others` are the facts of
    other studies by name, of which `file`, `sha256` and `hardware` are used.
    Raises InputError for a `where` that has another key or that no run matches.
    """
    found = [
        *_same_bytes(facts),
        *_same_bytes_elsewhere(facts, others or {}),
        *_missing_runs(facts),
        *_missing_columns(facts),
        *_slow_first_epochs(facts),
        *_single_runs(facts),
        *_unlike(facts, unlike),
    ]
    return pd.DataFrame(found, columns=list(COLUMNS), dtype="string")


def _finding(kind: str, message: str, **where: str) -> Finding:
    return {"workload": "", "hardware": "", "framework": "", "file": ""} | where | {"kind": kind, "message": message}


def _of(run: Mapping[str, Any]) -> Finding:
    return {key: run[key] for key in (*_THINGS, "file")}


def _same_bytes(facts: pd.DataFrame) -> Iterator[Finding]:
    """Two measurements never agree in every digit."""
    files = facts[facts["sha256"] != ""].drop_duplicates("file")  # figures of an article have no file
    for _, same in files.groupby("sha256", sort=False):
        first, *copies = records(same)
        for run in copies:
            message = f"same bytes as {first['file']}: no second measurement"
            if first["hardware"] != run["hardware"]:
                message = (
                    f"same bytes as {first['file']} of {first['hardware']}: at most one of the two was measured "
                    "on its machine"
                )
            yield _finding("identical files", message, **_of(run))


def _same_bytes_elsewhere(facts: pd.DataFrame, others: Mapping[str, pd.DataFrame]) -> Iterator[Finding]:
    for study, other in others.items():
        known = {run["sha256"]: run for run in records(other) if run["sha256"]}
        for run in records(facts.drop_duplicates("file")):
            if run["sha256"] in known:
                first = known[run["sha256"]]
                yield _finding(
                    "identical files",
                    f"same bytes as {first['file']} of {first['hardware']} in the study {study}: "
                    "it was not measured for both",
                    **_of(run),
                )


def _missing_runs(facts: pd.DataFrame) -> Iterator[Finding]:
    pairs = facts[["hardware", "framework"]].drop_duplicates().itertuples(index=False, name=None)
    there = set(facts[list(_THINGS)].itertuples(index=False, name=None))
    workloads = list(facts["workload"].unique())
    for hardware, framework in pairs:
        for workload in workloads:
            if (workload, hardware, framework) not in there:
                yield _finding(
                    "missing run",
                    f"no run of {workload} on {hardware} with {framework}",
                    workload=workload,
                    hardware=hardware,
                    framework=framework,
                )


def _missing_columns(facts: pd.DataFrame) -> Iterator[Finding]:
    """One finding per workload for what all its files lack, one per file for what only it lacks."""
    for workload, runs in facts.fillna({"missing_columns": ""}).groupby("workload", sort=False):
        lacks = {run["run"]: [name for name in run["missing_columns"].split(",") if name] for run in records(runs)}
        in_all = [name for name in next(iter(lacks.values())) if all(name in names for names in lacks.values())]
        if in_all:
            files = "its only log" if len(lacks) == 1 else f"any of its {len(lacks)} logs"
            yield _finding("missing columns", f"no {', '.join(in_all)} in {files}", workload=str(workload))
        for run in records(runs):
            own = [name for name in lacks[run["run"]] if name not in in_all]
            if own:
                yield _finding("missing columns", f"no {', '.join(own)}, which other logs have", **_of(run))


def _slow_first_epochs(facts: pd.DataFrame) -> Iterator[Finding]:
    later = facts["median_epoch_seconds"]
    ratios = facts.assign(ratio=(facts["first_epoch_seconds"] / later).where(later > 0))
    for run in records(ratios[(ratios["ratio"] > FIRST_EPOCH_RATIO).fillna(False)]):
        yield _finding(
            "slow first epoch",
            f"the first epoch took {number(run['first_epoch_seconds'])} s, {number(run['ratio'])} x the median of "
            f"the later ones, {number(run['median_epoch_seconds'])} s; it is part of the total, as published",
            **_of(run),
        )


def _single_runs(facts: pd.DataFrame) -> Iterator[Finding]:
    runs = facts.groupby(CELL, dropna=False).size()
    single = int((runs == 1).sum())
    if single:
        yield _finding("single runs", f"{single} of {len(runs)} cells have one run only: no spread is known")


def _unlike(facts: pd.DataFrame, unlike: Sequence[Mapping[str, Any]]) -> Iterator[Finding]:
    """One finding per entry and workload; one for all workloads where the entry names none."""
    for index, entry in enumerate(unlike):
        where = {key: [value] if isinstance(value, str) else list(value) for key, value in entry["where"].items()}
        runs = facts
        for key, allowed in where.items():
            if key not in _THINGS:
                raise InputError(f"unlike[{index}].where: {key!r} is not allowed; allowed are {', '.join(_THINGS)}")
            runs = runs[runs[key].isin(allowed)]
        if runs.empty:
            raise InputError(f"unlike[{index}].where: no run matches {dict(entry['where'])}")
        for _, group in runs.groupby("workload", sort=False) if "workload" in where else [("", runs)]:
            same = {key: group[key].iloc[0] for key in where if group[key].nunique() == 1}
            yield _finding("unlike things", entry["says"], **same)
