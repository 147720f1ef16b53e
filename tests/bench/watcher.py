"""What watching costs: CPU seconds of the recorder for each second of a program that prints so many lines a second.

`python -m tests.bench.watcher [--seconds 30]`. Its own CPU time, user and system, without that of the program; the
goal is 1 % of a core. Nothing passes or fails.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path
from statistics import median

PACKAGE = Path(__file__).resolve().parents[2] / "plugins" / "epochs-per-dollar"
LINES_PER_SECOND = (1, 100, 1_000)
GOAL = 0.01
TURNS = 3

#: Prints by a clock of its own, in bursts of a hundredth of a second where lines come closer.
PROGRAM = """
import sys, time
per_second = float(sys.argv[1])
began, step = time.monotonic(), 0
while True:
    due = int((time.monotonic() - began) * per_second)
    while step < due:
        step += 1
        print(f"step {step}/1000000 | loss 2.3456 | lr 1.00e-04 | 12.3 ms/step", flush=True)
    time.sleep(max(0.01, 1 / per_second / 2) if per_second < 100 else 0.01)
"""

#: Watches it in a process of its own, and says what that cost.
WATCHER = """
import json, resource, sys
from epochs_per_dollar.measuring import Asked, Measurement
program, per_second, seconds = sys.argv[1:]
one = Measurement(Asked([sys.executable, "-c", program, per_second], float(seconds)), lambda text: None)
before = resource.getrusage(resource.RUSAGE_SELF)
found = one.run()
after = resource.getrusage(resource.RUSAGE_SELF)
spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
print(json.dumps({"spent": spent, "watched": found.seconds, "read": found.rate is not None}), file=sys.stderr)
"""


def share(lines_per_second: int, seconds: float) -> float:
    """Return the share of a core that watching took."""
    done = subprocess.run(
        [sys.executable, "-c", WATCHER, PROGRAM, str(lines_per_second), str(seconds)],
        env={"PYTHONPATH": str(PACKAGE)}, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=True,
    )  # fmt: skip
    said = json.loads(done.stderr.splitlines()[-1])
    if not said["read"]:
        raise RuntimeError("nothing was read of what it prints")
    return said["spent"] / said["watched"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=30.0)
    asked = parser.parse_args()
    print(f"the recorder's share of a core, medians of {TURNS} turns of {asked.seconds:g} s; the goal is {GOAL:.0%}")
    turns = [{lines: share(lines, asked.seconds) for lines in LINES_PER_SECOND} for _ in range(TURNS)]
    for lines in LINES_PER_SECOND:
        found = median(turn[lines] for turn in turns)
        print(f"{lines:>6,} lines/s {found:>8.2%}{'' if found <= GOAL else '   above the goal'}", flush=True)


if __name__ == "__main__":
    main()
