"""Remove the schedules of a study, or of the refresh of prices, whoever calls them; what they have trained stays."""

import argparse
from datetime import UTC, datetime

from scripts.storage import errors
from scripts.workflow.repetitions import UNSCHEDULED, History
from scripts.workflow.timers import ROOT, cloud, cron, github, systemd


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("label", help="the study's name, or _prices")
    options = parser.parse_args()
    timers = {"cron": cron, "systemd": systemd, "github": github, "cloud": cloud}
    removed = [by for by, timer in timers.items() if timer.remove(options.label)]
    if removed:
        History(options.label, ROOT).record(UNSCHEDULED, datetime.now(UTC), "")
    words = f"removed from {', '.join(removed)}" if removed else "is not scheduled: nothing removed"
    print(f"{options.label}: {words}")
    return 0


if __name__ == "__main__":
    errors.run(main)
