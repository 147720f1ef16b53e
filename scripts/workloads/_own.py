"""How a workload that is not the project's imports what lies beside it: as it was trusted, and nothing else of a clone.

What was trusted is the code below the file's folder (`scripts.storage.brought`). So that no other runs unasked, a
module below it is compiled from its source, never taken from a `__pycache__` that came with it, and one that lies
elsewhere in this clone, where Python looks as well, or where the file itself has Python look, is refused.
"""

import sys
from collections.abc import Iterable, Sequence
from importlib.machinery import ModuleSpec, SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

ROOT = Path(__file__).resolve().parents[2]

#: Where the modules of this clone lie that are the project's, or, of a kit, its packages.
_OF_THE_PROJECT = [ROOT / name for name in ("scripts", "plugins", "tests", ".venv", "site")]

#: Folders that nobody was asked about.
_NOT_TRUSTED = {".git", "__pycache__"}


class FromSource(SourceFileLoader):
    """Loads what the source of a module says, whatever was compiled of it before."""

    def get_code(self, fullname: str) -> CodeType:
        return self.source_to_code(self.get_data(self.path), self.path)


class Beside:
    """Finds, by all other finders, the modules of the clone and of a folder for the workload's file that lies there."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        #: Where a person's own Python looks.
        self.known = list(sys.path)

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        others = (finder for finder in sys.meta_path if finder is not self)
        spec = next(filter(None, (finder.find_spec(name, path, target) for finder in others)), None)
        if spec is None or not spec.has_location or spec.origin is None:
            return spec
        file = Path(spec.origin).absolute()
        real = file.parent.resolve() / file.name
        if inside := next((one for one in (file, real) if one.is_relative_to(self.folder)), None):
            if _NOT_TRUSTED.intersection(inside.relative_to(self.folder).parts):
                raise ImportError(f"{file}: lies in .git or __pycache__, which was not trusted: put it elsewhere")
            if isinstance(spec.loader, SourceFileLoader):
                spec.loader, spec.cached = FromSource(name, spec.origin), None
        elif file.is_relative_to(ROOT) and not self._is_of(file, (*_OF_THE_PROJECT, sys.prefix)):
            raise ImportError(f"{file}: lies outside {self.folder}, whose code was trusted: put it there", name=name)
        elif self._is_of(real, set(sys.path).difference(self.known)) and not self._is_of(real, self.known):
            raise ImportError(
                f"{file}: lies outside {self.folder}, whose code was trusted: put it there, or name its folder in "
                "PYTHONPATH",
                name=name,
            )
        return spec

    @staticmethod
    def _is_of(file: Path, places: Iterable[str | Path]) -> bool:
        return any(file.is_relative_to(one) for place in places for one in (Path(place), Path(place).resolve()))


def only_beside(file: Path) -> None:
    """Let what is imported from now on be what was trusted with a workload's file."""
    finders: list[Any] = sys.meta_path
    finders[:] = [Beside(file.parent), *(finder for finder in finders if not isinstance(finder, Beside))]
