"""What a reader may ask of the page: every run and every price, as reports/scripts/engine.js takes them."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from scripts.analysis import clocks, noise, scale_ups, summary, trainings, verdicts
from scripts.analysis.names import FRAMEWORK_NAMES, provider_name
from scripts.costs import limits, ownership, spot
from scripts.costs.prices import useful_seconds
from scripts.pages import flips, heads, unranked, yours
from scripts.pages.days import when
from scripts.pages.inputs import Inputs
from scripts.storage.axes import CELL
from scripts.storage.tables import known, records
from scripts.studies import definition

_RULE = ("increment_seconds", "minimum_seconds")

#: Heads of columns of the tables that reports/scripts/ask.js makes, or how they begin.
_HEADS = (
    *("workload", "bought as", "lowest cost", "shortest time", "least time × cost", "time", "USD an hour"),
    *("billed at least", "configuration", "USD", "s", "even at, USD an hour", "clearly less below, USD an hour"),
    *("USD a card-hour", "even at, USD a card-hour", "clearly less below, USD a card-hour"),
)

_PREEMPTION = ("preemptions_per_hour", "checkpoint_seconds", "restart_seconds", "save_seconds")


def context(inputs: Inputs) -> dict[str, Any]:
    """Return `ask`: the rule, workloads, prices and cells with their runs; None where there is nothing to choose.

    A run takes once + times x rest seconds, `times` being how much of a training of full length is asked for;
    billed are `beside` seconds more, or, of a run that was preempted, each of its `tries`. Of a cell that is
    extrapolated, a training may take up to `reach` times as long.
    """
    cells = _cells(inputs)
    counted = pd.Series([cell["workload"] for cell in cells], dtype=object).value_counts()
    cells = [cell for cell in cells if counted[cell["workload"]] > 1]
    if not cells:
        return {"ask": None}
    question = trainings.Question.of(inputs.study)
    machines = {cell["hardware"] for cell in cells}
    return {
        "ask": {
            "name": inputs.name,
            "rule": {
                "level": inputs.judge.level,
                "level_of_few": verdicts.SIGNIFICANT_OF_FEW,
                "noises": {name: _noise(inputs, name) for name in sorted(machines)},
                "between_machines": dict(zip(("variance", "degrees"), noise.between_machines(), strict=True)),
            },
            "workloads": {name: _workload(inputs, name) for name in dict.fromkeys(cell["workload"] for cell in cells)},
            "options": inputs.option_labels,
            "option": inputs.price,
            "machines": {name: label for name, label in inputs.labels.items() if name in machines},
            "prices": _prices(inputs, machines),
            "cells": cells,
            "limits": limits.FIELDS,
            "means": {head: heads.meaning(head) for head in _HEADS},
            "beside": flips.beside(inputs.study),
            "quoted": yours.doors(inputs),
            "nets": next((about["nets"] for about in (inputs.quoted or {}).values()), []),
            "by_card": flips.by_card(inputs.study, inputs.cards),
            "question": [question.name(value, inputs.labels) for value in (question.value, question.than)]
            if question
            else None,
        },
        "ask_in_a_row": limits.IN_A_ROW,
    }


def _noise(inputs: Inputs, machine: str) -> dict[str, Any]:
    """Return the noise of a machine, and what it is a part of: a number, the same for parts of one."""
    judge = inputs.judge
    one = judge.noises.get(machine, judge.noise)
    hosts = list(dict.fromkeys(judge.hosts.values()))
    about = {"variance": one.variance, "degrees": _finite(one.degrees), "gap": one.gap}
    return about | {"host": hosts.index(judge.hosts[machine])}


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def _workload(inputs: Inputs, name: str) -> dict[str, Any]:
    """Return the unit of a workload, how many samples one is, and what they are.

    Where no run records its samples, a training is one: it may be asked for as a whole.
    """
    noun = definition.unit(inputs.study, name)
    left_out = unranked.words(inputs, name)
    if name in summary.rated_alone(inputs.runs):
        amount = definition.per_samples(inputs.study, name)
        about = {"unit": amount, "samples": float(inputs.per_samples), "noun": noun, "is_rate": True}
        return about | {"left_out": left_out}
    samples = inputs.samples_of(name)
    is_whole = bool(samples.isna().all())
    about = {"unit": "a training", "is_whole": is_whole, "left_out": left_out}
    return about | {"samples": 1.0 if is_whole else float(samples.median()), "noun": "trainings" if is_whole else noun}


def _prices(inputs: Inputs, machines: set[str]) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {option: {} for option in inputs.study["prices"]}
    for row in records(inputs.prices[inputs.prices["hardware"].isin(machines)]):
        price: dict[str, Any] = {"usd_per_hour": row["usd_per_hour"], "since": when(row["price_as_of"], inputs.newest)}
        price |= {"as_of": row["price_as_of"]} if row["price_as_of"] else {}
        rule = {key: row[key] for key in _RULE}
        if row["in_a_row"]:
            price |= {"alone": rule} if row["increment_seconds"] else {}
        else:
            price |= rule
        if row["purchase"] == "spot":
            price["is_spot"] = True
            if (lives := spot.lives_seconds(row["provider"], row["price_as_of"])) is not None:
                price["lives_seconds"] = lives
        if "offer" in inputs.study["prices"][row["price_option"]]:
            price["whose"] = f"{provider_name(row['provider'])} {row['price_as_of']}"
        if row["purchase"] == "month":
            price["by_month"] = True
        if row["preemptions_per_hour"]:
            price |= {key: _finite(row[key]) for key in _PREEMPTION}
        if row["purchase"] == "owned":
            own = inputs.machines[row["hardware"]]["own"]
            machine = ownership.machine(own)
            price["own"] = {
                "usd_per_month": machine.fixed_usd_per_month,
                "usd_per_hour": machine.energy_usd_per_hour,
                "hours_per_month": own["hours_per_month"],
            }
        found[row["price_option"]][row["hardware"]] = price
    return found


def _cells(inputs: Inputs) -> list[dict[str, Any]]:
    """Return every cell with runs that have a cost at some price, or may have one at a price that the reader types."""
    tries = {str(run): records(of) for run, of in inputs.attempts.groupby("run", sort=False)}
    taken = inputs.costs.drop_duplicates("run").set_index("run")[["useful_seconds", "used_seconds"]].astype(float)
    curves = _curves(inputs)
    done = inputs.runs[inputs.runs["status"] == "done"]
    of_log = useful_seconds(done).set_axis(done["run"])
    rated_alone = summary.rated_alone(inputs.runs)
    found = []
    cells: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for run in records(inputs.counted(done)):
        cells.setdefault(known(run[axis] for axis in CELL), []).append(run)
    for of_cell in cells.values():
        runs = []
        for run in of_cell:
            parts = None if pd.isna(run["published_seconds"]) else clocks.parts(run)
            used = taken["used_seconds"].get(run["run"])
            useful = taken["useful_seconds"].get(run["run"], of_log[run["run"]])
            about: dict[str, Any] = {"once": 0.0}
            tried = tries.get(run["run"], [])
            if len(tried) > 1 and not pd.isna(used):
                lives = [float(one["used_seconds"]) for one in tried]
                kept = [life + _start(one) for life, one in zip(lives, tried, strict=True)]
                about |= {"rest": float(used), "tries": [*kept[:-1], kept[-1] + float(used) - sum(lives)]}
            elif parts is not None:
                first_step = 0.0 if clocks.is_watched(run) else float(run["first_step_seconds"])
                about |= {"once": parts[0], "rest": parts[1], "first_step": first_step}
            elif not pd.isna(useful):
                about["rest"] = float(useful)
            elif run["workload"] in rated_alone and not pd.isna(run["samples_per_second"]):
                about["rest"] = inputs.per_samples / float(run["samples_per_second"])
            else:
                continue
            if len(tried) == 1 and not pd.isna(tried[0]["wait_seconds"]):
                lived = max(float(run[name]) for name in ("total_seconds", "train_seconds") if not pd.isna(run[name]))
                about["beside"] = max(0.0, float(tried[0]["used_seconds"]) - lived) + _start(tried[0])
            if run["run"] in curves:
                about["reached"] = curves[run["run"]]
            runs.append(about)
        cell = {axis: of_cell[0][axis] for axis in CELL}
        if runs:
            name = inputs.name_of(cell) + inputs.dagger(cell)
            about = {"workload": cell["workload"], "hardware": cell["hardware"], **_side(cell, inputs)}
            about["software"] = FRAMEWORK_NAMES.get(cell["framework"], cell["framework"])
            reach = scale_ups.of_runs([run["run"] for run in of_cell], inputs.shares)[1]
            if reach > 1:
                about["reach"] = reach
            if training := yours.training_of(cell):
                about["training"] = training
            found.append(about | {"name": name, "runs": runs})
    return found


def _start(attempt: Mapping[str, Any]) -> float:
    """Return what is billed before an attempt began (s), 0 where no cluster records it."""
    return sum(float(attempt[name]) for name in ("boot_seconds", "wait_seconds") if not pd.isna(attempt[name]))


def _side(cell: Mapping[str, Any], inputs: Inputs) -> dict[str, Any]:
    """Return the `side` of the study's question that a cell is on (0, 1 or none), and what else it is (`rest`)."""
    question = trainings.Question.of(inputs.study)
    sides = (question.value, question.than) if question else ()
    if question is None or cell[question.axis] not in sides:
        return {}
    rest = ", ".join(str(cell[axis]) for axis in CELL if axis not in ("workload", question.axis))
    return {"side": sides.index(cell[question.axis]), "rest": rest}


def _curves(inputs: Inputs) -> dict[str, list[tuple[float, float]]]:
    """Return by run which share of a published training came to which validation accuracy, where it got better.

    Shares are of the samples, in logs that do not record them of the time. Synthetic data learn nothing.
    """
    runs = inputs.runs[(inputs.runs["status"] == "done") & ~inputs.runs["data"].eq("synthetic").fillna(False)]
    about = {run["run"]: run for run in records(runs)}
    epochs = inputs.epochs[inputs.epochs["run"].isin(about)].dropna(subset="val_acc")
    found = {}
    for name, rows in epochs.sort_values("epoch").groupby("run", sort=False):
        run = about[str(name)]
        done = run["epochs_done"]
        if not pd.isna(run["published_samples"]) and not pd.isna(run["train_samples"]):
            shares = np.arange(1, len(rows) + 1) * run["train_samples"] / run["published_samples"]
        elif rows["elapsed"].notna().all() and len(rows) == done:
            shares = rows["elapsed"].cumsum() / run["train_seconds"]
        else:
            continue
        best = rows["val_acc"].cummax()
        better = best.diff().fillna(1) > 0
        found[str(name)] = [
            (round(float(share), 6), round(float(value), 4))
            for share, value in zip(np.asarray(shares)[better], best[better], strict=True)
        ]
    return found
