"""Note which first runs failed so that dearer machines would fail as well: they are not tried then."""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from scripts.records import record
from scripts.storage import errors
from scripts.storage.files import write_text

#: Words in the reason of a failure that another machine may not have: errors of `scripts.frameworks`, and CUDA's, whose
#: builds know some cards and not others.
OF_THE_MACHINE = ("UnsupportedDevice", "ThreadPoolError", "CUDA", "cuDNN")


def fails_anywhere(run: dict[str, Any]) -> bool:
    """Return whether a run failed, and for no want of its machine, which was there and can do what was asked."""
    had_machine = run["provenance"]["hardware"]["cores"] > 0
    return run["status"] == "failed" and had_machine and not any(word in run["reason"] for word in OF_THE_MACHINE)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "records", nargs="*", type=Path, help="run.json of first runs on the cheapest machine; else lines of stdin"
    )
    parser.add_argument("--output", required=True, type=Path, help="file to write: variant -> reason (JSON)")
    options = parser.parse_args()
    failed = {}
    for path in options.records or [Path(line) for line in sys.stdin.read().splitlines()]:
        run, folder = record.read_run(path), path.parent
        if fails_anywhere(run):
            failed[folder.parent.name] = run["reason"]
            print(f"{folder} failed ({run['reason']}): not tried on dearer machines", flush=True)
    write_text(options.output, json.dumps(failed, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    errors.run(main)
