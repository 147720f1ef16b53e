"""Download the packages that a run needs beside its framework, as wheels for another machine's Python."""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

from scripts.storage import downloads, errors
from scripts.storage.errors import InputError
from scripts.storage.files import write_text

#: A framework brings its own NumPy, and was built for it.
_LEFT_OUT = ("numpy",)


def platforms(machine: str) -> list[str]:
    """Return the tags of wheels for Linux from 2018 on (glibc 2.28), on `x86_64` or `aarch64`."""
    return [f"manylinux_2_{minor}_{machine}" for minor in range(28, 4, -1)] + [f"manylinux2014_{machine}"]


#: Between two looks at a download (s).
_LOOK_SECONDS = 1.0


def fetch(lock: Path, python: str, folder: Path) -> None:
    """Download what `lock` pins, checksums checked, into an empty `folder`, for a Python (3.12, or 3.12-aarch64).

    Raises InputError where a package has no wheel for it, or cannot be had.
    """
    pinned = re.split(r"\n(?=\S)", lock.read_text(encoding="utf-8"))
    wanted = [entry for entry in pinned if entry and entry.partition("==")[0] not in (*_LEFT_OUT, "#")]
    with tempfile.TemporaryDirectory() as work:
        requirements = Path(work, "requirements.txt")
        requirements.write_text("\n".join(wanted), encoding="utf-8")
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
        number, _, machine = python.partition("-")
        command += ["--only-binary=:all:", "--require-hashes", "--implementation=cp", f"--python-version={number}"]
        command += [f"--platform={platform}" for platform in platforms(machine or "x86_64")]
        command += ["--dest", str(folder), "--requirement", str(requirements)]
        try:
            _patient(command, Path(work))
        except downloads.NotFetched as error:
            raise InputError(f"{lock}: wheels for Python {python}: {error}") from error


def _patient(command: list[str], work: Path) -> None:
    """Run pip, which downloads into the folder `work`. Raises NotFetched where it fails or hardly goes on."""

    def size() -> int:
        found = 0
        for path in work.rglob("*"):
            with suppress(OSError):  # pip takes its files away
                found += path.stat().st_size
        return found

    patience = downloads.Patience(size)
    place, output = os.environ | {"TMPDIR": str(work)}, subprocess.DEVNULL
    with subprocess.Popen(command, env=place, stdout=output, stderr=subprocess.PIPE, text=True) as pip:
        try:
            while True:
                try:
                    _, said = pip.communicate(timeout=_LOOK_SECONDS)
                    break
                except subprocess.TimeoutExpired:
                    patience.check()
        finally:
            pip.kill()
    if pip.returncode:
        *_, last = ["pip failed without output", *said.splitlines()]
        lines = (line for line in said.splitlines() if line.startswith("ERROR: ") and line != "ERROR: Exception:")
        raise downloads.NotFetched(next(lines, last))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("lock", type=Path)
    parser.add_argument("python", help="for example 3.12, or for ARM 3.12-aarch64")
    parser.add_argument("output", type=Path, help="folder to write; a file of its name, .json, lists what is in it")
    options = parser.parse_args()
    print(f"wheels for Python {options.python}", flush=True)
    options.output.mkdir(parents=True, exist_ok=True)
    fetch(options.lock, options.python, options.output)
    names = sorted(wheel.name for wheel in options.output.glob("*.whl"))
    write_text(options.output.with_name(f"{options.output.name}.json"), json.dumps(names, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    errors.run(main)
