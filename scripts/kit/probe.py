"""Start a framework as a training would, and print as JSON what it is and what it sees: one framework, one process."""

import argparse
import json
import sys
from dataclasses import asdict, dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

if __package__ in (None, ""):  # run by its path: Python puts scripts/kit/ on the path, not the kit
    sys.path[0] = str(Path(__file__).resolve().parents[2])

from scripts import frameworks
from scripts.measurement import worker
from scripts.records.cell import Cell


@dataclass
class Found:
    """A framework on this machine: its versions and devices, or the `problem` for which nothing can train on it."""

    framework: str
    versions: dict[str, str] = field(default_factory=dict)
    devices: list[str] = field(default_factory=list)
    problem: str | None = None


def probe(framework: str, cores: int, gpus: int) -> Found:
    """Import a framework with Keras, held to `cores` and `gpus` as a run is."""
    found = Found(framework)
    for package in frameworks.framework(framework).DISTRIBUTIONS:
        try:
            found.versions[package] = version(package)
        except PackageNotFoundError:
            found.problem = f"{package} is not installed"
            return found
    job = worker.Job(Cell("", "", framework, 1, 1, 1.0, "synthetic"), 0, cores, gpus, None)
    try:
        found.devices = worker.start(job, worker.pin_resources(job))
    except Exception as error:
        found.problem = " ".join(f"{type(error).__name__}: {error}".split())[:300]
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("framework", choices=frameworks.names())
    parser.add_argument("cores", type=int)
    parser.add_argument("gpus", type=int)
    options = parser.parse_args()
    # Frameworks print what they like on stdout; the answer is the last line.
    print("\n" + json.dumps(asdict(probe(options.framework, options.cores, options.gpus))), flush=True)


if __name__ == "__main__":
    main()
