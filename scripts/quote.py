"""Quote what the runs of a study will cost before they run, and which of them a budget allows."""

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd
from rich.console import Console
from rich.table import Table

from scripts import workloads
from scripts.analysis import quotes
from scripts.costs import budget
from scripts.storage import errors, numbers, schemas

ROOT = Path(__file__).resolve().parents[1]


def print_table(table: pd.DataFrame, study: Mapping[str, Any]) -> None:
    """Print a quote."""
    shown = Table(
        "machine", "runs", "hours", "USD expected", "USD at worst", "based on", title=f"quote ({study['price']})"
    )
    for row in table.to_dict("records"):
        usd = [
            numbers.number(row[key]) if row[key] == row[key] else "no price" for key in ("expected_usd", "worst_usd")
        ]
        shown.add_row(row["hardware"], str(row["runs"]), numbers.number(row["hours"]), *usd, row["basis"])
    console = Console(stderr=True, markup=False, highlight=False)
    console.print(shown)
    if study["repeats"] > 1:
        console.print(
            f"Cells whose runs spread by more than {study['unstable_above']:.0%} are measured once more"
            f"{', and so are runs that another process disturbed' * study['repeat_disturbed']}: that is not in these "
            "sums, and at worst it is every run of the study."
        )


def main() -> int:
    """Print the quote for what stands on standard input (JSON: name, study, runs with folder and cell, budget_usd).

    The table goes to standard error, and what each run is expected to cost to standard output (JSON). With --machines,
    print instead the rates of their machines (JSON), the cheapest first; with --allow, the folders (JSON) of the runs
    that the budget pays for. Raises InputError where the runs could cost more than is left of the budget.
    """
    asked = json.load(sys.stdin)
    name, study, profile = asked["name"], asked["study"], asked["profile"]
    workloads.add(study["workload_files"])
    catalogue = schemas.read_yaml(ROOT / "config" / "hardware.yaml", "hardware")
    if "--machines" in sys.argv[1:]:
        machines = dict.fromkeys(run["cell"]["hardware"] for run in asked["runs"])
        print(json.dumps(quotes.by_price(quotes.paid(study, catalogue, machines, profile), profile)))
        return 0
    runs = quotes.priced(name, study, catalogue, profile, asked["runs"])
    budget_usd = float("inf") if asked["budget_usd"] is None else asked["budget_usd"]
    spent = quotes.spent_usd(name, study, catalogue, profile) if budget_usd < float("inf") else 0.0
    allowed, refused = budget.within(runs, budget_usd, spent)
    words = (
        f"budget_usd: {budget_usd:g}: {spent:.2f} USD are spent, and {len(refused)} of {len(runs)} runs could pass it"
    )
    if "--allow" in sys.argv[1:]:
        if refused:
            print(f"{words}: they are left out", file=sys.stderr)
        print(json.dumps([one.wanted.folder for one in allowed]))
        return 0
    print_table(budget.quote(runs), study)
    if refused and budget_usd < float("inf"):
        raise errors.InputError(words)
    print(json.dumps({one.wanted.folder: one.expected_usd for one in runs}))
    return 0


if __name__ == "__main__":
    errors.run(main)
