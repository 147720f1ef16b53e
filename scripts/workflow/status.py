"""What of a study's grid is done, running, failed and missing, with reasons, hours and dollars."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from rich.table import Table

from scripts.analysis import runs as recorded
from scripts.costs import billing, prices, pricing
from scripts.records import stored
from scripts.storage import schemas
from scripts.storage.errors import InputError
from scripts.storage.files import read_text
from scripts.storage.numbers import number
from scripts.storage.words import printable
from scripts.studies import definition, grid
from scripts.workflow import running
from scripts.workflow.plan import Plan, reasons


def rows(
    study: grid.Study, folder: Path, is_alive: Callable[[str], bool], profiles: Mapping[str, Iterable[str]]
) -> list[dict[str, Any]]:
    """Return one row per cell: how many of its runs are in each state, the last reason, and their records.

    `is_alive` says whether a run is trained on another machine, `profiles` are those that reach a machine, by its name.
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
            elif run in here or is_alive(run):
                states["running"] += 1
            elif repeat not in study.again():
                states["missing"] += 1
        for profile in profiles.get(cell.hardware, ()):
            tried = folder / "tried" / profile / cell.workload / f"{cell.framework}.json"
            failed = reasons(read_text(tried)) if tried.is_file() and not files else {}
            if cell.variant in failed:
                reason = f"not tried, as the cheapest machine of {profile} failed: {failed[cell.variant]}"
        found.append({"cell": cell.path, "hardware": cell.hardware, "states": states, "reason": reason, "files": files})
    return found


def cells(name: str, config: Mapping[str, Any], is_alive: Callable[[str], bool]) -> list[dict[str, Any]]:
    """Return `rows` of a study by its config, with the hours that were used and what they cost (USD, None if unknown).

    `outdated` counts the runs that were trained by other code than that of now: they are trained again.

    Raises InputError for a study that trains nothing.
    """
    if not definition.is_trained_here(dict(config)):
        raise InputError(f"study {name}: shows runs of others, and trains none")
    catalogue = schemas.read_yaml(Path("config/hardware.yaml"), "hardware")
    definition.check_machines(f"study {name}", dict(config), catalogue)
    folder = Path("results") / name
    profiles = {machine: entry.get("clusters", {}) for machine, entry in catalogue.items()}
    study = grid.planned(name, dict(config), catalogue)
    found = rows(study, folder, is_alive, profiles)
    plan = Plan(name, name, {name: dict(config)}, catalogue, "", [], {cell.path: cell for cell in study.cells})
    files = [file for row in found for file in row["files"]]
    runs, _, attempts = recorded.collect(stored.each(folder, files, recorded.rows), config["repeats"], folder)
    machines = definition.machines(dict(config), catalogue)
    hourly = pricing.price_table(config, machines, set(runs["hardware"]))
    spent = prices.spent(runs, attempts, hourly[hourly["price_option"] == config["price"]])
    for row in found:
        mine = spent[spent["run"].str.startswith(f"{row['cell']}/")]
        usd = float(mine["usd"].sum(skipna=False))
        row["hours"] = float(mine["used_seconds"].sum()) / billing.SECONDS_PER_HOUR
        row["usd"] = None if usd != usd else usd
        row["outdated"] = sum(not plan.is_current(str(file.parent)) for file in row["files"])
    return found


def _counted(states: Iterable[tuple[str, int]], outdated: int) -> str:
    counts = ", ".join(f"{count} {state.replace('_', ' ')}" for state, count in states)
    return f"{counts} ({outdated} outdated)" if outdated else counts


def table(title: str, found: Iterable[Mapping[str, Any]]) -> Table:
    """Return the table of `cells` as a terminal shows it."""
    shown = Table("configuration", "runs", "hours", "USD", "why", title=title)
    for row in found:
        spent = [number(row["hours"]), "" if row["usd"] is None else number(row["usd"])] if row["files"] else ["", ""]
        shown.add_row(row["cell"], _counted(row["states"].items(), row["outdated"]), *spent, printable(row["reason"]))
    return shown


def total(found: Iterable[Mapping[str, Any]]) -> str:
    """Return how many runs of `cells` are in each state, in words."""
    found = list(found)
    states: Counter[str] = sum((row["states"] for row in found), Counter())
    old = sum(row["outdated"] for row in found)
    return f"{states.total()} runs of {len(found)} configurations: {_counted(states.most_common(), old)}"


def outdated(found: Iterable[Mapping[str, Any]]) -> str:
    """Return which runs of `cells` will be trained again and why, in a line; nothing where none will."""
    counts = {row["cell"]: row["outdated"] for row in found if row["outdated"]}
    if not counts:
        return ""
    runs, cells = sum(counts.values()), len(counts)
    which = next(iter(counts)) if cells == 1 else f"{cells} configurations"
    return (
        f"{runs} run{'s' * (runs != 1)} of {which} will be measured again: the code that trains, or a command or a "
        "tracked file of its folder, has changed since"
    )
