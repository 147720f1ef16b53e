"""What a command is made of, found from its imports, and what that code means, whatever its text."""

import ast
import hashlib
import re
import sys
from collections.abc import Iterable
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

#: Packages whose modules are imported by name while they run: all of a package's modules belong to what imports it.
_DISCOVERED = ("scripts.datasets", "scripts.frameworks", "scripts.workloads")

#: Where the recorder lies, and how it is imported.
_RECORDER = Path("plugins", "epochs-per-dollar")
_OF_RECORDER = re.compile(r"^from (epochs_per_dollar[\w.]*) import ([^\n#(]+)", re.MULTILINE)

#: What reads constants of files without importing them, and those files.
_READS = {"scripts.records.about": ("datasets/*.py", "workloads/*.py", "frameworks/*/__init__.py")}

#: How a framework is written and drawn: an edit there changes no training.
_FOR_PAGES = {"LABEL", "COLOUR"}

#: How files are written and errors worded: an edit there changes no training.
_GROUND = Path("scripts/storage")


def code_of(*modules: str, discovered: bool = True) -> list[str]:
    """Return the files of this project that importing `modules` (dotted names) reads, sorted, relative to its root.

    Imports inside functions count too; `discovered` adds the modules that are imported by their names, and the files
    of which constants are read.
    Raises ValueError for a module that is not the project's.
    """
    for module in modules:
        if _file(module) is None:
            raise ValueError(f"{module}: not a module of this project")
    return sorted(map(str, _closure(modules, discovered)))


def recorder_of(files: Iterable[str]) -> list[str]:
    """Return the files of the recorder, a package of its own, that some files import, and what these import of it."""
    found: set[str] = set()
    pending = list(files)
    while pending:
        text = (ROOT / pending.pop()).read_text(encoding="utf-8")
        for package, names in _OF_RECORDER.findall(text):
            for module in (package, *(f"{package}.{name}" for name in _names_of(names))):
                file = str(_RECORDER.joinpath(*module.split(".")).with_suffix(".py"))
                if (ROOT / file).is_file() and file not in found:
                    found.add(file)
                    pending.append(file)
    return sorted(found)


def _closure(modules: Iterable[str], discovered: bool) -> set[Path]:
    found: set[Path] = set()
    read: set[Path] = set()
    pending = list(modules)
    while pending:
        module = pending.pop()
        file = _file(module)
        if file is None or file in found:
            continue
        found.add(file)
        pending += _imports(ROOT / file)
        pending += [module.rpartition(".")[0]] if "." in module else []
        if discovered and module in _DISCOVERED:
            pending += _modules_below(file.parent)
        if discovered:
            read |= {
                path.relative_to(ROOT) for each in _READS.get(module, ()) for path in (ROOT / "scripts").glob(each)
            }
    return found | read


def _modules_below(folder: Path) -> list[str]:
    """Return the dotted names of a package's modules, those of packages within it too."""
    files = (ROOT / folder).rglob("*.py")
    return sorted(".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__") for file in files)


@cache
def _file(module: str) -> Path | None:
    """Return the file of a dotted name, relative to the root; None for what is not the project's."""
    path = Path(*module.split("."))
    for file in (path / "__init__.py", path.with_suffix(".py")):
        if module.split(".")[0] == "scripts" and (ROOT / file).is_file():
            return file
    return None


#: An import of the project's own, inside functions too. Read as text: every dry run looks at some two hundred files.
_IMPORT = re.compile(
    r"^[ \t]*(?:from[ \t]+(scripts[\w.]*)[ \t]+import[ \t]+(\([^)]*\)|[^\n]+)|import[ \t]+([^\n]+))", re.MULTILINE
)


@cache
def _imports(path: Path) -> tuple[str, ...]:
    """Return the dotted names of this project that a file imports; `from a import b` may mean the module `a.b`.

    What a docstring shows as an import counts too, which does no harm.
    """
    found = []
    for package, names, modules in _IMPORT.findall(path.read_text(encoding="utf-8")):
        found += [package] if package else []
        found += [f"{package}.{name}" for name in _names_of(names)]
        found += [module for module in _names_of(modules) if module.startswith("scripts")]
    return tuple(found)


def _names_of(listed: str) -> list[str]:
    """Return the names of `a, b as c  # why`, which may stand in brackets on several lines."""
    plain = " ".join(line.partition("#")[0] for line in listed.strip("()").splitlines())
    return [part.split()[0] for part in plain.split(",") if part.strip()]


@cache
def reads(module: str, attributes: tuple[str, ...]) -> bool:
    """Return whether a module, or a chart's or shared part that it imports, reads one of some attributes of any object.

    Charts lie in several folders of that name.
    """
    here = Path(*module.split(".")).parent.name
    return any(
        isinstance(node, ast.Attribute) and node.attr in attributes
        for file in _closure([module], discovered=False)
        if file.parent.name == here
        for node in ast.walk(_tree(ROOT / file))
    )


@cache
def training(workload: Path, dataset: str | None, framework: str, lock: Path) -> str:
    """Return a checksum of what decides how a run is trained and timed: it changes when the meaning of that code does.

    A comment, a docstring, a blank line or the time of a file leave it as it is. It covers what a training imports
    but the ground floor, the workload's file and what that imports, of its own folder too where it is not the
    project's, its data set's module, the framework, its lock.
    Raises SyntaxError for a workload that is not Python.
    """
    modules = [
        "scripts.train",
        f"scripts.frameworks.{framework}",
        *([f"scripts.datasets.{dataset}"] if dataset else []),
    ]
    if (ROOT / "scripts" / "frameworks" / framework).is_dir():
        modules += _modules_below(Path("scripts", "frameworks", framework))
    own = ROOT / workload
    files = _closure([*modules, *_imports(own)], discovered=False)
    meanings = sorted((str(file), meaning(ROOT / file)) for file in files if _GROUND not in file.parents)
    meanings += [(str(file.relative_to(own.parent)), _meaning_or_bytes(file)) for file in _beside(own)]
    return hashlib.sha256(repr([*meanings, meaning(own), _pins(ROOT / lock)]).encode()).hexdigest()


def _beside(own: Path) -> list[Path]:
    """Return what a workload's file that is not the project's imports from its own folder: modules, whole packages."""
    found: set[Path] = set()
    pending = [] if own.is_relative_to(ROOT / "scripts") else [own]
    while pending:
        file = pending.pop()
        try:
            tree = _tree(file)
        except SyntaxError:  # a template, say, which nothing imports
            if file == own:
                raise
            continue
        for node in ast.walk(tree):
            named = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            named += [node.module] if isinstance(node, ast.ImportFrom) and node.module else []
            for name in named:
                # In a folder of the clone also by the name of that folder.
                place = own.parent / name.removeprefix(f"{own.parent.name}.").partition(".")[0]
                new = {file for file in (place.with_suffix(".py"), *place.rglob("*.py")) if file.is_file()}
                pending += new - found - {own}
                found |= new - {own}
    return sorted(found)


def _meaning_or_bytes(path: Path) -> str:
    try:
        return meaning(path)
    except SyntaxError:
        return hashlib.sha256(path.read_bytes()).hexdigest()


@cache
def meaning(path: Path) -> str:
    """Return a checksum of a file's statements, without comments, docstrings, layout, and what only pages show.

    Raises SyntaxError for one that is not Python.
    """
    tree = _tree(path)
    tree.body = [node for node in tree.body if not (isinstance(node, ast.Assign) and _FOR_PAGES & _names(node))]
    for node in ast.walk(tree):
        if not isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        if ast.get_docstring(node, clean=False) is not None:
            node.body = node.body[1:]
    return hashlib.sha256(_dump(tree).encode()).hexdigest()


def _dump(tree: ast.Module) -> str:
    """Return a tree as Python 3.11 writes it: 3.12 adds the parameters of types, 3.13 leaves out empty lists."""
    text = ast.dump(tree, **({"show_empty": True} if sys.version_info >= (3, 13) else {}))
    return text.replace(", type_params=[]", "")


def _names(node: ast.Assign) -> set[str]:
    return {target.id for target in node.targets if isinstance(target, ast.Name)}


@cache
def _tree(path: Path) -> ast.Module:
    """Return the statements of a file. Raises SyntaxError for one that is not Python."""
    try:
        return ast.parse(path.read_bytes())  # as bytes: a first line may say in which coding they are
    except (ValueError, RecursionError, MemoryError) as error:
        raise SyntaxError(f"{path.name}: {error}") from error


def _pins(lock: Path) -> list[str]:
    """Return what a lock pins: its lines without blanks and comments."""
    lines = lock.read_text(encoding="utf-8").splitlines() if lock.is_file() else []
    return [line.partition("#")[0].strip() for line in lines if line.partition("#")[0].strip()]
