"""What is known of the noise of machines of eight H100: from the public logs of modded-nanogpt.

    python -m tests.simulation.speedruns LOGS      (a folder of logs as github.com/KellerJordan/modded-nanogpt has them)

Prints the figures of `config/noise.yaml`. A log begins with the text of the program that made it; then come its
machine, as nvidia-smi shows it, and its steps, each with the time from the first. Runs of one group have the same text
to the last letter, the same number of steps, driver and addresses of the cards, and follow each other within two hours:
groups by folder mix programs. Only runs that came to their last step count, and groups of five or more.
"""

import hashlib
import re
import sys
from collections import defaultdict
from datetime import datetime, timedelta
from itertools import combinations
from pathlib import Path

import numpy as np

from scripts.analysis import noise

CARDS, CARD, LEAST = 8, "NVIDIA H100 80GB HBM3", 5
PAUSE = timedelta(hours=2)

_STEP = re.compile(r"step:(\d+)/(\d+) val_loss:[\d.]+ train_time:(\d+)ms")
_GPU = re.compile(r"(NVIDIA [A-Z]\d+[^|]*?)\s+(?:On|Off)\s*\|\s*([0-9A-F:.]+)")
_DATE = re.compile(r"\n((?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) \w+ +\d+ [\d:]+ \d{4})")
_DRIVER = re.compile(r"NVIDIA-SMI ([\d.]+)")

Program, Machine = tuple[str, int], tuple[str, ...]


def read(folder: Path) -> dict[tuple[Program, Machine], list[tuple[datetime, float]]]:
    """Return when each run began and the logarithm of its time (s), by program and machine."""
    found = defaultdict(list)
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        text = path.read_text(encoding="utf-8", errors="replace")
        steps, gpus = _STEP.findall(text), _GPU.findall(text)
        date, driver = _DATE.search(text), _DRIVER.search(text)
        if not steps or date is None or driver is None or [card.strip() for card, _ in gpus] != [CARD] * CARDS:
            continue
        done, of, milliseconds = map(int, steps[-1])
        if done == of:
            program = re.split(r"\n={30,}\n", text)[0]
            key = (hashlib.sha256(program.encode()).hexdigest(), of), (driver[1], *(address for _, address in gpus))
            began = datetime.strptime(date[1], "%a %b %d %H:%M:%S %Y")
            found[key].append((began, float(np.log(milliseconds / 1000))))
    return found


def sittings(runs: list[tuple[datetime, float]]) -> list[np.ndarray]:
    """Return the logarithms of the times of each sitting: runs that follow each other."""
    groups: list[list[float]] = []
    last = datetime.min
    for began, log in sorted(runs):
        if not groups or began - last > PAUSE:
            groups.append([])
        groups[-1].append(log)
        last = began
    return [np.array(one) for one in groups]


def main() -> None:
    groups = {key: sittings(runs) for key, runs in read(Path(sys.argv[1])).items()}
    repeated = [one for some in groups.values() for one in some if len(one) >= LEAST and np.ptp(one) > 0]
    variance, degrees = noise.fit([one.var(ddof=1) for one in repeated], [len(one) - 1 for one in repeated])
    print(f"8 x H100: variance {variance:.4g}, degrees {degrees:.4g}, {sum(map(len, repeated))} runs, {len(repeated)}")
    percent = 100 * np.array([one.std(ddof=1) for one in repeated])
    print(f"sd in %: median {np.median(percent):.3f}, 90th percentile {np.quantile(percent, 0.9):.3f}")
    means = defaultdict(list)
    for (program, _), some in groups.items():
        if several := [one.mean() for one in some if len(one) > 1]:
            means[program].append(np.mean(several))
    apart = [first - other for some in means.values() for first, other in combinations(some, 2)]
    print(f"machines: variance {np.mean(np.square(apart)) / 2:.4g}, of {len(apart)} pairs")


if __name__ == "__main__":
    main()
