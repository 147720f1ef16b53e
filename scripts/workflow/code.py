"""Which files a command is made of, found from its imports instead of a list that somebody keeps."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

#: Packages whose modules are imported by name while they run: all of a package's files belong to what imports it.
_DISCOVERED = ("scripts.datasets", "scripts.frameworks", "scripts.workloads")


def code_of(*modules: str) -> list[Path]:
    """Return the files of this project that importing `modules` (dotted names) reads, sorted, relative to its root.

    Imports inside functions count too. Raises ValueError for a module that is not the project's.
    """
    found: set[Path] = set()
    pending = list(modules)
    for module in modules:
        if _file(module) is None:
            raise ValueError(f"{module}: not a module of this project")
    while pending:
        module = pending.pop()
        file = _file(module)
        if file is None or file in found:
            continue
        found.add(file)
        pending += _imports(file)
        pending += [module.rpartition(".")[0]] if "." in module else []
        if module in _DISCOVERED:
            pending += map(_name, sorted((ROOT / file).parent.rglob("*.py")))
    return sorted(found)


def _file(module: str) -> Path | None:
    """Return the file of a dotted name, relative to the root; None for what is not the project's."""
    path = Path(*module.split("."))
    for file in (path / "__init__.py", path.with_suffix(".py")):
        if module.split(".")[0] == "scripts" and (ROOT / file).is_file():
            return file
    return None


def _name(file: Path) -> str:
    """Return the dotted name of a file of the project."""
    return ".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


@cache
def _imports(file: Path) -> tuple[str, ...]:
    """Return the dotted names that a file imports; `from a import b` may mean the module `a.b`."""
    return tuple(_imported(ast.parse((ROOT / file).read_text(encoding="utf-8"))))


def _imported(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
