"""Try every kind of fault, and write how many were survived (reports/faults.json, shown in docs/faults.md).

python -m tests.faults [--seed 1] [--minutes 10] [KIND ...]
"""

import argparse
import json
import time
from datetime import date
from itertools import chain

from rich.console import Console
from rich.progress import Progress

from scripts.storage.errors import InputError, run
from scripts.storage.files import write_text
from tests.conftest import ROOT
from tests.faults import inputs, kills, network, texts, trainings, trial, verbs

OUTPUT = ROOT / "reports" / "faults.json"

KINDS = {kind.name: kind for kind in chain(*(room.KINDS for room in (inputs, texts, network, verbs, kills, trainings)))}


def note(kind: str, tried: int, survived: int, is_cut_short: bool, seed: int) -> None:
    """Write what came of a kind beside what is known of the others, in their order."""
    kept = json.loads(OUTPUT.read_text(encoding="utf-8")) if OUTPUT.is_file() else {}
    planned = KINDS[kind].count if is_cut_short else tried
    kept[kind] = {"planned": planned, "tried": tried, "survived": survived, "seed": seed, "on": f"{date.today()}"}
    untried = {"tried": 0, "survived": 0, "seed": None, "on": None}
    known = {name: kept.get(name, {"planned": about.count} | untried) for name, about in KINDS.items()}
    write_text(OUTPUT, json.dumps(known, indent=1) + "\n")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kinds", nargs="*", metavar="KIND", help=f"of {', '.join(KINDS)} (default: all)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=10.0, help="of each kind, at most (default 10)")
    options = parser.parse_args()
    unknown = [name for name in options.kinds if name not in KINDS]
    if unknown:
        raise InputError(f"{unknown[0]!r} is unknown: it is one of {', '.join(KINDS)}")
    faults = survived = 0
    with Progress(console=Console(stderr=True), transient=True) as progress:
        for name in options.kinds or KINDS:
            kind, seconds, began = KINDS[name], 60 * options.minutes, 0.0
            task = progress.add_task(name, total=kind.count)
            tried = lost = 0
            for outcome in trial.outcomes(kind, options.seed, kind.count, seconds):
                tried, lost = tried + 1, lost + (outcome.why is not None)
                began = began or time.monotonic()
                progress.update(task, advance=1)
                if outcome.why is not None:
                    print(f"{name}: {outcome.what}: {outcome.why}".encode("ascii", "backslashreplace").decode())
            faults, survived = faults + tried, survived + tried - lost
            out_of_time = time.monotonic() - began > seconds
            is_cut_short = out_of_time if kind.count is None else tried < kind.count
            note(name, tried, tried - lost, is_cut_short, options.seed)
            print(f"{name}: {tried:,} faults, {tried - lost:,} survived", flush=True)
    print(f"{faults:,} faults, {survived:,} survived")
    return 0 if faults == survived else 1


if __name__ == "__main__":
    run(main)
