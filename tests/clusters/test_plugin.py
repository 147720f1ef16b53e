import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT

PLUGIN = ROOT / "plugins" / "snakemake-executor-plugin-gcebatch"


@pytest.mark.slow
def test_the_plugin_passes_its_own_tests(plugins: Path) -> None:
    environment = os.environ | {"PYTHONPATH": str(plugins / "gce")}
    environment.pop("PYTEST_XDIST_WORKER", None)
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "-c",
        os.devnull,
        "--rootdir",
        ".",
        "tests",
    ]
    done = subprocess.run(command, cwd=PLUGIN, env=environment, capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stdout[-5000:]
