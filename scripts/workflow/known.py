"""What is known of runs before they run, read from where it lies: own records, published tables, prices."""

import csv
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from scripts.analysis import quotes
from scripts.costs import budget, hourly
from scripts.records import about, stored
from scripts.records.cell import Cell
from scripts.storage.errors import InputError
from scripts.studies import definition

FACTS = definition.ROOT / "reports" / "published" / "facts"
TABLES = definition.ROOT / "reports" / "published" / "tables"


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


#: What a quote wants to know from published logs.
_FACTS = {"workload": str, "hardware": str, "train_seconds": float, "epochs_done": int}


def read_columns(file: Path, columns: Mapping[str, Callable[[str], Any]]) -> list[dict[str, Any]]:
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


@cache
def _published() -> list[quotes.Published]:
    """Return workload, entry of the machine and samples/s of each run of a published study whose machine is rented.

    The published logs have epoch times; the samples of an epoch are those of the official data.
    """
    found: list[quotes.Published] = []
    ours = about.workloads()
    for file in sorted(FACTS.glob("*.csv")):
        path = definition.ROOT / "config" / "studies" / f"{file.stem}.yaml"
        machines = definition.read(file.stem, {})[1]["machines"] if path.is_file() else {}
        for run in read_columns(file, _FACTS):
            workload, machine = run["workload"], machines.get(run["hardware"], {})
            if None in run.values() or workload not in ours or "rent" not in machine:
                continue
            dataset = about.workload(workload).dataset
            if dataset:
                complete = about.dataset(dataset).train
                found.append((workload, machine, complete * run["epochs_done"] / run["train_seconds"]))
    return found


def published_runs() -> list[dict[str, Any]]:
    """Return what `budget.COLUMNS` names of the runs of the published studies that were trained with this project."""
    return [run for file in sorted(TABLES.glob("*/runs.csv")) for run in read_columns(file, budget.COLUMNS)]


def measured_runs(name: str, repeats: int) -> list[dict[str, Any]]:
    """Return what `budget.COLUMNS` names of a study's runs so far."""
    if not stored.find(definition.ROOT / "results" / name):
        return []
    from scripts.storage import tables  # with pandas, which takes a quarter of a second

    measured = _collected(name, repeats)[0][list(budget.COLUMNS)].astype(object)
    return tables.records(measured.where(measured.notna(), None))


def _collected(name: str, repeats: int) -> Any:
    """Return the tables of a study's runs so far: those of runs, of epochs and of attempts."""
    from scripts.analysis import runs

    folder = definition.ROOT / "results" / name
    return runs.collect(stored.each(folder, stored.find(folder), runs.rows), repeats, folder)


def priced(
    name: str,
    study: Mapping[str, Any],
    catalogue: Mapping[str, Any],
    profile: str,
    asked: Iterable[Mapping[str, Any]],
) -> list[budget.Priced]:
    """Return the runs (`folder` and `cell` of each) with what they will take and cost, the cheapest first."""
    cells = {run["folder"]: Cell(**run["cell"]) for run in asked}
    published = _published()
    known = budget.Known(
        measured_runs(name, study["repeats"]),
        quotes.published_rates(published, catalogue),
        published_runs(),
        quotes.peaks(catalogue),
        quotes.published_by_cores(published),
    )
    prices = paid(study, catalogue, {cell.hardware for cell in cells.values()}, profile)
    return quotes.priced(study, catalogue, profile, cells, known, prices)


def spent_usd(name: str, study: Mapping[str, Any], catalogue: Mapping[str, Any], profile: str) -> float:
    """Return what the study's runs have cost so far, without those of machines that have no price."""
    from scripts.costs import prices

    measured, _, attempts = _collected(name, study["repeats"])
    paid_for = prices.table(paid(study, catalogue, set(measured["hardware"]), profile))
    return float(prices.spent(measured, attempts, paid_for)["usd"].sum())
