"""What a measured minute may overwrite or send is said before it starts, and can be prevented."""

from pathlib import Path

import pytest
from epochs_per_dollar import before, scratch

from tests.recorder.test_command import COUNTS, Recorder

#: Someone whom W&B knows.
KNOWN = {"WANDB_API_KEY": "0" * 40}


def said(folder: Path, *command: str, **environment: str) -> list[str]:
    return list(before.warnings(folder, command, environment))


def test_an_empty_folder_is_no_reason_to_say_anything(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("import torch, wandb\n")
    assert said(tmp_path, "python", "train.py") == []


@pytest.mark.parametrize("place", ["model.pt", "out/checkpoint-500/model.safetensors"])
def test_a_checkpoint_that_may_be_overwritten_is_named(tmp_path: Path, place: str) -> None:
    (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / place).write_text("")
    (line,) = said(tmp_path, "python", "train.py")
    assert line.startswith(f"{place} is here, and may be overwritten")


@pytest.mark.parametrize("place", ["data/train.bin", ".venv/lib/model.pt"])
def test_data_and_packages_are_no_checkpoints(tmp_path: Path, place: str) -> None:
    (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / place).write_text("")
    assert said(tmp_path, "python", "train.py") == []


@pytest.mark.parametrize(
    ("text", "environment", "is_said"),
    [
        ("import wandb\n", KNOWN, True),
        ("from transformers import Trainer\n", KNOWN, True),
        ("import torch\n", KNOWN, False),
        ("import wandb\n", {}, False),
        ("import wandb\n", KNOWN | {"WANDB_MODE": "offline"}, False),
        ("import wandb\n", KNOWN | {"WANDB_MODE": "disabled"}, False),
        ("import wandb\n", KNOWN | before.OFFLINE, False),
    ],
)
def test_an_online_run_of_wandb_is_said_where_it_is_likely(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, environment: dict[str, str], is_said: bool
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "nobody"))
    (tmp_path / "train.py").write_text(text)
    assert any("W&B" in line for line in said(tmp_path, "python", "train.py", **environment)) == is_said


def test_wandb_that_is_switched_off_stays_so() -> None:
    assert "WANDB_MODE" not in before.offline({"WANDB_MODE": "disabled"})
    assert before.offline({"WANDB_MODE": "online"}) == before.OFFLINE


def test_a_copy_has_files_and_checkpoints_and_links_to_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scratch, "_LARGE_BYTES", 1000)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    folder = tmp_path / "work"
    sizes = {"train.py": 10, "out/ckpt.pt": 5000, "data/a.txt": 10, "words.npy": 2000, ".git/HEAD": 5}
    for name, size in sizes.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("x" * size)
    plan = scratch.plan(folder)
    assert plan.words() == "0.0 MB are copied, 2 files; linked, so that what is written there stays: data, words.npy"
    copy = scratch.make(plan)
    (copy / "out" / "ckpt.pt").write_text("overwritten")
    assert (folder / "out" / "ckpt.pt").stat().st_size == 5000
    assert (copy / "data" / "a.txt").read_text() == "x" * 10
    assert (copy / "words.npy").is_symlink()
    assert not (copy / ".git").exists()
    scratch.remove(copy)
    assert not copy.exists()
    assert (folder / "data" / "a.txt").is_file()


@pytest.mark.slow
def test_scratch_leaves_the_folder_as_it_was(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path)
    (recorder.folder / "model.pt").write_text("learned")
    recorder.environment["TMPDIR"] = str(tmp_path)
    text = "open('model.pt', 'w').write('spoilt')\n" + COUNTS.format(n=30)
    done = recorder.run("--scratch", "--", *recorder.program(text))
    lines = done.stderr.splitlines()
    assert lines[0] == "epd: --scratch: 0.0 MB are copied, 1 file"
    assert "epd: the copy of the folder is removed, and what it wrote with it" in lines
    assert (recorder.folder / "model.pt").read_text() == "learned"
    assert list(tmp_path.glob("epd-scratch-*")) == []
    done = recorder.run("--scratch", "--whole", "--", *recorder.program(text))
    (place,) = (Path(line.split(" is in ")[1]) for line in done.stderr.splitlines() if "what it wrote is in" in line)
    assert (place / "model.pt").read_text() == "spoilt"
    done = recorder.run("--", *recorder.program(text))
    assert "model.pt is here, and may be overwritten: --scratch" in done.stderr.splitlines()[0]
    assert (recorder.folder / "model.pt").read_text() == "spoilt"


@pytest.mark.slow
def test_scratch_that_does_not_fit_is_a_line(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path)
    with (recorder.folder / "model.pt").open("w") as file:
        file.truncate(1 << 43)
    recorder.environment["TMPDIR"] = str(tmp_path)
    done = recorder.run("--scratch", "--", "true")
    assert done.returncode == 2
    assert "8796.1 GB are to be copied, and" in done.stderr.splitlines()[-1]
    assert list(tmp_path.glob("epd-scratch-*")) == []


@pytest.mark.slow
def test_offline_is_what_the_program_sees(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path)
    names = ("WANDB_MODE", "HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE")
    text = f"import os\nprint(*(os.environ.get(name) for name in {names}))"
    assert recorder.run("--offline", "--", *recorder.program(text)).stdout == "offline 1 1\n"
