"""Print what of a study's grid is done, running, failed and missing, with reasons, hours and dollars."""

import argparse
import json
from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from scripts.analysis import runs as recorded
from scripts.costs import billing, prices, pricing
from scripts.measurement import checkpoint
from scripts.records import about, stored
from scripts.storage import environment, errors, schemas
from scripts.storage.files import read_text
from scripts.storage.numbers import number
from scripts.storage.words import printable
from scripts.studies import definition, grid
from scripts.workflow import running

#: An attempt gives a sign of life every minute.
ALIVE = timedelta(minutes=2)


def is_alive(checkpoints: str, run: str) -> bool:
    """Return whether an attempt at a run, on any machine, gave a sign of life of late."""
    attempts = checkpoint.Place(f"{checkpoints}/{run}").attempts() if checkpoints else []
    if not attempts or attempts[-1]["ended"]:
        return False
    return datetime.now(UTC) - datetime.fromisoformat(attempts[-1]["seen_at"]) < ALIVE


def rows(
    study: grid.Study, folder: Path, checkpoints: str, profiles: Mapping[str, Iterable[str]]
) -> list[dict[str, Any]]:
    """Return one row per cell: how many of its runs are in each state, the last reason, and their records.

    `profiles` are those that reach a machine, by its name.
    """
    here = {job.run for job in running.here(Path.cwd(), study.name)}
    found = []
    for cell in study.cells:
        states: Counter[str] = Counter()
        reason, files = "", []
        for repeat in range(1, study.again().stop):
            run = f"{cell.path}/r{repeat}"
            file = folder / run / "run.json"
            if file.is_file():
                record = recorded.complete(stored.read(file))
                states[record["status"]] += 1
                reason = record["reason"] or reason
                files.append(file)
            elif run in here or is_alive(checkpoints, run):
                states["running"] += 1
            elif repeat not in study.again():
                states["missing"] += 1
        for profile in profiles.get(cell.hardware, ()):
            tried = folder / "tried" / profile / cell.workload / f"{cell.framework}.json"
            failed = json.loads(read_text(tried)) if tried.is_file() and not files else {}
            if cell.variant in failed:
                reason = f"not tried, as the cheapest machine of {profile} failed: {failed[cell.variant]}"
        found.append({"cell": cell.path, "hardware": cell.hardware, "states": states, "reason": reason, "files": files})
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name", help="of the study")
    parser.add_argument("--study", required=True, help="the study's config (JSON)")
    parser.add_argument("--hardware", required=True, type=Path, help="catalogue of machines (.yaml)")
    options = parser.parse_args()
    config = json.loads(options.study)
    if not definition.is_trained_here(config):
        raise errors.InputError(f"study {options.name}: shows runs of others, and trains none")
    about.add(config["workload_files"])
    catalogue = schemas.read_yaml(options.hardware, "hardware")
    study = grid.planned(options.name, config, catalogue)
    folder = Path("results") / options.name
    profiles = {name: about.get("clusters", {}) for name, about in catalogue.items()}
    cells = rows(study, folder, environment.CHECKPOINTS.read(), profiles)
    files = [file for cell in cells for file in cell["files"]]
    runs, _, attempts = recorded.collect(stored.each(folder, files, recorded.rows), config["repeats"], folder)
    machines = definition.machines(config, catalogue)
    hourly = pricing.price_table(config, machines, set(runs["hardware"]))
    spent = prices.spent(runs, attempts, hourly[hourly["price_option"] == config["price"]])

    table = Table("cell", "runs", "hours", "USD", "why", title=f"{options.name} ({config['price']})")
    total: Counter[str] = Counter()
    for cell in cells:
        total += cell["states"]
        mine = spent[spent["run"].str.startswith(f"{cell['cell']}/")]
        words = ", ".join(f"{count} {state.replace('_', ' ')}" for state, count in cell["states"].items())
        hours, usd = mine["used_seconds"].sum() / billing.SECONDS_PER_HOUR, mine["usd"].sum(skipna=False)
        table.add_row(
            cell["cell"],
            words,
            "" if mine.empty else number(float(hours)),
            "" if mine.empty or usd != usd else number(float(usd)),
            printable(cell["reason"]),
        )
    console = Console(markup=False, highlight=False)
    console.print(table)
    counted = ", ".join(f"{count} {state.replace('_', ' ')}" for state, count in total.most_common())
    console.print(f"{sum(total.values())} runs of {len(cells)} cells: {counted}")
    return 0


if __name__ == "__main__":
    errors.run(main)
