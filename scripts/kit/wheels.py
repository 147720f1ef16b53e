"""The packages that a kit brings: those that its machine lacks, and Keras, which is what is measured."""

import sys
import zipfile
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from scripts.storage.errors import InputError

#: Taken from the kit wherever it runs: models and tuned loops are those of this version.
_ALWAYS = ("keras",)


def unpack(wheels: Path, site: Path, study: str) -> list[str]:
    """Unpack the wheels of packages that this Python lacks into `site`, found first from now on; return their names.

    Raises InputError where one of them was not built for this Python; `study` is whose kit it is.
    """
    needed = [wheel for wheel in sorted(wheels.glob("*.whl")) if _name(wheel) in _ALWAYS or not _is_here(_name(wheel))]
    misfits = [_name(wheel) for wheel in needed if not _fits(wheel)]
    if misfits:
        built = next(part for wheel in needed for part in wheel.stem.split("-")[2:3] if not _fits(wheel))
        have = f"{sys.version_info.major}.{sys.version_info.minor}"
        raise InputError(
            f"Python {have}: the kit's wheels of {', '.join(misfits)} are for {built}: name such a Python "
            f"(PYTHON=/path/to/it bash kit/run.sh), or pack the kit for this one (make kit STUDY={study} "
            f"KIT_PYTHON={have})"
        )
    for wheel in needed:
        if not (site / f".{wheel.name}").exists():
            with zipfile.ZipFile(wheel) as archive:
                archive.extractall(site)
            (site / f".{wheel.name}").touch()
    sys.path.insert(0, str(site))
    return [_name(wheel) for wheel in needed]


def _name(wheel: Path) -> str:
    return wheel.name.split("-")[0].replace("_", "-").lower()


def _is_here(name: str) -> bool:
    try:
        version(name)
    except PackageNotFoundError:
        return False
    return True


def _fits(wheel: Path) -> bool:
    """Return whether a wheel is for this Python: name-version-python-abi-platform.whl, each tag with alternatives."""
    pythons, abis = (part.split(".") for part in wheel.stem.split("-")[2:4])
    ours = f"cp{sys.version_info.major}{sys.version_info.minor}"
    return "py3" in pythons or ours in pythons or "abi3" in abis
