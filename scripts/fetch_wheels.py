"""Download the packages that a run needs beside its framework, as wheels for another machine's Python."""

import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from scripts.storage import errors
from scripts.storage.errors import InputError

#: A framework brings its own NumPy, and was built for it.
_LEFT_OUT = ("numpy",)

#: Linux on x86-64 from 2018 on (glibc 2.28).
_PLATFORMS = [f"manylinux_2_{minor}_x86_64" for minor in range(28, 4, -1)] + ["manylinux2014_x86_64"]


def fetch(lock: Path, python: str, folder: Path) -> None:
    """Download what `lock` pins, checksums checked, into an empty `folder`, for the Python `python` (3.12).

    Raises InputError where a package has no wheel for it, or cannot be had.
    """
    pinned = re.split(r"\n(?=\S)", lock.read_text(encoding="utf-8"))
    wanted = [entry for entry in pinned if entry and entry.partition("==")[0] not in (*_LEFT_OUT, "#")]
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as requirements:
        requirements.write("\n".join(wanted))
        requirements.flush()
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
        command += ["--only-binary=:all:", "--require-hashes", "--implementation=cp", f"--python-version={python}"]
        command += [f"--platform={platform}" for platform in _PLATFORMS]
        done = subprocess.run(
            [*command, "--dest", str(folder), "--requirement", requirements.name], capture_output=True, text=True
        )
    if done.returncode:
        why = next((line for line in done.stderr.splitlines() if line.startswith("ERROR")), done.stderr.strip())
        raise InputError(f"{lock}: wheels for Python {python}: {why}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("lock", type=Path)
    parser.add_argument("python", help="for example 3.12")
    parser.add_argument("output", type=Path, help="folder to write")
    options = parser.parse_args()
    print(f"wheels for Python {options.python}", flush=True)
    options.output.mkdir(parents=True, exist_ok=True)
    fetch(options.lock, options.python, options.output)
    return 0


if __name__ == "__main__":
    errors.run(main)
