"""A second training of a run waits for the first one, however that ends."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from scripts.measurement import attempt
from scripts.measurement.exclusive import exclusive
from scripts.storage.errors import InputError
from tests.conftest import ROOT

HOLD = """
import sys
from pathlib import Path
from scripts.measurement.exclusive import exclusive
with exclusive(Path(sys.argv[1]), Path(sys.argv[2])):
    print("holds", flush=True)
    sys.stdin.readline()
    (Path(sys.argv[2]) / "ended").touch()
"""


def hold(output: Path, folder: Path) -> subprocess.Popen:
    """Start a process that holds a run until it is given a line."""
    command = [sys.executable, "-c", HOLD, str(output), str(folder)]
    process = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "holds\n"
    return process


def test_nobody_to_wait_for(tmp_path: Path) -> None:
    with exclusive(tmp_path / "r1", tmp_path) as waited, exclusive(tmp_path / "r2", tmp_path) as other:
        assert (waited, other) == (False, False)


def test_a_link_in_the_place_of_a_lock_empties_nothing(tmp_path: Path) -> None:
    """Whoever hands over a folder may have put one there."""
    with exclusive(tmp_path / "r1", tmp_path / "locks"):
        (lock,) = (tmp_path / "locks").iterdir()
    (tmp_path / "mine").write_text("untouched")
    lock.unlink()
    lock.symlink_to(tmp_path / "mine")
    with pytest.raises(InputError, match="it is a link"), exclusive(tmp_path / "r1", tmp_path / "locks"):
        pass
    assert (tmp_path / "mine").read_text() == "untouched"


def test_second_waits_until_the_first_has_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = hold(tmp_path / "r1", tmp_path)
    said = []

    def let_it_end(line: str) -> None:
        said.append(line)
        assert first.stdin is not None
        first.stdin.write("\n")
        first.stdin.close()

    monkeypatch.setattr(attempt, "log", let_it_end)
    with exclusive(tmp_path / "r1", tmp_path) as waited:
        assert waited
        assert (tmp_path / "ended").exists()
    assert first.wait() == 0
    assert said == [f"another process trains {tmp_path / 'r1'}: waiting for it"]


def test_one_that_was_killed_holds_nothing(tmp_path: Path) -> None:
    first = hold(tmp_path / "r1", tmp_path)
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
