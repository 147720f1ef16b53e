"""Quote what the runs of a study will cost before they run, and which of them a budget allows."""

import json
import sys
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pandas as pd
from rich.console import Console
from rich.table import Table

from scripts import collect, datasets, load_tables, workloads
from scripts.costs import budget
from scripts.costs.billing import Rule
from scripts.importers import facts
from scripts.measurement.cell import Cell
from scripts.price import price_table
from scripts.storage import errors, numbers, schemas
from scripts.studies import grid

ROOT = Path(__file__).resolve().parents[1]
FACTS = ROOT / "reports" / "published" / "facts"
TABLES = ROOT / "reports" / "published" / "tables"


def records(folder: Path) -> list[Path]:
    """Return the run records of a study that are there."""
    return sorted(folder.glob("*/*/*/*/r*/run.json"))


def paid(study: Mapping[str, Any], catalogue: Mapping[str, Any], hardware: Iterable[str], reach: str) -> pd.DataFrame:
    """Return what the machines cost as the profile `reach` takes them: rows of `price_table`, none without a price.

    What it rents is rented as a spot machine, or on demand; for all others the study's price option counts.
    """
    machines = grid.machines(dict(study), dict(catalogue))

    def option(name: str) -> str:
        submitted = machines[name].get("clusters", {}).get(reach)
        if submitted is None or "rent" not in machines[name]:
            return study["price"]
        return "spot" if submitted.get("spot") else "on-demand"

    options = {name: {"purchase": name} for name in ("on-demand", "spot")}
    options |= {study["price"]: study["prices"][study["price"]]}
    table = price_table({**study, "prices": options}, machines, set(hardware))
    return table[table["price_option"] == table["hardware"].map(option)]


def rates(prices: pd.DataFrame, reach: str) -> dict[str, budget.Rate]:
    """Return the rates of machines by name; on a cluster a machine that is lost is replaced."""
    return {
        row["hardware"]: budget.Rate(
            row["usd_per_hour_high"],
            Rule(row["increment_seconds"], row["minimum_seconds"]),
            1 if reach == "local" else budget.ATTEMPTS,
        )
        for row in prices.to_dict("records")
    }


def _machine_key(items: Iterable[str]) -> frozenset[str]:
    """Return what makes a machine fast: its GPUs, or itself without any."""
    return frozenset(item for item in items if "nvidia" in item) or frozenset(items)


def published_rates(catalogue: Mapping[str, Any]) -> dict[tuple[str, str], float]:
    """Return samples/s by workload and machine, where a published study measured one that is rented as the same items.

    The published logs have epoch times; the samples of an epoch are those of the official data.
    """
    found: dict[tuple[str, frozenset[str]], list[float]] = {}
    for file in sorted(FACTS.glob("*.csv")):
        path = ROOT / "config" / "studies" / f"{file.stem}.yaml"
        machines = grid.read(file.stem, {})[1]["machines"] if path.is_file() else {}
        for row in facts.read(file).dropna(subset=["train_seconds", "epochs_done"]).to_dict("records"):
            about = machines.get(row["hardware"], {})
            if row["workload"] not in workloads.names() or "rent" not in about:
                continue
            dataset = workloads.workload(row["workload"]).DATASET
            complete = getattr(datasets.dataset(dataset), "COMPLETE", None) if dataset else None
            if complete:
                rate = complete * row["epochs_done"] / row["train_seconds"]
                found.setdefault((row["workload"], _machine_key(about["rent"]["items"])), []).append(rate)
    return {
        (workload, name): float(pd.Series(found[workload, key]).median())
        for name, about in catalogue.items()
        if "rent" in about
        for workload, key in [(w, _machine_key(about["rent"]["items"])) for w in workloads.names()]
        if (workload, key) in found
    }


def published_runs() -> pd.DataFrame:
    """Return the runs of the published studies that were trained with this project."""
    return pd.concat([load_tables.take("runs", file) for file in sorted(TABLES.glob("*/runs.csv"))])


def wanted(folder: str, cell: Cell, cores: int, most_seconds: float) -> budget.Wanted:
    """Return a run of a cell as the budget sees it."""
    work = workloads.workload(cell.workload)
    complete = getattr(datasets.dataset(work.DATASET), "COMPLETE", 0) if work.DATASET else 0
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
    reach: str,
    asked: Iterable[Mapping[str, Any]],
) -> list[budget.Priced]:
    """Return the runs (`folder` and `cell` of each) with what they will take and cost, the cheapest first."""
    cells = {run["folder"]: Cell(**run["cell"]) for run in asked}
    runs, _, _ = collect.collect(ROOT / "results" / name, records(ROOT / "results" / name))
    peaks = {
        (machine, precision): 1e12 * value
        for machine, about in catalogue.items()
        for precision, value in about.get("peak_tflops", {}).items()
        if precision != "source"
    }
    known = budget.Known(runs, published_rates(catalogue), published_runs(), peaks)
    prices = paid(study, catalogue, {cell.hardware for cell in cells.values()}, reach)
    told = [
        wanted(folder, cell, catalogue[cell.hardware]["machine"]["cores"], 60 * study["max_run_minutes"])
        for folder, cell in cells.items()
    ]
    expected = [budget.expect(one, known) for one in told]
    return budget.price(told, expected, rates(prices, reach))


def spent_usd(name: str, study: Mapping[str, Any], catalogue: Mapping[str, Any], reach: str) -> float:
    """Return what the study's runs have cost so far, without those of machines that have no price."""
    folder = ROOT / "results" / name
    runs, _, attempts = collect.collect(folder, records(folder))
    prices = paid(study, catalogue, set(runs["hardware"]), reach)
    return float(budget.spent(runs, attempts, prices)["usd"].sum())


def show(table: pd.DataFrame, study: Mapping[str, Any]) -> None:
    """Print a quote."""
    shown = Table(
        "machine", "runs", "hours", "USD expected", "USD at worst", "based on", title=f"quote ({study['price']})"
    )
    for row in table.to_dict("records"):
        usd = [
            numbers.number(row[key]) if row[key] == row[key] else "no price" for key in ("expected_usd", "worst_usd")
        ]
        shown.add_row(row["hardware"], str(row["runs"]), numbers.number(row["hours"]), *usd, row["basis"])
    console = Console(stderr=True)
    console.print(shown)
    if study["repeats"] > 1:
        console.print(
            f"Cells whose runs spread by more than {study['unstable_above']:.0%} are measured once more: that is not "
            "in these sums, and at worst it is every run of the study."
        )


def by_price(prices: pd.DataFrame, reach: str) -> dict[str, dict[str, Any]]:
    """Return the rates of machines for scripts/workflow/meter.py by name, the cheapest by the hour first."""
    cheapest_first = prices.sort_values("usd_per_hour", kind="stable")
    return {name: asdict(rate) for name, rate in rates(cheapest_first, reach).items()}


def main() -> int:
    """Print the quote for what stands on standard input (JSON: name, study, runs with folder and cell, budget_usd).

    The table goes to standard error, and what each run is expected to cost to standard output (JSON). With --machines,
    print instead the rates of their machines (JSON), the cheapest first; with --allow, the folders (JSON) of the runs
    that the budget pays for. Raises InputError where the runs could cost more than is left of the budget.
    """
    asked = json.load(sys.stdin)
    name, study, reach = asked["name"], asked["study"], asked["reach"]
    workloads.add(study["workload_files"])
    catalogue = schemas.read_yaml(ROOT / "config" / "hardware.yaml", "hardware")
    if "--machines" in sys.argv[1:]:
        machines = dict.fromkeys(run["cell"]["hardware"] for run in asked["runs"])
        print(json.dumps(by_price(paid(study, catalogue, machines, reach), reach)))
        return 0
    runs = priced(name, study, catalogue, reach, asked["runs"])
    budget_usd = float("inf") if asked["budget_usd"] is None else asked["budget_usd"]
    spent = spent_usd(name, study, catalogue, reach) if budget_usd < float("inf") else 0.0
    allowed, refused = budget.within(runs, budget_usd, spent)
    words = (
        f"budget_usd: {budget_usd:g}: {spent:.2f} USD are spent, and {len(refused)} of {len(runs)} runs could pass it"
    )
    if "--allow" in sys.argv[1:]:
        if refused:
            print(f"{words}: they are left out", file=sys.stderr)
        print(json.dumps([one.wanted.folder for one in allowed]))
        return 0
    show(budget.quote(runs), study)
    if refused and budget_usd < float("inf"):
        raise errors.InputError(words)
    print(json.dumps({one.wanted.folder: one.expected_usd for one in runs}))
    return 0


if __name__ == "__main__":
    errors.run(main)
