"""List the schedules of this clone, and what became of the last trigger of each."""

import argparse
from pathlib import Path

from scripts.storage import errors
from scripts.workflow.repetitions import History
from scripts.workflow.timers import cloud, cron, github, systemd

ROOT = Path(__file__).resolve().parents[1]


def main() -> int:
    argparse.ArgumentParser(description=__doc__).parse_args()
    lines = [line for timer in (cron, systemd, github, cloud) for line in timer.installed()]
    print("\n".join(lines) if lines else "nothing is scheduled here")
    for folder in sorted(path.parent for path in (ROOT / "history").glob("*/triggers.csv")):
        for _, last in History(folder.name, ROOT).triggers()[-1:]:
            print(f"{folder.name}: last trigger {last['at']}: {last['what']}")
    return 0


if __name__ == "__main__":
    errors.run(main)
