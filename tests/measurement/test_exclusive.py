"""A second training of a run waits for the first one, however that ends."""

import shutil
import subprocess
import sys
import time
from pathlib import Path

from scripts.measurement.exclusive import exclusive
from tests.conftest import ROOT

HOLD = """
import sys, time
from pathlib import Path
from scripts.measurement.exclusive import exclusive
with exclusive(Path(sys.argv[1]), Path(sys.argv[2])):
    print("holds", flush=True)
    time.sleep(float(sys.argv[3]))
"""


def hold(output: Path, folder: Path, seconds: float) -> subprocess.Popen:
    command = [sys.executable, "-c", HOLD, str(output), str(folder), str(seconds)]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "holds\n"
    return process


def test_nobody_to_wait_for(tmp_path: Path) -> None:
    with exclusive(tmp_path / "r1", tmp_path) as waited, exclusive(tmp_path / "r2", tmp_path) as other:
        assert (waited, other) == (False, False)


def test_second_waits_until_the_first_has_ended(tmp_path: Path, capsys) -> None:
    first, began = hold(tmp_path / "r1", tmp_path, 1.0), time.monotonic()
    with exclusive(tmp_path / "r1", tmp_path) as waited:
        assert waited
        assert time.monotonic() - began > 0.5
    assert first.wait() == 0
    assert "waiting for it" in capsys.readouterr().out


def test_one_that_was_killed_holds_nothing(tmp_path: Path) -> None:
    first = hold(tmp_path / "r1", tmp_path, 60.0)
    first.kill()
    first.wait()
    with exclusive(tmp_path / "r1", tmp_path) as waited:
        assert not waited


def test_clean_waits_for_no_training_and_takes_nothing_from_one(tmp_path: Path) -> None:
    shutil.copy(ROOT / "Makefile", tmp_path)
    (tmp_path / "results").mkdir()
    command = ["make", "-s", "clean"]
    with exclusive(tmp_path / "results" / "r1", tmp_path / ".cache" / "trainings"):
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode != 0
    assert "error: a training is at work here: stop it first" in done.stderr
    assert (tmp_path / "results").is_dir()
    assert subprocess.run(command, cwd=tmp_path, capture_output=True).returncode == 0
    assert not (tmp_path / "results").exists()
