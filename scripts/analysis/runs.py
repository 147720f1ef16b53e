"""Reads a run's folder, of whatever version its record is, with all that follows from it."""

from pathlib import Path
from typing import Any

from scripts.analysis import derive
from scripts.measurement import record


def read(path: Path) -> dict[str, Any]:
    """Return the record of a `run.json` with all that is worked out of it and of the files beside it.

    A record of version 1 holds that already, and is returned as it is: what it was worked out of is not all in its
    files. Raises InputError that names the file which is missing or damaged.
    """
    run = record.read_run(path)
    if run["schema_version"] == 1:
        return run
    epochs = record.read_epochs(path.with_name("epochs.csv"), record.EPOCH_COLUMNS)
    return derive.complete(run, epochs, record.read_telemetry(path.with_name("telemetry.csv")))
