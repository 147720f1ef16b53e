"""What of a study's grid is done, running, failed and missing."""

import subprocess
import sys
from pathlib import Path

import pytest

from scripts.records.cell import Cell
from scripts.studies import grid
from scripts.workflow import status

CELL = Cell("mnist_mlp", "cpu1", "jax", 128, 2, 1.0, "synthetic")


@pytest.mark.parametrize(("clone", "states"), [("here", {"running": 1, "missing": 1}), ("there", {"missing": 2})])
def test_training_of_another_clone_is_not_running_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, clone: str, states: dict[str, int]
) -> None:
    for name in ("here", "there"):
        (tmp_path / name).mkdir()
    monkeypatch.chdir(tmp_path / "here")
    words = ["scripts.train", "--output", f"results/small/{CELL.path}/r1"]
    process = subprocess.Popen(
        [sys.executable, "-c", "print(flush=True); import time; time.sleep(1800)", *words],
        cwd=tmp_path / clone, stdout=subprocess.PIPE,
    )  # fmt: skip
    try:
        assert process.stdout
        process.stdout.readline()
        (row,) = status.rows(grid.Study("small", {"repeats": 2}, [CELL]), Path("results/small"), lambda run: False, {})
    finally:
        process.kill()
        process.communicate()
    assert row["states"] == states
