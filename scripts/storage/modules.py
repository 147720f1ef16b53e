"""The modules of a folder, found by its files: nothing is imported to know what there is."""

from collections.abc import Iterable
from pathlib import Path


def names(folder: str | Iterable[str]) -> list[str]:
    """Return the names of the modules in a package's folder, sorted; those with an underscore are shared parts.

    `folder` is a path, or a package's `__path__`. A package within counts as a module.
    """
    folders = [folder] if isinstance(folder, str) else folder
    found = set()
    for path in (path for each in folders for path in Path(each).iterdir()):
        is_module = path.suffix == ".py" or (path / "__init__.py").is_file()
        if is_module and not path.name.startswith("_"):
            found.add(path.stem)
    return sorted(found)


def files(folder: str | Path, name: str) -> list[Path]:
    """Return the files of the module `name` in a folder: its own, or all of a package, sorted."""
    package = Path(folder, name)
    return sorted(package.rglob("*.py")) or [package.with_suffix(".py")]
