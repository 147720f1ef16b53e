"""What runs will take and cost before they run, from what is known: own runs, published ones, peaks of cards."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from operator import itemgetter
from statistics import median
from typing import Any

from scripts.costs import budget
from scripts.costs.billing import Rule
from scripts.records import about
from scripts.records.cell import Cell
from scripts.studies import definition

#: Of a run of a published study: its workload, the entry of its machine, and samples/s.
Published = tuple[str, Mapping[str, Any], float]


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


def _machine_key(items: Iterable[str]) -> frozenset[str]:
    """Return what makes a machine fast: its GPUs, or itself without any."""
    return frozenset(item for item in items if "nvidia" in item) or frozenset(items)


def published_rates(published: Iterable[Published], catalogue: Mapping[str, Any]) -> dict[tuple[str, str], float]:
    """Return samples/s by workload and machine, of those that published studies rented as the same items."""
    found: dict[tuple[str, frozenset[str]], list[float]] = {}
    ours = about.workloads()
    for workload, machine, rate in published:
        found.setdefault((workload, _machine_key(machine["rent"]["items"])), []).append(rate)
    return {
        (workload, name): median(found[workload, key])
        for name, machine in catalogue.items()
        if "rent" in machine
        for workload, key in [(w, _machine_key(machine["rent"]["items"])) for w in ours]
        if (workload, key) in found
    }


def published_by_cores(published: Iterable[Published]) -> dict[tuple[str, int], float]:
    """Return samples/s by workload and number of vCPUs, where a machine of a published study names its `cores`."""
    found: dict[tuple[str, int], list[float]] = {}
    for workload, machine, rate in published:
        if "cores" in machine:
            found.setdefault((workload, machine["cores"]), []).append(rate)
    return {key: median(rates) for key, rates in found.items()}


def peaks(catalogue: Mapping[str, Any]) -> dict[tuple[str, str], float]:
    """Return the peaks of machines (FLOP/s) by name and precision."""
    return {
        (machine, precision): 1e12 * value
        for machine, about in catalogue.items()
        for precision, value in about.get("peak_tflops", {}).items()
        if precision != "source"
    }


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
    study: Mapping[str, Any],
    catalogue: Mapping[str, Any],
    profile: str,
    cells: Mapping[str, Cell],
    known: budget.Known,
    prices: Iterable[Mapping[str, Any]],
) -> list[budget.Priced]:
    """Return the runs (folder -> cell) with what they will take and cost, the cheapest first.

    `known` is what is known of such runs, `prices` what the machines cost (rows of `hourly.price_rows`).
    """
    runs = [
        wanted(folder, cell, machine["machine"]["cores"], 60 * most)
        for folder, cell in cells.items()
        for machine in [catalogue[cell.hardware]]
        for most in [definition.most_minutes(study, machine, profile, cell.workload)]
    ]
    expected = [budget.expect(one, known) for one in runs]
    return budget.price(runs, expected, rates(prices, profile))


def by_price(prices: Iterable[Mapping[str, Any]], profile: str) -> dict[str, dict[str, Any]]:
    """Return the rates of machines for scripts/workflow/meter.py by name, the cheapest by the hour first."""
    cheapest_first = sorted(prices, key=itemgetter("usd_per_hour"))
    return {name: asdict(rate) for name, rate in rates(cheapest_first, profile).items()}
