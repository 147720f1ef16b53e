"""Who calls a study again: cron and systemd on this machine, GitHub Actions, Google Cloud Scheduler.

Each module has `remove(label)`, which returns whether there was anything to remove, and `installed()`, a line for each
schedule of this clone; what is installed again replaces what was. A label is a study's name, or `repetitions.PRICES`.
"""

from pathlib import Path

#: The clone that schedules are of: two clones do not take each other's.
ROOT = Path(__file__).resolve().parents[3]

#: What marks what this project has installed.
MARK = "epochs-per-dollar"
