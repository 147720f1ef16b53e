"""Remove the schedules of a study, or of the refresh of prices, whoever calls them; what they have trained stays."""

import argparse
from datetime import UTC, datetime

from scripts.storage import errors
from scripts.storage.errors import InputError
from scripts.studies import definition
from scripts.workflow.repetitions import PRICES, UNSCHEDULED, History
from scripts.workflow.timers import ROOT, cloud, cron, github, systemd


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("label", help="the study's name, or _prices")
    options = parser.parse_args()
    if options.label != PRICES and not definition.is_name(options.label):
        raise InputError(f"{options.label!r} is not the name of a study, nor {PRICES}")
    timers = {"cron": cron, "systemd": systemd, "github": github, "cloud": cloud}
    removed = [by for by, timer in timers.items() if timer.remove(options.label)]
    if removed:
        History(options.label, ROOT).record(UNSCHEDULED, datetime.now(UTC), "")
    words = f"removed from {', '.join(removed)}" if removed else "is not scheduled: nothing removed"
    print(f"{options.label}: {words}")
    return 0


if __name__ == "__main__":
    errors.run(main)
