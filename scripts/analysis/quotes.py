"""What runs will take and cost before they run, from what is known: own runs, published ones, peaks of cards."""

import csv
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict
from functools import cache
from operator import itemgetter
from pathlib import Path
from statistics import median
from typing import Any

from scripts.costs import budget, hourly
from scripts.costs.billing import Rule
from scripts.records import about
from scripts.records.cell import Cell
from scripts.storage.errors import InputError
from scripts.studies import definition

FACTS = definition.ROOT / "reports" / "published" / "facts"
TABLES = definition.ROOT / "reports" / "published" / "tables"


def records(folder: Path) -> list[Path]:
    """Return the run records of a study that are there."""
    return sorted(folder.glob("*/*/*/*/r*/run.json"))


def paid(
    study: Mapping[str, Any], catalogue: Mapping[str, Any], hardware: Iterable[str], profile: str
) -> list[dict[str, Any]]:
    """Return what the machines cost as `profile` takes them: rows of `hourly.price_rows`, none without a price.

    What it rents is rented as a spot machine, or on demand; for all others the study's price option counts.
    """
    machines = definition.machines(dict(study), dict(catalogue))

    def option(name: str) -> str:
        submitted = machines[name].get("clusters", {}).get(profile)
        if submitted is None or "rent" not in machines[name]:
            return study["price"]
        is_spot = submitted.get("spot") or submitted.get("provisioning_model") == "SPOT"
        return "spot" if is_spot else "on-demand"

    options = {name: {"purchase": name} for name in ("on-demand", "spot")}
    options |= {study["price"]: study["prices"][study["price"]]}
    rows = hourly.of_study({**study, "prices": options}, machines, set(hardware))
    return [row for row in rows if row["price_option"] == option(row["hardware"])]


def rates(prices: Iterable[Mapping[str, Any]], profile: str) -> dict[str, budget.Rate]:
    """Return the rates of machines by name; on a cluster a machine that is lost is replaced, on a cloud each starts."""
    return {
        row["hardware"]: budget.Rate(
            row["usd_per_hour_high"],
            Rule(row["increment_seconds"], row["minimum_seconds"]),
            1 if profile == "local" else budget.ATTEMPTS,
            budget.BOOT_SECONDS if profile.startswith("gce-") else 0.0,
        )
        for row in prices
    }


#: What a quote wants to be told by published logs.
_FACTS = {"workload": str, "hardware": str, "train_seconds": float, "epochs_done": int}


def told(file: Path, columns: Mapping[str, Callable[[str], Any]]) -> list[dict[str, Any]]:
    """Return some columns of a committed CSV file (name -> type), None for what is empty.

    Without pandas, which takes longer to load than all these files to read. Raises InputError for another file.
    """
    try:
        with file.open(encoding="utf-8", newline="") as text:
            return [
                {name: kind(row[name]) if row[name] else None for name, kind in columns.items()}
                for row in csv.DictReader(text, strict=True)
            ]
    except (KeyError, ValueError, csv.Error) as error:
        raise InputError(f"{file}: has no column or value as expected: {error}") from error


def _machine_key(items: Iterable[str]) -> frozenset[str]:
    """Return what makes a machine fast: its GPUs, or itself without any."""
    return frozenset(item for item in items if "nvidia" in item) or frozenset(items)


@cache
def _published() -> list[tuple[str, dict[str, Any], float]]:
    """Return workload, entry of the machine and samples/s of each run of a published study whose machine is rented.

    The published logs have epoch times; the samples of an epoch are those of the official data.
    """
    found, ours = [], about.workloads()
    for file in sorted(FACTS.glob("*.csv")):
        path = definition.ROOT / "config" / "studies" / f"{file.stem}.yaml"
        machines = definition.read(file.stem, {})[1]["machines"] if path.is_file() else {}
        for run in told(file, _FACTS):
            workload, machine = run["workload"], machines.get(run["hardware"], {})
            if None in run.values() or workload not in ours or "rent" not in machine:
                continue
            dataset = about.workload(workload).dataset
            if dataset:
                complete = about.dataset(dataset).train
                found.append((workload, machine, complete * run["epochs_done"] / run["train_seconds"]))
    return found


def published_rates(catalogue: Mapping[str, Any]) -> dict[tuple[str, str], float]:
    """Return samples/s by workload and machine, of those that published studies rented as the same items."""
    found: dict[tuple[str, frozenset[str]], list[float]] = {}
    ours = about.workloads()
    for workload, machine, rate in _published():
        found.setdefault((workload, _machine_key(machine["rent"]["items"])), []).append(rate)
    return {
        (workload, name): median(found[workload, key])
        for name, machine in catalogue.items()
        if "rent" in machine
        for workload, key in [(w, _machine_key(machine["rent"]["items"])) for w in ours]
        if (workload, key) in found
    }


def published_by_cores() -> dict[tuple[str, int], float]:
    """Return samples/s by workload and number of vCPUs, where a machine of a published study tells its `cores`."""
    found: dict[tuple[str, int], list[float]] = {}
    for workload, machine, rate in _published():
        if "cores" in machine:
            found.setdefault((workload, machine["cores"]), []).append(rate)
    return {key: median(rates) for key, rates in found.items()}


def published_runs() -> list[dict[str, Any]]:
    """Return what `budget.TOLD` names of the runs of the published studies that were trained with this project."""
    return [run for file in sorted(TABLES.glob("*/runs.csv")) for run in told(file, budget.TOLD)]


def measured_runs(name: str, repeats: int) -> list[dict[str, Any]]:
    """Return what `budget.TOLD` names of a study's runs so far."""
    folder = definition.ROOT / "results" / name
    there = records(folder)
    if not there:
        return []
    from scripts.analysis import runs  # with pandas, which takes a quarter of a second
    from scripts.storage import tables

    measured, _, _ = runs.collect(folder, there, repeats)
    measured = measured[list(budget.TOLD)].astype(object)
    return tables.records(measured.where(measured.notna(), None))


def wanted(folder: str, cell: Cell, cores: int, most_seconds: float) -> budget.Wanted:
    """Return a run of a cell as the budget sees it."""
    dataset = about.workload(cell.workload).dataset
    complete = about.dataset(dataset).train if dataset else 0
    return budget.Wanted(
        folder,
        cell.workload,
        cell.hardware,
        cell.framework,
        cell.batch_size if isinstance(cell.batch_size, int) else None,
        cell.mode,
        cell.precision,
        cell.devices,
        cores,
        cell.epochs * cell.samples * complete,
        most_seconds,
    )


def priced(
    name: str,
    study: Mapping[str, Any],
    catalogue: Mapping[str, Any],
    profile: str,
    asked: Iterable[Mapping[str, Any]],
) -> list[budget.Priced]:
    """Return the runs (`folder` and `cell` of each) with what they will take and cost, the cheapest first."""
    cells = {run["folder"]: Cell(**run["cell"]) for run in asked}
    peaks = {
        (machine, precision): 1e12 * value
        for machine, about in catalogue.items()
        for precision, value in about.get("peak_tflops", {}).items()
        if precision != "source"
    }
    measured = measured_runs(name, study["repeats"])
    known = budget.Known(measured, published_rates(catalogue), published_runs(), peaks, published_by_cores())
    prices = paid(study, catalogue, {cell.hardware for cell in cells.values()}, profile)
    told = [
        wanted(folder, cell, machine["machine"]["cores"], 60 * definition.most_minutes(study, machine, profile))
        for folder, cell in cells.items()
        for machine in [catalogue[cell.hardware]]
    ]
    expected = [budget.expect(one, known) for one in told]
    return budget.price(told, expected, rates(prices, profile))


def spent_usd(name: str, study: Mapping[str, Any], catalogue: Mapping[str, Any], profile: str) -> float:
    """Return what the study's runs have cost so far, without those of machines that have no price."""
    from scripts.analysis import runs
    from scripts.costs import prices

    folder = definition.ROOT / "results" / name
    measured, _, attempts = runs.collect(folder, records(folder), study["repeats"])
    paid_for = prices.table(paid(study, catalogue, set(measured["hardware"]), profile))
    return float(prices.spent(measured, attempts, paid_for)["usd"].sum())


def by_price(prices: Iterable[Mapping[str, Any]], profile: str) -> dict[str, dict[str, Any]]:
    """Return the rates of machines for scripts/workflow/meter.py by name, the cheapest by the hour first."""
    cheapest_first = sorted(prices, key=itemgetter("usd_per_hour"))
    return {name: asdict(rate) for name, rate in rates(cheapest_first, profile).items()}
