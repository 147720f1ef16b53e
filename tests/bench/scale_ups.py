"""Measure how far off is what is extrapolated: trainings on parts of the samples, and on all of them.

    EPOCHS_DATA_DIR=/path/to/data python -m tests.bench.scale_ups      (about five hours on two idle cores)

Each of six workloads is trained for two epochs on 2, 10, 50 and 100 % of its real samples, all of them in turns, in
rounds. A row is a run: what its process took, and what it predicts that a process on all samples takes, as pages
reckon it (`clocks.parts`). `reports/noise/scale-ups.csv` is written after each run, and a later call goes on where one
was ended; `make docs` then writes what it comes to into `config/noise.yaml`, from where every page has it. Nothing
passes or fails.
"""

import argparse
import itertools
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd
from rich.progress import track

from scripts import workloads
from scripts.analysis import clocks, runs
from scripts.document import noise as known_noise
from scripts.records import stored
from scripts.records.cell import MODES, Cell
from scripts.storage.files import write_text
from scripts.storage.tables import records
from tests.bench.training import WORKLOADS

PARTS = (0.02, 0.1, 0.5, 1.0)
EPOCHS = 2
HARDWARE = "cpu2"

_KEYS = ["workload", "framework", "mode", "part", "repeat"]
COLUMNS = [*_KEYS, "total_seconds", "predicted_seconds", "other_cpu_percent", "cpu_model", "started_at"]


def predicted(run: Mapping[str, Any]) -> float:
    """Return what a run (a row of the runs table) predicts that a process of as many epochs on all samples takes.

    All are those at hand: of CIFAR-10 that may be a part of the official ones.
    """
    run = {**run, "data_fraction": 1.0}
    found, length = clocks.parts(run), clocks.published_length(run)
    assert found is not None
    assert length is not None
    once, rest = found
    return once + rest * float(run["epochs_done"]) / length[1]


def row(run: Mapping[str, Any], part: float) -> dict[str, Any]:
    """Return the row of a run that trained on a part of the samples."""
    known = {name: run[name] for name in COLUMNS if name not in ("part", "predicted_seconds")}
    return known | {"part": part, "predicted_seconds": predicted(run)}


def train(workload: str, framework: str, mode: str, part: float, repeat: int) -> dict[str, Any]:
    """Return the row of one training, in a process of its own."""
    size = workloads.workload(workload).BATCH_SIZE
    cell = Cell(workload, HARDWARE, framework, size, EPOCHS, part, "real", mode=mode)
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / cell.path / f"r{repeat}"
        given = [("--workload", workload), ("--framework", framework), ("--mode", mode), ("--hardware", HARDWARE)]
        given += [("--output", output), ("--epochs", EPOCHS), ("--samples", part), ("--repeat", repeat)]
        arguments = [str(one) for pair in given for one in pair]
        subprocess.run([sys.executable, "scripts/train.py", *arguments], check=True)
        table, _, _ = runs.collect(stored.each(Path(folder), [output / "run.json"], runs.rows), repeat)
    (run,) = records(table)
    return row(run, part)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3, help="runs of each (default 3)")
    parser.add_argument("--frameworks", nargs="+", default=["tensorflow", "jax"], help="(default tensorflow jax)")
    parser.add_argument("--mode", choices=MODES, default="stock", help="how each is trained (default stock)")
    options = parser.parse_args()
    there = pd.read_csv(known_noise.SCALED_UP) if known_noise.SCALED_UP.is_file() else pd.DataFrame(columns=COLUMNS)
    done = set(there[_KEYS].itertuples(index=False, name=None))
    # In turns, the short ones first: what an hour does to the machine meets all parts.
    turns = itertools.product(range(1, options.rounds + 1), PARTS, WORKLOADS, options.frameworks)
    runs_of = [(workload, framework, options.mode, part, n) for n, part, workload, framework in turns]
    left = [one for one in runs_of if one not in done]
    for each in track(left, "scale-ups"):
        there = pd.concat([there, pd.DataFrame([train(*each)], columns=COLUMNS)], ignore_index=True)
        write_text(known_noise.SCALED_UP, there.to_csv(index=False, lineterminator="\n"))


if __name__ == "__main__":
    main()
