"""What workloads, frameworks and data sets are called, sized and coloured.

Their files say it in constants at the top level, plain values that are read here without running the file: a page, a
quote or a grid needs nothing that trains, and the file of somebody else runs only where it is trained.
"""

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from scripts.records.reference import Reference
from scripts.storage import modules
from scripts.storage.errors import InputError
from scripts.storage.files import read_text

_SCRIPTS = Path(__file__).resolve().parents[1]
_WORKLOADS, _FRAMEWORKS, _DATASETS = (_SCRIPTS / name for name in ("workloads", "frameworks", "datasets"))

#: Files of workloads that are not the project's, by name.
_ADDED: dict[str, Path] = {}

#: Programs of somebody's own that a study measures from outside: name -> the command.
_COMMANDS: dict[str, str] = {}

#: In place of a framework, of a program that does not say which it uses.
OWN = "own"


@dataclass(frozen=True)
class Workload:
    """What a workload's file says of it.

    `label` is how it is written for people, `summary` the first line of its docstring; `dataset` a module of
    `scripts.datasets`, None where it brings its own data; `batch_size` and `epochs` the published size; `reference`
    what a published training of that size reached; `is_learnable` is False where labels are random and only speed is
    a result; `grows` is True where the model grows with its data, as by a row for each word that is in them.
    """

    name: str
    label: str
    summary: str
    dataset: str | None
    batch_size: int
    epochs: int
    reference: Reference | None
    is_learnable: bool
    grows: bool


@dataclass(frozen=True)
class Framework:
    """How a framework is written in charts and tables, and its colour there (`#rrggbb`)."""

    label: str
    colour: str


@dataclass(frozen=True)
class Dataset:
    """The samples of an official data set: to train on, and held out (None where it holds out none of its own)."""

    train: int
    held_out: int | None


def add(files: Mapping[str, str]) -> None:
    """Make workloads known that lie elsewhere: name -> path of the file. Raises InputError for one that cannot be."""
    for name, file in files.items():
        path = Path(file).resolve()
        if not path.is_file():
            raise InputError(f"workload {name}: {file}: no such file in {Path.cwd()}")
        if name in _of_the_project():
            raise InputError(f"workload {name}: {file}: the project has a workload of this name: give the file another")
        _ADDED[name] = path


def add_commands(commands: Mapping[str, str]) -> None:
    """Make workloads known that are programs: name -> command. Raises InputError for one that cannot be."""
    for name, command in commands.items():
        if name in _of_the_project() or name in _ADDED:
            raise InputError(f"workload {name}: {command}: there is a workload of this name: give it another")
        _COMMANDS[name] = command


def know(study: Mapping[str, Any]) -> None:
    """Make the workloads known that a study brings along, as its config has them: files and commands."""
    add(study.get("workload_files", {}))
    add_commands({name: _without_options(spec["command"]) for name, spec in study.get("commands", {}).items()})


def _without_options(command: str) -> str:
    """Return the words of a command before its first option: what follows may be a secret, and a page shows it."""
    words = command.split()
    first = next((place for place, word in enumerate(words) if word.startswith("-")), len(words))
    return " ".join([*words[:first], *(["..."] if first < len(words) else [])])


@cache
def _of_the_project() -> tuple[str, ...]:
    return tuple(modules.names(str(_WORKLOADS)))


def workloads() -> list[str]:
    """Return the names of all workloads, sorted."""
    return sorted([*_of_the_project(), *_ADDED, *_COMMANDS])


def added(workload: str) -> Path | None:
    """Return the file of a workload that is not the project's, None of one that is."""
    return _ADDED.get(workload)


def workload(name: str) -> Workload:
    """Return what is known of a workload. Raises InputError if its file does not say it."""
    if name in _COMMANDS:
        label, summary = name.replace("_", " "), f"A program, watched from outside: {_COMMANDS[name]}"
        return Workload(name, label, summary, None, 1, 1, None, is_learnable=True, grows=False)
    return _workload(name, _ADDED.get(name, _WORKLOADS / f"{name}.py"))


@cache
def _workload(name: str, path: Path) -> Workload:
    said = constants(path, WORKLOAD)
    summary, *_ = (ast.get_docstring(_parsed(path)) or name).splitlines()
    return Workload(
        name,
        said.get("LABEL", name.replace("_", " ")),
        summary,
        said["DATASET"],
        said["BATCH_SIZE"],
        said["EPOCHS"],
        said["REFERENCE"],
        said.get("LEARNABLE", True),
        said.get("GROWS", False),
    )


def frameworks() -> list[str]:
    """Return the names of all frameworks, sorted."""
    return modules.names(str(_FRAMEWORKS))


@cache
def framework(name: str) -> Framework:
    """Return what a framework is called and drawn in; it need not be installed."""
    said = constants(_FRAMEWORKS / name / "__init__.py", _FRAMEWORK)
    return Framework(said["LABEL"], said["COLOUR"])


@cache
def dataset(name: str) -> Dataset:
    """Return how large an official data set is."""
    said = constants(_DATASETS / f"{name}.py", _DATASET)
    return Dataset(said["COMPLETE"], said.get("COMPLETE_HELD_OUT"))


@dataclass(frozen=True)
class Constant:
    """A constant of a file: what its value must be, in words and as a check, and whether it may be left out."""

    must_be: str
    is_good: Callable[[Any], bool]
    is_optional: bool = False


_COUNT = Constant("a whole number >= 1", lambda value: type(value) is int and value >= 1)
_TEXT = Constant("a text", lambda value: isinstance(value, str))

#: The constants of a workload's file.
WORKLOAD = {
    "DATASET": Constant(
        "None or one of scripts/datasets", lambda value: value is None or value in modules.names(str(_DATASETS))
    ),
    "BATCH_SIZE": _COUNT,
    "EPOCHS": _COUNT,
    "REFERENCE": Constant("None or Reference(...)", lambda value: value is None or isinstance(value, Reference)),
    "LEARNABLE": Constant("True or False", lambda value: isinstance(value, bool), is_optional=True),
    "GROWS": Constant("True or False", lambda value: isinstance(value, bool), is_optional=True),
    "LABEL": Constant(_TEXT.must_be, _TEXT.is_good, is_optional=True),
}
_FRAMEWORK = {"LABEL": _TEXT, "COLOUR": _TEXT}
_DATASET = {"COMPLETE": _COUNT, "COMPLETE_HELD_OUT": Constant(_COUNT.must_be, _COUNT.is_good, is_optional=True)}


def constants(path: Path, wanted: Mapping[str, Constant]) -> dict[str, Any]:
    """Return the wanted constants of a Python file, each assigned once, at its top level, a value that is written out.

    Raises InputError that names file, constant and what it must be.
    """
    said: dict[str, Any] = {}
    for node in _parsed(path).body:
        for name, value in _assigned(node):
            constant = wanted.get(name)
            if constant is None:
                continue
            if value is None or name in said:
                raise InputError(f"{path}: line {node.lineno}: {name}: must be set once, by NAME = value alone")
            try:
                said[name] = _value(value)
            except (ValueError, TypeError) as error:
                raise InputError(
                    f"{path}: line {value.lineno}: {name}: must be {constant.must_be}, written out and not worked out: "
                    "it is read without running the file"
                ) from error
            if not constant.is_good(said[name]):
                raise InputError(f"{path}: line {value.lineno}: {name}: {said[name]!r}: must be {constant.must_be}")
    for name, constant in wanted.items():
        if name not in said and not constant.is_optional:
            raise InputError(f"{path}: {name} is missing; a workload has it (see docs/adding.md)")
    return said


def _parsed(path: Path) -> ast.Module:
    try:
        return ast.parse(read_text(path), str(path))
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise InputError(f"{path}: not Python: {error}") from error


def _assigned(node: ast.stmt) -> list[tuple[str, ast.expr | None]]:
    """Return the names that a statement of a module binds, with the expression of each; None where it is not plain."""
    if isinstance(node, ast.Assign):
        found: list[tuple[str, ast.expr | None]] = []
        for target in node.targets:
            if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
                pairs = list(zip(target.elts, node.value.elts, strict=False))
            else:
                pairs = [(target, node.value)]
            for one, value in pairs:
                plain = isinstance(one, ast.Name)
                found += [(name.id, value if plain else None) for name in ast.walk(one) if isinstance(name, ast.Name)]
        return found
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
        return [(node.target.id, node.value)]
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return [(node.name, None)]
    if isinstance(node, ast.Import | ast.ImportFrom):
        return [((alias.asname or alias.name).split(".")[0], None) for alias in node.names]
    stored = (one.id for one in ast.walk(node) if isinstance(one, ast.Name) and not isinstance(one.ctx, ast.Load))
    return [(name, None) for name in stored]


def _value(node: ast.expr) -> Any:
    """Return the value of an expression that is a literal, or a `Reference` of literals.

    Raises ValueError or TypeError for any other.
    """
    if not (isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] == "Reference"):
        return ast.literal_eval(node)
    given = {word.arg: ast.literal_eval(word.value) for word in node.keywords if word.arg}
    reference = Reference(*map(ast.literal_eval, node.args), **given)
    values, training = (tuple(map(float, values)) for values in (reference.values, reference.training))
    if len(given) < len(node.keywords) or not isinstance(reference.source, str) or not values:
        raise ValueError(ast.unparse(node))
    if reference.metric not in ("val_acc", "loss") or type(reference.first_epoch) is not int:
        raise ValueError(ast.unparse(node))
    return Reference(reference.metric, values, reference.source, training, reference.first_epoch)
