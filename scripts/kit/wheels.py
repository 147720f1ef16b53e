"""The packages that a kit brings: those that its machine lacks or has too old, and Keras, which is what is measured."""

import sys
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from email.parser import Parser
from functools import cached_property
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from scripts.storage.errors import InputError

#: Taken from the kit wherever it runs: models and tuned loops are those of this version.
_ALWAYS = ("keras",)


@dataclass(frozen=True)
class _Wheel:
    """A wheel, read by `packaging`: name-version-python-abi-platform.whl, each tag with alternatives."""

    path: Path
    packaging: Any

    @cached_property
    def _parsed(self) -> tuple[str, Any, Any, frozenset]:
        return self.packaging.utils.parse_wheel_filename(self.path.name)

    @property
    def name(self) -> str:
        return str(self._parsed[0])

    @property
    def tags(self) -> frozenset:
        return self._parsed[3]

    @cached_property
    def here(self) -> Any:
        """The version that this Python has, None without one."""
        try:
            return self.packaging.version.Version(version(self.name))
        except (PackageNotFoundError, ValueError):
            return None

    @property
    def is_missing(self) -> bool:
        """Whether the kit's is to be taken: none is here, or one of an older kind, whose functions are others."""
        return self.name in _ALWAYS or self.here is None or self.here.major < self._parsed[1].major

    def needs(self) -> Iterator[tuple[str, Any]]:
        """Yield the packages that it asks for here, and their versions."""
        with zipfile.ZipFile(self.path) as archive:
            (about,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
            metadata = Parser().parsestr(archive.read(about).decode())
        for line in metadata.get_all("Requires-Dist") or ():
            asked = self.packaging.requirements.Requirement(line)
            if asked.marker is None or asked.marker.evaluate({"extra": ""}):
                yield self.packaging.utils.canonicalize_name(asked.name), asked.specifier


def _packaging(wheels: Path) -> Any:
    """Return the library that knows names, versions and tags of wheels: this Python's own, else the kit's."""
    sys.path += map(str, wheels.glob("packaging-*.whl"))
    try:
        import packaging.requirements
        import packaging.tags
        import packaging.utils
        import packaging.version
    except ImportError as error:
        raise InputError(f"{wheels}: the kit lacks its wheel of packaging: unpack it anew") from error
    return packaging


def unpack(wheels: Path, site: Path, study: str) -> list[str]:
    """Unpack the wheels of packages that this Python lacks into `site`, found first from now on; return their names.

    Raises InputError where one of them was not built for this Python and machine; `study` is whose kit it is.
    """
    packaging = _packaging(wheels)
    brought = [_Wheel(path, packaging) for path in sorted(wheels.glob("*.whl"))]
    needed = _needed(brought)
    ours = set(packaging.tags.sys_tags())
    misfits = [wheel for wheel in needed if not wheel.tags & ours]
    if misfits:
        built = "-".join(misfits[0].path.stem.split("-")[-3:])
        have = f"{sys.version_info.major}.{sys.version_info.minor}"
        machine = next(iter(packaging.tags.platform_tags()))
        kind = "-aarch64" * machine.endswith("aarch64")
        raise InputError(
            f"Python {have} on {machine}: the kit's wheels of {', '.join(wheel.name for wheel in misfits)} are for "
            f"{built}: name such a Python (PYTHON=/path/to/it bash kit/run.sh), or pack the kit for this one (make kit "
            f"STUDY={study} KIT_PYTHON={have}{kind})"
        )
    for wheel in needed:
        if not (site / f".{wheel.path.name}").exists():
            with zipfile.ZipFile(wheel.path) as archive:
                archive.extractall(site)
            (site / f".{wheel.path.name}").touch()
    sys.path.insert(0, str(site))
    return [wheel.name for wheel in needed]


def _needed(brought: list[_Wheel]) -> list[_Wheel]:
    """Return the wheels that are to be taken: what is missing, and what these ask for in a version that is not here."""
    needed = [wheel for wheel in brought if wheel.is_missing]
    for wheel in needed:  # it grows meanwhile
        asked = dict(wheel.needs())
        needed += [
            other
            for other in brought
            if other not in needed
            and other.name in asked
            and not asked[other.name].contains(other.here, prereleases=True)
        ]
    return sorted(needed, key=lambda wheel: wheel.path.name)
