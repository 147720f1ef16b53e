"""Show one training of a study on the screen: which cell, how many of how many, how long still.

Reads what the training prints. Snakemake gives the number of trainings and the time at which it
started them in the variables EPOCHS_TRAININGS and EPOCHS_STARTED. On a terminal the last line is
shown while it runs; one line stays when it has ended. A line that begins with `error:` is shown as it is. On a
machine of a cluster, where nobody looks, all lines are printed, for its log.
"""

import argparse
import json
import os
import sys
from pathlib import Path

from rich.console import Console

from scripts.storage import errors


def state(folder: Path, started: float, total: int) -> tuple[int, str]:
    """Return how many of `total` runs were recorded since `started` (s, Unix time), and how long the rest takes.

    The estimate is the mean life of the recorded runs x those that are missing; it is empty at the
    beginning and at the end.
    """
    records = [path for path in folder.rglob("run.json") if path.stat().st_mtime >= started]
    lives = [json.loads(path.read_text(encoding="utf-8"))["times"]["total_seconds"] for path in records]
    missing = total - len(lives)
    if not lives or missing <= 0:
        return len(lives), ""
    return len(lives), f", about {duration(missing * sum(lives) / len(lives))} left"


def duration(seconds: float) -> str:
    """Return a time in the largest unit that leaves at least two of it."""
    for unit, size in (("h", 3600), ("min", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} s"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="folder of the study")
    parser.add_argument("cell", help="what is being trained")
    options = parser.parse_args()
    started, total = float(os.environ.get("EPOCHS_STARTED", 0)), int(os.environ.get("EPOCHS_TRAININGS", 1))
    if "EPOCHS_TRAININGS" not in os.environ:
        for line in sys.stdin:
            print(line, end="", flush=True)
        return 0
    console = Console(stderr=True, highlight=False, soft_wrap=True)
    done, estimate = state(options.folder, started, total)
    # Unstable cells come on top of the trainings that were counted at the start.
    name = f"{done + 1} of {total}: {options.cell}" if done < total else f"{done + 1}, measured again: {options.cell}"
    last = "starts"
    with console.status(f"{name}: {last}{estimate}") as status:
        for line in sys.stdin:
            last = line.strip() or last
            if last.startswith("error:"):
                print(last, file=sys.stderr)
            status.update(f"{name}: {last}{estimate}")
    _, estimate = state(options.folder, started, total)
    console.print(f"{name}: {last}{estimate}", markup=False)
    return 0


if __name__ == "__main__":
    errors.run(main)
