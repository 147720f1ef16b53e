"""Code that a study brings along runs when its content was trusted once, and never before."""

import subprocess
from pathlib import Path
from typing import Any

import pytest

from scripts.records import about
from scripts.storage import brought, environment
from scripts.storage.errors import InputError
from scripts.studies import definition, grid, trust

CATALOGUE = {"cpu1": {"label": "one core", "machine": {"cores": 1}, "local": True}}
STUDY = """
title: Mine
data: synthetic
workloads: [{file}]
hardware: [cpu1]
frameworks: [jax]
base: {{hardware: cpu1, framework: jax}}
charts: [relative_time]
"""
OWN = """
DATASET, BATCH_SIZE, EPOCHS, REFERENCE = None, 8, 1, None
def prepare(arrays): ...
def build(split): ...
"""


@pytest.fixture
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A study with a file of code of its own, in a clone where nothing was trusted."""
    monkeypatch.setattr(trust, "KNOWN", tmp_path / ".cache" / "trusted")
    monkeypatch.setattr(about, "_ADDED", {})
    monkeypatch.setenv(environment.TRUST.name, "")
    (tmp_path / "my_net.py").write_text(OWN)
    (tmp_path / "mine.yaml").write_text(STUDY.format(file=tmp_path / "my_net.py"))
    return tmp_path / "mine.yaml"


def asked(study: Path) -> None:
    """Ask as a call of Snakemake does before anything is trained."""
    trust.check(study, definition.read(str(study), {})[1]["workload_files"])


def refusal(study: Path) -> str:
    with pytest.raises(InputError) as said:
        asked(study)
    return str(said.value)


def test_a_study_is_read_without_a_question_and_without_its_code(mine: Path) -> None:
    ran = mine.with_name("ran")
    (mine.parent / "my_net.py").write_text(f"{OWN}open({str(ran)!r}, 'w')\n")
    name, config = definition.read(str(mine), {})
    assert [cell.epochs for cell in grid.planned(name, config, CATALOGUE).cells] == [1]
    assert not ran.exists()


def test_what_is_refused_is_shown_with_what_to_type(mine: Path) -> None:
    said = refusal(mine)
    assert f"{mine.parent}/my_net.py (4 lines)" in said
    word = trust.checksum(brought.files(mine, {"my_net": str(mine.parent / "my_net.py")}, {}))
    assert said.endswith(f"./epd report {mine} --config trust={word}")
    assert not mine.with_name(".cache").exists()


def test_it_is_asked_once_and_again_for_other_content(mine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    word = refusal(mine).rpartition("trust=")[2]
    environment.TRUST.write(word)
    asked(mine)
    environment.TRUST.write("")
    asked(mine)  # it is known by now
    assert environment.TRUST.read() == word, "for what this process starts, also on another machine"
    (mine.parent / "my_net.py").write_text(OWN + "import os\n")
    other = refusal(mine).rpartition("trust=")[2]
    assert other != word
    environment.TRUST.write(f"{word},{other}")
    asked(mine)
    assert trust.KNOWN.read_text().split() == [word, other]


def test_all_is_trusted_where_somebody_says_so_and_nothing_kept(mine: Path) -> None:
    environment.TRUST.write("all")
    asked(mine)
    environment.TRUST.write("")
    assert "trust=sha256-" in refusal(mine)


@pytest.mark.parametrize("word", ["yes", "sha256-", "sha256-0000000000000000", "ALL", " "])
def test_another_word_trusts_nothing(mine: Path, word: str) -> None:
    environment.TRUST.write(word)
    assert "trust=sha256-" in refusal(mine)


def test_a_checksum_is_of_names_and_contents(tmp_path: Path) -> None:
    one, two = (tmp_path / name for name in ("a.py", "b.py"))
    one.write_text("1")
    two.write_text("2")
    different = ({"a": one}, {"b": one}, {"a": two}, {"a": one, "b": two}, {"a": two, "b": one})
    assert len({trust.checksum(files) for files in different}) == len(different)
    assert trust.checksum({"b": two, "a": one}) == trust.checksum({"a": one, "b": two})


def trusted(study: Path) -> None:
    environment.TRUST.write(refusal(study).rpartition("trust=")[2])
    asked(study)
    environment.TRUST.write("")
    asked(study)


@pytest.mark.parametrize(
    "name",
    [
        "helper.py",
        "package/__init__.py",
        "package/deep/er.py",
        ".hidden/helper.py",
        "site-packages/helper.py",
        "conftest.py",
        "sitecustomize.py",
        "site-packages/extra.pth",
        "fast.abi3.so",
        "libfast.so.1",
        "linked/helper.py",
        "build.sh",
    ],
)
def test_what_it_may_import_is_shown_and_asked_for_again(mine: Path, tmp_path_factory: Any, name: str) -> None:
    (mine.parent / "linked").symlink_to(tmp_path_factory.mktemp("elsewhere"), target_is_directory=True)
    file = mine.parent / name
    file.parent.mkdir(parents=True, exist_ok=True)
    trusted(mine)
    file.write_text("new = 1\n")
    assert f"which may run {file} (1 lines)" in refusal(mine)
    trusted(mine)
    file.write_text("new = 2\n")
    refusal(mine)


def test_what_a_program_writes_is_not_asked_about(mine: Path) -> None:
    trusted(mine)
    for name in ("log.txt", "epochs.csv", "model.keras", "__pycache__/my_net.cpython-312.pyc", ".git/hooks/x.py"):
        (mine.parent / name).parent.mkdir(parents=True, exist_ok=True)
        (mine.parent / name).write_text("1")
    (mine.parent / ".git" / "objects").mkdir()
    (mine.parent / ".git" / "HEAD").write_text("ref: refs/heads/main")
    asked(mine)


def test_a_program_by_its_first_bytes_is_code(mine: Path) -> None:
    file = mine.parent / "launch"
    file.write_text("#!/bin/sh\n")
    trusted(mine)
    file.chmod(0o755)
    assert "launch" in refusal(mine)


@pytest.mark.parametrize(
    ("limit", "said"),
    [
        ("_MOST_ENTRIES", "my_net.py': over 2 files lie in /"),
        ("_MOST_FILES", "workloads: 3 files of code lie in their folders: at most 2 of"),
        ("_MOST_BYTES", "my_net.py the largest: at most"),
    ],
)
def test_too_much_is_refused_and_never_half_covered(
    mine: Path, monkeypatch: pytest.MonkeyPatch, limit: str, said: str
) -> None:
    for number in range(2):
        (mine.parent / f"{number}.py").write_text("x")
    monkeypatch.setattr(brought, limit, 2)
    assert said in refusal(mine)
    assert "trust=all" in refusal(mine)
    environment.TRUST.write("all")
    asked(mine)


def test_links_in_a_circle_end(mine: Path) -> None:
    (mine.parent / "round").symlink_to(mine.parent, target_is_directory=True)
    trusted(mine)


def test_of_an_environment_what_starts_counts_and_no_package(mine: Path) -> None:
    packages = mine.parent / "venv" / "lib" / "python3.12" / "site-packages"
    (packages / "torch").mkdir(parents=True)
    (mine.parent / "venv" / "pyvenv.cfg").write_text("home = /usr/bin\n")
    (packages / "torch" / "__init__.py").write_text("1")
    trusted(mine)
    (packages / "torch" / "__init__.py").write_text("2")
    asked(mine)
    for name in ("x.pth", "sitecustomize.py"):
        (packages / name).write_text("import os")
        assert name in refusal(mine)
        trusted(mine)


@pytest.mark.parametrize(
    ("marker", "name"),
    [
        ("pyvenv.cfg", "bin/python"),
        ("pyvenv.cfg", "setup.sh"),
        ("pyvenv.cfg", "lib/tool"),
        ("pyvenv.cfg", "lib/python3.12/tool"),
        ("pyvenv.cfg", "deep/lib/python3.12/site-packages/tool"),
        ("pyvenv.cfg", "fast.so"),
        ("conda-meta/history", "bin/python"),
        ("conda-meta/history", "setup.sh"),
        ("conda-meta/history", "deep/lib/python3.12/tool"),
    ],
)
def test_of_an_environment_all_but_packages_counts(mine: Path, marker: str, name: str) -> None:
    for each in (marker, name):
        (mine.parent / ".venv" / each).parent.mkdir(parents=True, exist_ok=True)
    (mine.parent / ".venv" / marker).write_text("")
    file = mine.parent / ".venv" / name
    file.write_text("#!/bin/sh\ntrue\n")
    file.chmod(0o755)
    assert f" {file} (2 lines)" in refusal(mine)
    trusted(mine)
    file.write_text("#!/bin/sh\nfalse\n")
    refusal(mine)


@pytest.mark.parametrize(("place", "code"), [(".", "."), ("net", "net"), ("venv", "venv"), ("venv", "venv/lib")])
def test_what_is_called_an_environment_hides_no_code(mine: Path, place: str, code: str) -> None:
    for name in (place, code):
        (mine.parent / name).mkdir(exist_ok=True)
    (mine.parent / place / "pyvenv.cfg").write_text("home = /usr/bin\n")
    trusted(mine)
    (mine.parent / code / "helper.py").write_text("1")
    assert "helper.py" in refusal(mine)


def test_whatever_a_command_names_counts(tmp_path: Path) -> None:
    for name in ("run.txt", "other.txt"):
        (tmp_path / name).write_text("print(1)")
    program = {"gpt": {"command": "python run.txt --steps 3", "folder": str(tmp_path)}}

    def content() -> str:
        return trust.checksum(brought.files(tmp_path / "study.yaml", {}, program), program)

    before = content()
    (tmp_path / "other.txt").write_text("print(2)")
    assert content() == before
    (tmp_path / "run.txt").write_text("print(2)")
    assert content() != before


def test_no_setting_of_a_folders_git_runs_a_program(tmp_path: Path) -> None:
    """A sparse index that lacks a folder's tree would fetch it, by whatever program the folder names."""

    def git(*words: str) -> str:
        settings = ["-c", "user.name=a", "-c", "user.email=a@b"]
        return subprocess.run(
            ["git", *settings, *words], cwd=folder, capture_output=True, text=True, check=True
        ).stdout.strip()

    folder = tmp_path / "theirs"
    (folder / "a").mkdir(parents=True)
    (folder / "b").mkdir()
    for name in ("train.py", "a/f", "b/f"):
        (folder / name).write_text(name)
    git("init", "-q")
    git("add", "-A")
    git("commit", "-qm", "x")
    git("sparse-checkout", "set", "--cone", "--sparse-index", "a")
    tree = git("rev-parse", "HEAD:b")
    (folder / ".git" / "objects" / tree[:2] / tree[2:]).unlink()
    ran = tmp_path / "ran"
    with (folder / ".git" / "config").open("a") as config:
        config.write(
            f'[core]\nrepositoryformatversion = 1\nsshCommand = "touch {ran}; false"\n'
            f'fsmonitor = "touch {ran}; false"\n'
            '[extensions]\npartialClone = origin\n[remote "origin"]\npromisor = true\nurl = ssh://nowhere/x\n'
            '[protocol "ssh"]\nallow = always\n'
        )
    before = brought.tracked(str(folder))
    assert not ran.exists()
    brought.tracked.cache_clear()
    (folder / "train.py").write_text("changed")
    assert brought.tracked(str(folder)) != before


def test_a_study_of_the_projects_workloads_asks_for_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(environment.TRUST.name, "")
    asked(Path("smoke"))
    assert environment.TRUST.read() == ""
