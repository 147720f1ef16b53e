"""A kit brings what its machine lacks or has too old, and leaves it what it has."""

import platform
import sys
import zipfile
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest

from scripts.kit import wheels
from scripts.storage.errors import InputError

OURS = f"cp{sys.version_info.major}{sys.version_info.minor}"
HERE = f"linux_{platform.machine()}"


def wheel(folder: Path, name: str, tags: str = "py3-none-any", version: str = "1.0", *needs: str) -> None:
    with zipfile.ZipFile(folder / f"{name}-{version}-{tags}.whl", "w") as archive:
        archive.writestr(f"{name}/__init__.py", "")
        about = "".join(f"Requires-Dist: {need}\n" for need in needs)
        archive.writestr(f"{name}-{version}.dist-info/METADATA", f"Name: {name}\nVersion: {version}\n{about}")


@pytest.fixture(autouse=True)
def path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", list(sys.path))


@pytest.fixture
def have(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Return what is filled with the packages that the machine has, and their versions."""
    found: dict[str, str] = {}

    def version(name: str) -> str:
        if name not in found:
            raise PackageNotFoundError(name)
        return found[name]

    monkeypatch.setattr(wheels, "version", version)
    return found


def test_packages_that_the_machine_has_stay_its_own(tmp_path: Path, have: dict[str, str]) -> None:
    have |= {"psutil": "1.2", "keras": "9.0"}
    tags = {"psutil": "py3-none-any", "keras": "py3-none-any", "unheard_of": f"{OURS}-{OURS}-{HERE}"}
    for name, tag in (tags | {"abi_kept": f"cp36-abi3-{HERE}"}).items():
        wheel(tmp_path, name, tag)
    site = tmp_path / "site"
    assert wheels.unpack(tmp_path, site, "card") == ["abi-kept", "keras", "unheard-of"]
    assert {"abi_kept", "keras", "unheard_of"} <= {path.name for path in site.iterdir()}
    assert not (site / "psutil").exists()
    assert sys.path[0] == str(site)


def test_package_that_is_too_old_comes_from_the_kit(tmp_path: Path, have: dict[str, str]) -> None:
    """NVML's bindings of a machine: 11.525 has no word for why a card is throttled."""
    have |= {"nvidia-ml-py": "11.525.150", "rich": "13.0", "pyyaml": "6.0", "idna": "not a version"}
    for name, version in (("nvidia_ml_py", "13.615.71"), ("rich", "13.9"), ("pyyaml", "5.4"), ("idna", "3.2")):
        wheel(tmp_path, name, version=version)
    assert wheels.unpack(tmp_path, tmp_path / "site", "card") == ["idna", "nvidia-ml-py"]


def test_what_a_package_of_the_kit_asks_for_is_there(tmp_path: Path, have: dict[str, str]) -> None:
    have |= {"namex": "1.0", "rich": "1.0", "pooch": "1.0"}
    wheel(tmp_path, "keras", "py3-none-any", "3.0", "namex>=1.1", "rich", "pooch>=9; extra == 'x'", "absent>2")
    wheel(tmp_path, "namex", "py3-none-any", "1.2", "Rich<1")
    for name in ("rich", "pooch"):
        wheel(tmp_path, name)
    assert wheels.unpack(tmp_path, tmp_path / "site", "card") == ["keras", "namex", "rich"]


@pytest.mark.parametrize(
    "tags", [f"cp27-cp27m-{HERE}", f"cp399-abi3-{HERE}", f"{OURS}-{OURS}-linux_riscv64", "cp36-abi3-linux_s390x"]
)
def test_wheels_of_another_machine_are_a_line_that_says_what_to_do(
    tmp_path: Path, have: dict[str, str], tags: str
) -> None:
    wheel(tmp_path, "unheard_of", tags)
    with pytest.raises(
        InputError, match=rf"on \w+: the kit's wheels of unheard-of are for {tags}.*STUDY=card KIT_PYTH"
    ):
        wheels.unpack(tmp_path, tmp_path / "site", "card")
    assert not (tmp_path / "site").exists()


def test_kit_brings_what_reads_its_wheels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "packaging"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(sys, "path", [])
    with pytest.raises(InputError, match="the kit lacks its wheel of packaging"):
        wheels.unpack(tmp_path, tmp_path / "site", "card")
