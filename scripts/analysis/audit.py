"""What a careful reader would find in a table of facts before trusting it; pure.

Each check gives findings; the report shows them beside the charts that they touch.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import pandas as pd

from scripts.storage.axes import IN_LOGS
from scripts.storage.errors import InputError
from scripts.storage.numbers import number
from scripts.storage.tables import records

#: Columns of the table of findings. `workload`, `hardware`, `framework` and `file` are empty where a
#: finding holds for several.
COLUMNS = ("kind", "workload", "hardware", "framework", "file", "message")

#: A first epoch that takes longer than so many times the median of the later ones is worth a finding.
FIRST_EPOCH_RATIO = 2

#: Total, first and median epoch of two measurements never agree in all of these to such a part.
SAME_TIMES = 1e-4

#: Runs of one cell differ by less than such a factor, unless they differ in more than their cell.
FAR_APART = 2

#: Kind of the findings on workloads that a machine or a framework lacks.
MISSING_RUN = "missing run"

#: Kind of the findings on what is compared although it differs in more than is asked.
UNLIKE = "unlike things"

#: More machines than so many that lack a workload are one finding.
MANY = 4

#: Of fewer of all workloads on all machines with all frameworks, nobody meant to run each.
SPARSE = 0.1

#: Kind of the findings on machines that exceed their cards' peak.
BEYOND_PERFECT = "above linear scaling"

#: More than so many times the samples of n single cards are no scaling: caches explain a few per cent.
PERFECT = 1.1

_THINGS = ("workload", "hardware", "framework")

Finding = dict[str, str]


def findings(
    facts: pd.DataFrame,
    unlike: Sequence[Mapping[str, Any]] = (),
    others: Mapping[str, pd.DataFrame] | None = None,
    cards: Mapping[str, str] | None = None,
) -> pd.DataFrame:
    """Return the findings in `facts`, a table with `scripts.importers.COLUMNS`.

    `unlike` says what the logs do not: `{where: {workload|hardware|framework: name or names}, says: text}`
    for runs that are compared although they differ in more than their cell. `others` are the facts of
    other studies by name, of which `file`, `sha256` and `hardware` are used. `cards` is the model of the GPUs by
    machine: machines with several of a card are held against those with one.
    Raises InputError for a `where` that has another key or that no run matches.
    """
    found = [
        *_same_bytes(facts),
        *_same_bytes_elsewhere(facts, others or {}),
        *_same_times(facts),
        *_missing_runs(facts),
        *_missing_columns(facts),
        *_times(facts),
        *_slow_first_epochs(facts),
        *_far_apart(facts),
        *_beyond_perfect_scaling(facts, cards or {}),
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
    for _, same in files[files.duplicated("sha256", keep=False)].groupby("sha256", sort=False):
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


def _same_times(facts: pd.DataFrame) -> Iterator[Finding]:
    """Times of all epochs that agree to so many digits are those of one measurement, rounded or edited."""
    times = ["train_seconds", "first_epoch_seconds", "median_epoch_seconds"]
    timed = facts[facts["sha256"] != ""].dropna(subset=[*times, "epochs_done"]).drop_duplicates("sha256")
    timed = timed[timed["epochs_done"] > 1].sort_values(["workload", "train_seconds"], kind="stable")
    for one, other in pairwise(records(timed)):
        same_length = (one["workload"], one["epochs_done"]) == (other["workload"], other["epochs_done"])
        if same_length and all(abs(one[time] - other[time]) <= SAME_TIMES * one[time] for time in times):
            message = f"its times are those of {one['file']} to {100 * SAME_TIMES:g} %: one of the two was edited"
            yield _finding("nearly identical", message, **_of(other))


def _missing_runs(facts: pd.DataFrame) -> Iterator[Finding]:
    """One finding per machine; one for all of them where many lack the same, or where nothing like a grid was run."""
    pairs = list(facts[["hardware", "framework"]].drop_duplicates().itertuples(index=False, name=None))
    there = set(facts[list(_THINGS)].itertuples(index=False, name=None))
    whole = len(pairs) * facts["workload"].nunique()
    if len(there) < SPARSE * whole:
        yield _finding("no grid", f"{len(there)} of {whole:,} combinations of workload, machine and framework were run")
        return
    lacking = {
        (workload, framework): [
            hardware for hardware, other in pairs if other == framework and (workload, hardware, other) not in there
        ]
        for _, framework in pairs
        for workload in facts["workload"].unique()
    }
    for (workload, framework), machines in lacking.items():
        words, things = f"no run of {workload} on", {"workload": workload, "framework": framework}
        if len(machines) > MANY:
            yield _finding(MISSING_RUN, f"{words} {', '.join(machines)} with {framework}", **things)
        else:
            for hardware in machines:
                yield _finding(MISSING_RUN, f"{words} {hardware} with {framework}", **things, hardware=hardware)


def _missing_columns(facts: pd.DataFrame) -> Iterator[Finding]:
    """One finding per workload for what all its files lack, one per file for what only it lacks."""
    filled = facts.fillna({"missing_columns": ""})
    lacking = filled.loc[filled["missing_columns"] != "", "workload"]
    for workload, runs in filled[filled["workload"].isin(lacking)].groupby("workload", sort=False):
        lacks = {run["run"]: [name for name in run["missing_columns"].split(",") if name] for run in records(runs)}
        in_all = [name for name in next(iter(lacks.values())) if all(name in names for names in lacks.values())]
        if in_all:
            files = "its only log" if len(lacks) == 1 else f"any of its {len(lacks)} logs"
            yield _finding("missing columns", f"no {', '.join(in_all)} in {files}", workload=str(workload))
        for run in records(runs):
            own = [name for name in lacks[run["run"]] if name not in in_all]
            if own:
                yield _finding("missing columns", f"no {', '.join(own)}, which other logs have", **_of(run))


def _times(facts: pd.DataFrame) -> Iterator[Finding]:
    """One finding per way in which times were found, but for what logs state; and one for what was noticed in a log."""
    for source, runs in facts.dropna(subset="seconds_from").groupby("seconds_from", sort=False):
        if not str(source).startswith("stated"):
            count = f"{len(runs)} run{'' if len(runs) == 1 else 's'}"
            yield _finding("time of a log", f"the time of {count} is from: {source}")
    for run in records(facts.dropna(subset="remarks")):
        yield _finding("time of a log", run["remarks"], **_of(run))


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


def _far_apart(facts: pd.DataFrame) -> Iterator[Finding]:
    """Two runs of the same work on the same machine do not differ so much: something that no axis names does."""
    done = facts[facts["status"].eq("done").fillna(True)]
    timed = done.assign(value=done["samples_per_second"].astype("Float64").fillna(1 / done["train_seconds"]))
    timed = timed.dropna(subset="value").sort_values("value", kind="stable")
    values = timed.groupby(IN_LOGS, sort=False, dropna=False)["value"]
    far = timed[values.transform("max") > FAR_APART * values.transform("min")]
    for _, cell in far.groupby(IN_LOGS, sort=False, dropna=False):
        slow, fast = cell.iloc[0], cell.iloc[-1]
        yield _finding(
            "runs far apart",
            f"the {len(cell)} runs of one configuration lie {number(fast['value'] / slow['value'])} x apart, the "
            f"fastest is {fast['run']}: they differ in more than it says, or one is broken",
            **_of({str(key): value for key, value in slow.items()}),
        )


def beside_single_cards(facts: pd.DataFrame, cards: Mapping[str, str]) -> pd.DataFrame:
    """Return the cells of machines with several cards beside that of one such card, all else alike: medians of runs.

    `cards` is the model of the GPUs by machine. Columns: workload, card, framework, batch_size (of one device),
    precision, devices, hardware, `several` and `one` (samples/s), `runs` and `plain_runs` behind them, and
    `efficiency`: several over devices x one.
    """
    rated = facts.assign(card=facts["hardware"].map(cards)).dropna(subset=["card", "devices", "samples_per_second"])
    rated = rated[rated["status"].eq("done").fillna(True)]
    keys = ["workload", "card", "framework", "batch_size", "precision"]
    rate = ("samples_per_second", "median")
    several = rated[rated["devices"] > 1].groupby([*keys, "devices", "hardware"], sort=False, dropna=False)
    one = rated[rated["devices"] == 1].groupby(keys, sort=False, dropna=False)
    rows = several.agg(several=rate, runs=("run", "count")).reset_index()
    rows = rows.merge(one.agg(one=rate, plain_runs=("run", "count")).reset_index(), on=keys)
    return rows.assign(efficiency=rows["several"] / rows["one"] / rows["devices"])


def _beyond_perfect_scaling(facts: pd.DataFrame, cards: Mapping[str, str]) -> Iterator[Finding]:
    """One finding per workload and machine with n cards that does more than n machines with one."""
    found = beside_single_cards(facts, cards)
    beyond = found[found["efficiency"] > PERFECT].sort_values("efficiency", ascending=False, kind="stable")
    for most in records(beyond.drop_duplicates(list(_THINGS)).sort_index()):
        precision = "" if pd.isna(most["precision"]) else f" in {most['precision']}"
        yield _finding(
            BEYOND_PERFECT,
            f"{number(most['efficiency'])} x what {most['devices']} single cards do: {number(most['several'])} "
            f"samples/s with {most['devices']} {most['card']}{precision}, {number(most['one'])} with one; "
            "that is not the work of the cards alone",
            **{key: most[key] for key in _THINGS},
        )


def _single_runs(facts: pd.DataFrame) -> Iterator[Finding]:
    runs = facts.groupby(IN_LOGS, dropna=False).size()
    single = int((runs == 1).sum())
    if single:
        yield _finding("single runs", f"{single} of {len(runs)} configurations have one run only: no spread is known")


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
            yield _finding(UNLIKE, entry["says"], **same)
