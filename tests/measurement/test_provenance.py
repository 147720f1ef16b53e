"""Of which commit a run was trained."""

import subprocess
from pathlib import Path

import pytest

from scripts.measurement import provenance


def checkout(folder: Path) -> None:
    folder.mkdir()
    (folder / "file").write_text("one")
    for command in (["init", "-q"], ["add", "."], ["-c", "user.name=n", "-c", "user.email=e", "commit", "-qm", "one"]):
        subprocess.run(["git", *command], cwd=folder, check=True)


def test_the_commit_is_that_of_the_projects_own_checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    checkout(tmp_path / "clone")
    monkeypatch.setattr(provenance, "ROOT", tmp_path / "clone")
    commit, changed = provenance.commit() or ("", True)
    assert (len(commit), changed) == (40, False)
    (tmp_path / "clone" / "file").write_text("two")
    assert provenance.commit() == (commit, True)


def test_a_copy_within_another_checkout_has_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    checkout(tmp_path / "other")
    (tmp_path / "other" / "kit").mkdir()
    monkeypatch.setattr(provenance, "ROOT", tmp_path / "other" / "kit")
    assert provenance.commit() is None
    monkeypatch.setattr(provenance, "ROOT", tmp_path)
    assert provenance.commit() is None
