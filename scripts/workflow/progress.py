"""Show one training of a study on the screen: which cell, how many of how many, how long still.

Reads what the training prints. Snakemake gives the number of trainings and the time at which it started them in
environment variables. On a terminal the last line is shown while it runs; one line stays when it has ended. A line that
begins with `error:` is shown as it is. On a machine of a cluster, where nobody looks, all lines are printed: its log.
"""

import argparse
import os
import sys
import time
from io import TextIOWrapper
from pathlib import Path

from rich.console import Console
from rich.text import Text

from scripts.storage import environment, errors
from scripts.storage.files import opened
from scripts.storage.numbers import duration
from scripts.storage.words import printable


def ended(folder: Path, started: float, one_more: bool = False) -> int:
    """Return how many trainings of the call that began at `started` (s, Unix time) have ended; note `one_more` first.

    They are the bytes of a file: no record is read, however many there are.
    """
    path = folder / "logs" / "ended"
    with opened(path) as file:
        if os.fstat(file.fileno()).st_mtime < started:  # of a call before
            file.truncate(0)
        if one_more:
            file.write(b".")
        file.flush()
        return os.fstat(file.fileno()).st_size


def left(done: int, total: int, seconds: float) -> str:
    """Return in words how long the rest takes, after so many trainings in `seconds`; empty at begin and end."""
    return f", about {duration((total - done) * seconds / done, 1)} left" if 0 < done < total else ""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="folder of the study")
    parser.add_argument("cell", help="what is being trained")
    options = parser.parse_args()
    if isinstance(sys.stdin, TextIOWrapper):
        sys.stdin.reconfigure(errors="replace")
    if not environment.TRAININGS.read():
        for line in sys.stdin:
            print(printable(line), end="", flush=True)
        return 0
    started, total = float(environment.STARTED.read() or 0), int(environment.TRAININGS.read())
    console = Console(stderr=True, highlight=False, soft_wrap=True)
    done = ended(options.folder, started)
    estimate = left(done, total, time.time() - started)
    # Unstable cells come on top of the trainings that were counted at the start.
    name = f"{done + 1} of {total}: {options.cell}" if done < total else f"{done + 1}, measured again: {options.cell}"
    last = "starts"
    # Text, as what a training prints may look like rich's markup.
    with console.status(Text(f"{name}: {last}{estimate}")) as status:
        for line in sys.stdin:
            last = printable(line.strip()) or last
            if last.startswith("error:"):
                print(last, file=sys.stderr)
            status.update(Text(f"{name}: {last}{estimate}"))
    done = ended(options.folder, started, one_more=True)
    console.print(f"{name}: {last}{left(done, total, time.time() - started)}", markup=False)
    return 0


if __name__ == "__main__":
    errors.run(main)
