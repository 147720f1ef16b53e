"""Schedule a study, or the refresh of prices: print what a month of it costs, then install the timer."""

import os
import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Column, Table

from scripts.analysis import quotes
from scripts.costs import book, books, budget, monthly
from scripts.costs.terms import read_terms
from scripts.records import about
from scripts.storage import environment, numbers, schemas
from scripts.storage.errors import InputError
from scripts.storage.words import printable
from scripts.studies import definition
from scripts.workflow import checks, intervals, known
from scripts.workflow.repetitions import PRICES, UNSCHEDULED, History
from scripts.workflow.timers import cron, github, systemd

ROOT = Path(__file__).resolve().parents[2]

#: Who may call a study again.
TIMERS = {"cron": cron, "systemd": systemd, "github": github}

#: Price books of what is due beside machines.
_BOOKS = ("current", "listed", "services")


def image_names(asked: Mapping[str, Any], catalogue: Mapping[str, Any]) -> set[str]:
    """Return the names of the images that the runs need."""
    cells = [run["cell"] for run in asked["runs"]]
    kinds = {name: "gpu" if "gpus" in about["machine"] else "cpu" for name, about in catalogue.items()}
    commands = asked["study"].get("commands", {})
    return {
        commands[cell["workload"]].get("image", "")
        if cell["workload"] in commands
        else f"{cell['framework']}-{kinds[cell['hardware']]}"
        for cell in cells
    }


def quote(asked: Mapping[str, Any], every: intervals.Interval) -> tuple[list[monthly.Part], monthly.Length]:
    """Return the parts of a month's bill of a study, and how long one repetition takes."""
    study, profile = asked["study"], asked["profile"]
    about.know(study)
    catalogue = schemas.read_yaml(ROOT / "config" / "hardware.yaml", "hardware")
    priced = known.priced(asked["name"], study, catalogue, profile, asked["runs"])
    machines = {one.wanted.hardware for one in priced}
    is_cloud = profile.startswith("gce-")
    at_once, boot = (1, 0.0) if profile == "local" else (monthly.JOBS, budget.BOOT_SECONDS)
    took = monthly.length(priced, at_once, boot)
    often = monthly.starts(every.seconds, took.seconds), monthly.starts(every.seconds, took.worst_seconds)
    if not is_cloud:
        return monthly.owned(priced, catalogue, often), took
    prices = known.paid(study, catalogue, machines, profile)
    parts = monthly.rented(priced, quotes.rates(prices, profile), often, boot)
    rows, terms = book.read(books.files(_BOOKS)), read_terms()
    disk = book.rent(rows, terms, "gce", {"balanced-disk-gb": 1}, "fee")
    if disk:
        parts.append(monthly.disks(parts, disk.usd_per_hour, disk.as_of))
    images = len(image_names(asked, catalogue))
    fees = [
        ("artifact-registry-gb", images * monthly.IMAGE_GB, "images", f"{images} of {monthly.IMAGE_GB} GB"),
        ("cloud-storage-gb", monthly.KEPT_GB, "the bucket", f"{monthly.KEPT_GB} GB of runs and data"),
    ]
    return [*parts, *filter(None, (monthly.fee(rows, terms, *one) for one in fees))], took


def print_quote(name: str, parts: list[monthly.Part], took: monthly.Length, every: intervals.Interval) -> None:
    """Print what a month costs."""

    def usd(value: float) -> str:
        return numbers.number(value) if value == value else "no price"

    table = Table(
        Column("a month", no_wrap=True),
        "hours",
        "USD",
        "hours at worst",
        "USD at worst",
        "based on",
        title=f"{name} every {every.text}",
    )
    for part in parts:
        hours = [numbers.number(value) if part.worst_hours else "" for value in (part.hours, part.worst_hours)]
        what, basis = printable(part.what), printable(part.basis)
        table.add_row(what, hours[0], usd(part.usd), hours[1], usd(part.worst_usd), basis)
    table.add_section()
    table.add_row("all", "", usd(sum(part.usd for part in parts)), "", usd(sum(part.worst_usd for part in parts)), "")
    console = Console(markup=False, highlight=False, width=max(100, Console().width))
    console.print(table)
    times = [numbers.duration(seconds) for seconds in (took.seconds, took.worst_seconds)]
    often = [monthly.starts(every.seconds, seconds) for seconds in (took.seconds, took.worst_seconds)]
    console.print(
        f"One repetition takes {times[0]}, at worst {times[1]} (max_run_minutes of every run): "
        f"{often[0]:.0f} repetitions a month, at worst {often[1]:.0f}. A trigger that comes while one is at work "
        "starts none."
    )
    if took.seconds > every.seconds:
        console.print(f"warning: a repetition takes longer than {every.text}: most triggers will overlap")


def check_committed(machines: set[str]) -> None:
    """Refuse machines of a person's own file: git ignores it, and a clone elsewhere has no such file."""
    mine = schemas.own(ROOT / "config" / "hardware.yaml")
    if found := sorted(machines & set(schemas.read_own(mine))):
        raise InputError(
            f"by: github: {', '.join(found)}: described in {mine.relative_to(ROOT)}, which git ignores: GitHub's clone "
            "knows the machines of config/hardware.yaml only"
        )


def variables(profile: str) -> dict[str, str]:
    """Return the variables of this session that a trigger needs."""
    names = [environment.DATA_DIR.name]
    if profile.startswith("gce-"):
        names += [environment.BUCKET.name, "GOOGLE_APPLICATION_CREDENTIALS"]
        names += sorted(name for name in os.environ if name.startswith("SNAKEMAKE_GCEBATCH_"))
    return {name: os.environ[name] for name in names if os.environ.get(name)}


def install(asked: Mapping[str, Any], every: intervals.Interval, by: str, config: Sequence[str]) -> str:
    """Print the quote of a study and install its schedule; return where that is in words."""
    name, study, profile = asked["name"], asked["asked"], asked["profile"]
    if not asked["runs"]:
        raise InputError(f"study {name}: profile {profile} trains none of its runs: there is nothing to repeat")
    if by == "github" and profile != "local":
        raise InputError(f"by: github: with profile {profile}: it must be local: GitHub's machine trains")
    is_file = study.endswith((".yaml", ".yml"))
    if is_file and by == "github":
        if not Path(study).resolve().is_relative_to(ROOT):
            raise InputError(f"by: github: {study}: must lie in the clone, which is all that a machine elsewhere has")
        study = str(Path(study).resolve().relative_to(ROOT))
    elif is_file:
        study = str(Path(study).resolve())
    if by == "github" and (own := asked["study"].get("commands")):
        raise InputError(f"by: {by}: workloads: {', '.join(own)}: the machine elsewhere has no program of your own")
    if by == "github":
        checks.check_known_to_git([definition.file(study), *map(Path, asked["study"]["workload_files"].values())])
    # A machine elsewhere does not know yet whom to trust.
    config = [*config, *(f"trust={trusted}" for trusted in [environment.TRUST.read()] if trusted)]
    parts, took = quote(asked, every)
    print_quote(name, parts, took, every)
    words = [study, "--profile", profile, "--every", every.text, *(["--config", *config] if config else [])]
    if by == "github":
        check_committed({run["cell"]["hardware"] for run in asked["runs"]})
        return github.install(name, words, asked["study"]["frameworks"], every)
    return (cron if by == "cron" else systemd).install(
        name, [sys.executable, "-m", "scripts.repeat", *words], variables(profile), every
    )


def install_refresh(every: intervals.Interval, by: str, config: Sequence[str]) -> str:
    """Install the schedule of the refresh of prices; return where that is in words."""
    if by not in ("cron", "systemd"):
        raise InputError(f"by: {by}: the price book lies in this clone: cron or systemd refreshes it")
    print("A refresh of prices costs nothing but the seconds of this machine.")
    words = [sys.executable, "-m", "scripts.repeat", "--prices", "--every", every.text]
    words += ["--config", *config] if config else []
    return (cron if by == "cron" else systemd).install(PRICES, words, variables("local"), every)


def remove(label: str) -> list[str]:
    """Remove the schedules of a study, or of the refresh of prices (`PRICES`), from all timers; return from which."""
    if label != PRICES and not definition.is_name(label):
        raise InputError(f"{label!r} is not the name of a study, nor {PRICES}")
    removed = [by for by, timer in TIMERS.items() if timer.remove(label)]
    if removed:
        History(label, ROOT).record(UNSCHEDULED, datetime.now(UTC), "")
    return removed


def installed() -> list[str]:
    """Return the schedules of this clone, a line each."""
    return [line for timer in TIMERS.values() for line in timer.installed()]


def last_triggers() -> dict[str, dict[str, str]]:
    """Return the last trigger of each study that has had one, and of the refresh of prices, by their names."""
    folders = sorted(path.parent.name for path in (ROOT / "history").glob("*/triggers.csv"))
    return {name: row for name in folders for _, row in History(name, ROOT).triggers()[-1:]}
