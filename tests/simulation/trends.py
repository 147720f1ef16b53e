"""What the rule for changes does on histories whose noise is known: false changes, and steps that are found.

    python -m tests.simulation.trends      (about two minutes; `make simulate` runs it too)

A history is a series of medians, one for each repetition of one run; its noise is of the kinds of
tests/simulation/verdicts.py. Stable ones are asked for any change; in others the later half is 20 % slower, and found
is one change, slower, at most two repetitions from where it is. The drifting kind wanders by 2 % a repetition, and is
no stable history where it is long.
"""

import json
from pathlib import Path

import numpy as np
from rich.progress import track

from scripts.analysis import noise, trends
from scripts.analysis.verdicts import Judge
from scripts.storage.files import write_text
from tests.simulation.verdicts import GAP, Draw, kinds

ROOT = Path(__file__).resolve().parents[2]
OUTPUT = ROOT / "reports" / "trends.json"

REPETITIONS = (2, 4, 6, 8, 10, 14, 20, 30)


def shares(judge: Judge, draw: Draw, repetitions: int, histories: int, seed: int = 0) -> tuple[float, float]:
    """Return the share of stable histories with any change, and of those with a step in which it is found."""
    rng = np.random.default_rng(seed)
    step = np.where(np.arange(repetitions) < repetitions // 2, 0.0, GAP)
    false = found = 0
    for _ in range(histories):
        stable, other = draw(rng, repetitions)
        false += bool(trends.changes(np.exp(stable), judge))
        changes = trends.changes(np.exp(other + step), judge)
        found += len(changes) == 1 and changes[0][1].ratio > 1 and abs(changes[0][0] - repetitions // 2) <= 2
    return false / histories, found / histories


def main() -> None:
    histories = 2000
    judge, rows = Judge(noise.project()), []
    for kind, draw in track(kinds().items(), "histories"):
        for repetitions in REPETITIONS:
            false, found = shares(judge, draw, repetitions, histories, seed=repetitions)
            rows.append({"kind": kind, "repetitions": repetitions, "false_changes": false, "found": found})
    write_text(OUTPUT, json.dumps({"histories": histories, "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
