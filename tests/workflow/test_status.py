"""What of a study's grid is done, running, failed and missing."""

import json
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from scripts.records import about, record
from scripts.records.cell import Cell
from scripts.storage import brought, schemas
from scripts.studies import commands, definition, grid, trust
from scripts.workflow import status
from tests import made
from tests.conftest import ROOT

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


def test_what_will_be_measured_again_is_a_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two runs of a command, one record of which says another code than that of its folder now; then an edit of it."""
    for name in ("config", "envs", "scripts"):
        (tmp_path / name).symlink_to(ROOT / name)
    (tmp_path / "gpt").mkdir()
    (tmp_path / "gpt" / "train.py").write_text("print(1)\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(about, "_ADDED", {})
    monkeypatch.setattr(about, "_COMMANDS", {})
    monkeypatch.setattr(trust, "KNOWN", tmp_path / "trusted")
    one = {"name": "gpt", "command": "python train.py", "folder": "gpt"}
    keys = {"title": "Mine", "hardware": ["cpu1"], "base": {"hardware": "cpu1"}, "repeats": 2}
    Path("mine.yaml").write_text(json.dumps(keys | {"workloads": [one]}))
    name, settings = definition.read("mine.yaml", {"trust": "all"})
    catalogue = schemas.read_yaml(Path("config/hardware.yaml"), "hardware")
    (cell,) = grid.planned(name, settings, catalogue).cells
    brought.tracked.cache_clear()  # of a folder of this name that another test had
    trained = commands.code(commands.asked(settings["commands"]["gpt"], cell, cell.seed(1)))
    for repeat in (1, 2):
        folder = Path("results", name, cell.path, f"r{repeat}")
        folder.mkdir(parents=True)
        whole = made.failed_record(cell=asdict(cell), repeat=repeat, batch_size=1)
        record.write(folder, whole | {"provenance": whole["provenance"] | {"code": trained}}, [], [])

    def found() -> list[dict[str, Any]]:
        brought.tracked.cache_clear()
        return status.cells(name, settings, lambda run: False)

    def said() -> str:
        return status.outdated(found())

    assert said() == ""
    assert status.total(found()) == "2 runs of 1 configurations: 2 out of memory"
    Path("gpt", "train.py").write_text("print(2)\n")
    assert said().startswith(f"2 runs of {cell.path} will be measured again: the code that trains, or a command or a ")
    assert status.total(found()) == "2 runs of 1 configurations: 2 out of memory (2 outdated)"
    assert list(status.table("", found()).columns[1].cells) == ["2 out of memory (2 outdated)"]
