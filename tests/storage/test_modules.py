"""Modules found by their files."""

from pathlib import Path

import pytest

from scripts.storage import modules


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for file in ("__init__.py", "one.py", "_shared.py", "notes.txt", "two/__init__.py", "two/part/loop.py", "x/x.py"):
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).touch()
    return tmp_path


def test_a_module_is_a_file_or_a_package_without_an_underscore(folder: Path) -> None:
    assert modules.names(str(folder)) == modules.names([str(folder)]) == ["one", "two"]


def test_the_files_of_a_module_are_its_own_or_all_of_a_package(folder: Path) -> None:
    assert modules.files(folder, "one") == [folder / "one.py"]
    assert modules.files(folder, "two") == [folder / "two/__init__.py", folder / "two/part/loop.py"]
