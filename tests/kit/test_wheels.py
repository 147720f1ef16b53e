"""A kit brings what its machine lacks, and leaves it what it has."""

import sys
import zipfile
from pathlib import Path

import pytest

from scripts.kit import wheels
from scripts.storage.errors import InputError

OURS = f"cp{sys.version_info.major}{sys.version_info.minor}"


def wheel(folder: Path, name: str, tags: str) -> None:
    with zipfile.ZipFile(folder / f"{name}-1.0-{tags}.whl", "w") as archive:
        archive.writestr(f"{name}/__init__.py", "")


def test_packages_that_the_machine_has_stay_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", list(sys.path))
    tags = {"psutil": "py3-none-any", "keras": "py3-none-any", "unheard_of": f"{OURS}-{OURS}-linux"}
    for name, tag in (tags | {"abi_kept": "cp36-abi3-linux"}).items():
        wheel(tmp_path, name, tag)
    site = tmp_path / "site"
    assert wheels.unpack(tmp_path, site, "card") == ["abi-kept", "keras", "unheard-of"]
    assert sorted(path.name for path in site.iterdir() if path.is_dir()) == ["abi_kept", "keras", "unheard_of"]
    assert sys.path[0] == str(site)


def test_wheels_of_another_python_are_a_line_that_says_what_to_do(tmp_path: Path) -> None:
    wheel(tmp_path, "unheard_of", "cp27-cp27m-linux")
    wheel(tmp_path, "psutil", "cp27-cp27m-linux")
    with pytest.raises(InputError, match=r"wheels of unheard-of are for cp27.*STUDY=card KIT_PYTHON=3\."):
        wheels.unpack(tmp_path, tmp_path / "site", "card")
    assert not (tmp_path / "site").exists()
