"""The executor plugin as somebody gets it: its wheel in an empty environment, which passes the plugin's own tests."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.conftest import LIMIT_SECONDS, ROOT

PLUGIN = ROOT / "plugins" / "snakemake-executor-plugin-gcebatch"


def pins() -> str:
    """Return the versions of the locks, without their hashes, which a wheel of this folder has none of."""
    locks = [(ROOT / "envs" / f"{name}.lock").read_text() for name in ("gce", "test")]
    found = {line for lock in locks for line in re.findall(r"^([\w.-]+==[^\\\n]+?) *\\?$", lock, re.MULTILINE)}
    return "\n".join(sorted(found))


def run_tests(python: Path | str, folder: Path, environment: Mapping[str, str], *arguments: str) -> None:
    """Run the plugin's tests in `folder` with their own settings; most of them wait for emulated machines."""
    command = [python, "-m", "pytest", "-q", "-n", "3", "--dist", "worksteal", "-p", "no:cacheprovider"]
    command += ["-c", os.devnull, "--rootdir", ".", *arguments, "tests"]
    clean = {name: value for name, value in environment.items() if not name.startswith("PYTEST_")}
    done = subprocess.run(command, cwd=folder, env=clean, capture_output=True, text=True, timeout=LIMIT_SECONDS)
    assert done.returncode == 0, done.stdout[-5000:]


@pytest.mark.slow
@pytest.mark.nightly
def test_the_sources_pass_their_short_tests(plugins: Path, tmp_path: Path) -> None:
    (tmp_path / "tests").symlink_to(PLUGIN / "tests")
    run_tests(sys.executable, tmp_path, os.environ | {"PYTHONPATH": str(plugins / "gce")}, "-m", "not nightly")


@pytest.mark.slow
@pytest.mark.nightly
def test_the_wheel_passes_its_own_tests_in_an_empty_environment(tmp_path: Path) -> None:
    # Built in a copy, as building leaves files behind.
    plugin = Path(shutil.copytree(PLUGIN, tmp_path / "plugin"))
    run = {"check": True, "cwd": tmp_path, "stdout": subprocess.DEVNULL}
    subprocess.run([sys.executable, "-m", "pip", "wheel", "--no-deps", "--wheel-dir", "wheel", plugin], **run)
    (wheel,) = (tmp_path / "wheel").iterdir()
    shutil.rmtree(plugin / "snakemake_executor_plugin_gcebatch")
    # With the pip that is here: one of its own, and compiling what no test imports, take six seconds.
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", "empty"], **run)
    python = tmp_path / "empty" / "bin" / "python"
    (tmp_path / "pins").write_text(pins())
    install = [sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-compile", "-c", "pins"]
    subprocess.run([*install, f"{wheel}[test]", "pytest-xdist"], **run)
    run_tests(python, plugin, os.environ | {"PATH": f"{python.parent}:/usr/bin:/bin", "PYTHONPATH": ""})
