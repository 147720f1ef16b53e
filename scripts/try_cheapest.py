"""Return whether the first run of a cell failed so that dearer machines would fail as well: they are not tried then."""

import argparse
from pathlib import Path
from typing import Any

from scripts.frameworks import ThreadPoolError, UnsupportedDevice
from scripts.measurement import record
from scripts.storage import errors
from scripts.storage.files import write_text

#: Words in the reason of a failure that another machine may not have: a build of CUDA knows some cards and not others.
OF_THE_MACHINE = (UnsupportedDevice.__name__, ThreadPoolError.__name__, "CUDA", "cuDNN")


def fails_anywhere(run: dict[str, Any]) -> bool:
    """Return whether a run failed, and for no want of its machine, which was there and can do what was asked."""
    had_machine = run["provenance"]["hardware"]["cores"] > 0
    return run["status"] == "failed" and had_machine and not any(word in run["reason"] for word in OF_THE_MACHINE)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("record", type=Path, help="run.json of the first run on the cheapest machine")
    parser.add_argument("output", type=Path, help="file to write: the reason, or nothing")
    options = parser.parse_args()
    run = record.read_run(options.record)
    failed = fails_anywhere(run)
    write_text(options.output, f"{run['reason']}\n" if failed else "")
    if failed:
        print(f"{options.record.parent} failed ({run['reason']}): not tried on dearer machines", flush=True)
    return 0


if __name__ == "__main__":
    errors.run(main)
