"""Try every kind of fault, and write how many were survived (reports/faults.json, shown in docs/faults.md).

python -m tests.faults [--seed 1] [--minutes 10] [KIND ...]
"""

import argparse
import json
from datetime import date
from itertools import chain
from typing import Any

from rich.console import Console
from rich.progress import Progress

from scripts.storage.errors import InputError, run
from scripts.storage.files import write_text
from tests.conftest import ROOT
from tests.faults import handed, inputs, kills, network, recorded, texts, trainings, trial, verbs

OUTPUT = ROOT / "reports" / "faults.json"

ROOMS = (inputs, recorded, handed, texts, network, verbs, kills, trainings)
KINDS = {kind.name: kind for kind in chain(*(room.KINDS for room in ROOMS))}


def note(kind: str, **counts: Any) -> None:
    """Write what came of a kind beside what is known of the others, in their order; what has gone is left out."""
    kept = json.loads(OUTPUT.read_text(encoding="utf-8")) if OUTPUT.is_file() else {}
    kept[kind] = counts | {"on": f"{date.today()}"}
    write_text(OUTPUT, json.dumps({name: kept.get(name) for name in KINDS}, indent=1) + "\n")


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
            tried = lost = 0
            with trial.started(KINDS[name], options.seed) as (planned, some):
                task = progress.add_task(name, total=planned)
                for outcome in trial.of_some(KINDS[name], some, 60 * options.minutes):
                    tried, lost = tried + 1, lost + (outcome.why is not None)
                    progress.update(task, advance=1)
                    if outcome.why is not None:
                        print(f"{name}: {outcome.what}: {outcome.why}".encode("ascii", "backslashreplace").decode())
            faults, survived = faults + tried, survived + tried - lost
            counts = {"planned": planned, "tried": tried, "survived": tried - lost}
            note(name, **counts, minutes=options.minutes, seed=options.seed)
            print(f"{name}: {tried:,} of {planned:,} faults, {tried - lost:,} survived", flush=True)
    print(f"{faults:,} faults, {survived:,} survived")
    return 0 if faults == survived else 1


if __name__ == "__main__":
    run(main)
