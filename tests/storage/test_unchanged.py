"""Code that changes while a call goes on is not trained, nor recorded under what it was."""

import json
import shutil
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

import pytest

from scripts import train
from scripts.records import about
from scripts.records.cell import Cell
from scripts.storage import brought, environment, unchanged
from scripts.storage.errors import InputError
from tests.conftest import ROOT

NET = "DATASET, BATCH_SIZE, EPOCHS, REFERENCE = None, 8, 1, None\n"
PROGRAM = {"command": "python3 train.py", "folder": "gpt", "minutes": 0.05}


@pytest.fixture(autouse=True)
def _noted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The note of a call with a net and a program of its own, whose folder git knows."""
    monkeypatch.setattr(about, "_ADDED", {})
    monkeypatch.setenv(environment.TRUSTED.name, "")
    monkeypatch.chdir(tmp_path)
    for name, text in {"nets/net.py": NET, "nets/helper.py": "1", "gpt/train.py": "1", "gpt/config.yaml": "1"}.items():
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text(text)
    for words in (["init", "-q"], ["add", "."]):
        subprocess.run(["git", "-C", "gpt", *words], check=True)
    note({"net": "nets/net.py"}, {"gpt": PROGRAM})


def note(workloads: dict[str, str], commands: dict[str, dict], is_asked: bool = True) -> None:
    found = brought.files(Path("mine.yaml"), workloads, commands)
    brought.tracked.cache_clear()
    checksums = {path: brought.checksum(path) for path in found.values()}
    unchanged.note(Path("noted"), workloads, commands, checksums, is_asked)


@pytest.mark.parametrize(
    ("name", "workload", "has_run"),
    [
        ("nets/net.py", "net", False),
        ("nets/net.py", "net", True),
        ("nets/helper.py", "net", True),
        ("gpt/train.py", "gpt", False),
        ("gpt/train.py", "gpt", True),
        ("gpt/config.yaml", "gpt", False),
    ],
)
@pytest.mark.parametrize("is_asked", [True, False])
def test_what_was_edited_meanwhile_is_refused(name: str, workload: str, has_run: bool, is_asked: bool) -> None:
    note({"net": "nets/net.py"}, {"gpt": PROGRAM}, is_asked)
    for each in ("net", "gpt", "mnist_mlp"):
        unchanged.check(environment.TRUSTED.read(), each, has_run)
    Path(name).write_text("2")
    with pytest.raises(InputError, match=rf"{Path(name).parts[0]}.* changed since this call began"):
        unchanged.check(environment.TRUSTED.read(), workload, has_run)
    unchanged.check(environment.TRUSTED.read(), "gpt" if workload == "net" else "net", has_run)


@pytest.mark.parametrize(
    "name", ["nets/numpy.py", "gpt/torch/__init__.py", "gpt/fast.so", "gpt/GNUmakefile", "gpt/hook.sh"]
)
def test_what_is_new_is_refused_unless_the_run_wrote_it(name: str) -> None:
    Path(name).parent.mkdir(exist_ok=True)
    Path(name).write_text("2")
    workload = "net" if name.startswith("nets") else "gpt"
    with pytest.raises(InputError, match=r"new since this call began"):
        unchanged.check(environment.TRUSTED.read(), workload)
    unchanged.check(environment.TRUSTED.read(), workload, has_run=True)


@pytest.mark.parametrize("has_run", [False, True])
def test_what_is_gone_is_refused(has_run: bool) -> None:
    Path("gpt", "slow.sh").write_text("export D=1")
    note({"net": "nets/net.py"}, {"gpt": PROGRAM})
    Path("gpt", "slow.sh").unlink()
    unchanged.check(environment.TRUSTED.read(), "net", has_run)
    with pytest.raises(InputError, match=r"slow\.sh: gone since this call began"):
        unchanged.check(environment.TRUSTED.read(), "gpt", has_run)


def test_what_programs_write_is_no_change() -> None:
    for text in "23":
        for name in ("log.txt", "model.pth", "weights.zip", "run.toml"):
            Path("gpt", name).write_text(text)
        unchanged.check(environment.TRUSTED.read(), "gpt")
    Path("gpt", "config.yaml").write_text("as it was trained with")
    Path("gpt", "copy").mkdir()
    Path("gpt", "copy", "train.py").write_text("1")
    unchanged.check(environment.TRUSTED.read(), "gpt", has_run=True)
    note({}, {"gpt": PROGRAM}, is_asked=False)
    Path("gpt", "copy", "again.py").write_text("1")
    unchanged.check(environment.TRUSTED.read(), "gpt")


def test_of_a_folder_that_git_does_not_know_copies_of_code_are_no_change() -> None:
    shutil.rmtree(Path("gpt", ".git"))
    note({}, {"gpt": PROGRAM})
    Path("gpt", "copy.py").write_text("1")
    unchanged.check(environment.TRUSTED.read(), "gpt", has_run=True)


def test_a_training_looks_before_it_runs_anything(tmp_path: Path) -> None:
    Path("nets", "net.py").write_text(f"{NET}open('ran', 'w')\n")
    words = ["--workload", "nets/net.py", "--framework", "jax", "--hardware", "cpu1", "--output", str(tmp_path / "out")]
    with pytest.raises(InputError, match=r"net\.py: changed since this call began"):
        train.main(words)
    assert not Path("ran").exists()


@pytest.mark.slow
@pytest.mark.parametrize("is_edited_before", [True, False])
def test_a_program_is_compared_before_it_runs_and_before_its_record(tmp_path: Path, is_edited_before: bool) -> None:
    """Edited before, or by itself as it ends."""
    program = Path("gpt", "train.py")
    steps = "[print(f'step {i}/9 loss 1', flush=True) for i in range(1, 10)]"
    program.write_text(f"open('ran', 'w'); {steps}; open(__file__, 'a').write('#')\n")
    own = PROGRAM | {"folder": str(tmp_path / "gpt")}
    note({}, {"gpt": own})
    if is_edited_before:
        program.write_text(f"{program.read_text()}#\n")
    cell = Cell("gpt", "cpu1", "own", 1, 1, 1.0, "own")
    command = own | {"words": [sys.executable, "train.py"]} | dict.fromkeys(("of", "epochs", "per_step", "pattern"))
    words = ["--cell", json.dumps(asdict(cell)), "--repeat", "1", "--command", json.dumps(command)]
    on_one_core = ["taskset", "-c", "0", sys.executable, "-m", "scripts.observe", "--output", str(tmp_path / "out")]
    done = subprocess.run([*on_one_core, *words], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 2, done.stdout + done.stderr
    assert f"{tmp_path}/gpt/train.py: changed since this call began" in done.stderr
    assert Path("gpt", "ran").exists() != is_edited_before
    assert not Path("out", "run.json").exists()
