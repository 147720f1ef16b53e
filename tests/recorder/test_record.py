"""What a record says of the folder that a command ran in, which may be of others."""

import os
import subprocess
from pathlib import Path

import pytest
from epochs_per_dollar import record


def asked(*words: str) -> None:
    """Ask git as anybody does, in the working folder."""
    subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *words], check=True, capture_output=True)


@pytest.fixture(autouse=True)
def _theirs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A working folder with a program that git knows, and no settings of the user."""
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    (tmp_path / "theirs").mkdir()
    monkeypatch.chdir(tmp_path / "theirs")
    Path("train.py").write_text("print(1)\n")
    Path(".gitattributes").write_text("*.py filter=theirs\n")
    asked("init", "-q")
    asked("add", ".")
    asked("commit", "-qm", "x")


def test_commit_and_whether_it_was_changed() -> None:
    found = record.git()
    assert found
    assert len(found["commit"]) == 40
    assert not found["changed"]
    Path("out.txt").write_text("1")
    assert record.git() == found
    Path("train.py").write_text("print(2)\n")
    assert record.git() == found | {"changed": True}


def test_without_git_nothing_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert record.git() is None


@pytest.mark.parametrize(
    "section", ["core]\nfsmonitor", 'filter "theirs"]\nclean', 'filter "theirs"]\nprocess', "hook"]
)
def test_no_program_of_the_folder_is_run(section: str) -> None:
    """What `git status` would run: https://git-scm.com/docs/gitattributes#_filter, githooks, fsmonitor."""
    if section == "hook":
        hook = Path(".git", "hooks", "post-index-change")
        hook.write_text("#!/bin/sh\ntouch ran\n")
        hook.chmod(0o755)
    else:
        with Path(".git", "config").open("a") as config:
            config.write(f'[{section} = "touch ran; false"\n')
    ran = Path("ran")
    os.utime("train.py", (1, 1))
    subprocess.run(["git", "status"], capture_output=True)
    assert ran.exists(), "it would be run"
    ran.unlink()
    os.utime("train.py", (2, 2))
    found = record.git()
    assert found
    assert not found["changed"]
    assert not ran.exists()


@pytest.mark.parametrize("driver", ["theirs", "a=b"])
def test_with_filters_it_is_not_known_whether_what_differs_was_changed(driver: str) -> None:
    """What Git LFS keeps differs from the working copy, and nobody changed it."""
    Path(".gitattributes").write_text(f"*.py filter={driver}\n")
    asked("config", f"filter.{driver}.clean", "touch ran; echo pointer")
    Path("train.py").write_text("print(2)\n")
    found = record.git()
    assert found
    assert found["changed"] is None
    assert not Path("ran").exists()
