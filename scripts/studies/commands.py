"""Workloads of a study that are programs: which there are, what a cell's command is, and what trains it again."""

import hashlib
import json
import os
import re
import shlex
import shutil
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from math import prod
from pathlib import Path
from typing import Any

from scripts.records import about
from scripts.records.cell import Cell
from scripts.storage import brought
from scripts.storage.brought import tracked
from scripts.storage.errors import InputError
from scripts.storage.named import PLACEHOLDER, named

#: What of a cell a command may name -> the key of a study that has its values, and that of a command without it.
_AXES: dict[str, tuple[str, Any]] = {
    "batch_size": ("batch_sizes", 1),
    "framework": ("frameworks", about.OWN),
    "mode": ("modes", "stock"),
    "precision": ("precisions", "float32"),
    "devices": ("devices", 1),
}
CELL = tuple(_AXES)

_AMOUNT = re.compile(r"\s*([0-9]+(?:\s*[x*]\s*[0-9]+)*)\s+([A-Za-z]+)\s*")

#: More than any step or whole goes through.
_TOO_MANY = 1e15

#: Workloads that the values of a command's own axes may make.
_MOST = 1000

#: A value of an axis of one's own that can be part of a folder's name.
_IN_A_NAME = re.compile(r"[A-Za-z0-9_.+-]+")

#: Minutes that a program may take to begin its first step, beyond those that are measured (the recorder's), and to end.
_BEFORE_AND_AFTER_MINUTES = 6.0


def taken(
    path: Path, given: Sequence[str | Mapping[str, Any]], reserved: Sequence[str], are_run: bool
) -> dict[str, dict[str, Any]]:
    """Return the commands of a study's `workloads` by name, one for each combination of values of their own axes.

    `path` is the study's file, for messages. Raises InputError for what cannot be; where they `are_run`, and not shown
    from tables, also for what is not here.
    """
    found: dict[str, dict[str, Any]] = {}
    for command in given:
        if isinstance(command, str):
            continue
        place = f"{path}: workloads: {command['name']}"
        _check(place, command, reserved)
        if are_run:
            _check_is_here(place, command)
        axes = command.get("axes", {})
        if (count := prod(map(len, axes.values()))) > _MOST:
            shown = " x ".join(f"{len(values):,} {axis}" for axis, values in axes.items())
            raise InputError(f"{place}: axes: {shown} are {count:,} workloads: at most {_MOST:,} are allowed")
        for values in product(*axes.values()):
            chosen = dict(zip(axes, map(str, values), strict=True))
            name = "-".join([command["name"], *(f"{axis}{value}" for axis, value in chosen.items())])
            if name in found:
                raise InputError(f"{place}: name: there are two workloads {name!r}: give one another name")
            one = {key: value for key, value in command.items() if key not in ("name", "axes")}
            for key in ("command", "per_step"):
                if key in one:
                    one[key] = _filled(one[key], chosen, keep_others=True)
            found[name] = {"folder": ".", "minutes": 1.0} | one
    return found


def _check(place: str, command: Mapping[str, Any], reserved: Sequence[str]) -> None:
    words, axes = _words(place, command["command"]), command.get("axes", {})
    if command["name"] in reserved:
        raise InputError(f"{place}: name: {command['name']}/ of a study is not for runs: give it another name")
    for axis, values in axes.items():
        if axis in (*CELL, "seed"):
            raise InputError(f"{place}: axes: {axis!r} is an axis of the study: give its values there")
        if axis not in placeholders(command["command"]):
            raise InputError(f"{place}: axes: {axis}: the command has no {{{axis}}}")
        for value in values:
            if not _IN_A_NAME.fullmatch(str(value)):
                raise InputError(f"{place}: axes: {axis}: {value!r}: must be of letters, digits, '.', '_', '+' and '-'")
    for key in ("command", "per_step"):
        for name in placeholders(command.get(key, "")):
            if name not in (allowed := (*CELL, "seed", *axes)):
                raise InputError(f"{place}: {key}: {{{name}}} is unknown: there are {', '.join(allowed)}")
    if "python" in command and "python" not in words:
        raise InputError(f"{place}: python: the command has no word `python` that it could stand for")
    if "pattern" in command:
        try:
            groups = re.compile(command["pattern"]).groups
        except re.error as error:
            raise InputError(f"{place}: pattern: {command['pattern']!r}: no regular expression: {error}") from error
        if not groups:
            raise InputError(f"{place}: pattern: {command['pattern']!r}: has no group (?P<count>\\d+)")
    some = dict.fromkeys(placeholders(command.get("per_step", "")), "1")
    _check_amounts(place, command, _filled(command.get("per_step", ""), some))


def _check_is_here(place: str, command: Mapping[str, Any]) -> None:
    folder = Path(command.get("folder", "."))
    if not folder.is_dir():
        raise InputError(f"{place}: folder: {command['folder']!r}: no such folder in {Path.cwd()}")
    if "python" in command and not shutil.which(_python(command["python"])):
        raise InputError(f"{place}: python: {command['python']!r}: no such program in {Path.cwd()}")


def _check_amounts(place: str, command: Mapping[str, Any], per_step: str) -> None:
    each = _amount(per_step)
    if per_step and each is None:
        raise InputError(f"{place}: per_step: {command['per_step']!r}: must be an amount, as '{{batch_size}} images'")
    if isinstance(of := command.get("of"), str):
        whole = _amount(of)
        if whole is None:
            raise InputError(f"{place}: of: {of!r}: must be a whole number from 1, or an amount, as '60000 images'")
        if each is None or each[1] != whole[1]:
            raise InputError(f"{place}: of: {of!r}: per_step must say how many {whole[1]} a step goes through")
    if "of" in command and "epochs" in command:
        raise InputError(f"{place}: of and epochs: one of them says how long the whole is")


def _words(place: str, text: str) -> list[str]:
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise InputError(f"{place}: command: {text!r}: {str(error).lower()}") from error
    if not words or not words[0]:
        raise InputError(f"{place}: command: it is empty")
    return words


def placeholders(text: str) -> list[str]:
    """Return the names in braces that a text holds, each once."""
    return list(dict.fromkeys(name for _, name in PLACEHOLDER.findall(text) if name))


def _filled(text: str, values: Mapping[str, Any], keep_others: bool = False) -> str:
    """Return a text with values for the names in braces; others, with `keep_others`, are left for later."""

    def value(found: re.Match[str]) -> str:
        literal, name = found.groups()
        if literal:
            return found[0] if keep_others else f"{{{literal}}}"
        return found[0] if keep_others and name not in values else str(values[name])

    return PLACEHOLDER.sub(value, text)


def _amount(text: str) -> tuple[float, str] | None:
    """Return number and unit of `12x1024 tokens`, None for what is none."""
    found = _AMOUNT.fullmatch(text)
    each = prod(map(float, re.findall("[0-9]+", found[1]))) if found else 0.0
    return (each, found[2]) if found and 0 < each < _TOO_MANY else None


def _python(given: str) -> str:
    """Return a Python as it is found from any folder; a link to one stays a link, as an environment is known by it."""
    return os.path.abspath(given) if os.sep in given else given


def cells(name: str, command: Mapping[str, Any], axes: Mapping[str, Sequence[Any]]) -> Iterator[dict[str, Any]]:
    """Yield the values of `CELL` that each cell of a command has; `axes` is the study's config.

    An axis that the command does not name has one cell, that of a plain program.
    """
    named = placeholders(command["command"])
    if "batch_size" not in named and len(axes["batch_sizes"]) > 1:
        raise InputError(f"workload {name}: command: has no {{batch_size}}, and batch_sizes has several")
    for size in axes["batch_sizes"] if "batch_size" in named else ():
        if isinstance(size, str):
            raise InputError(f"workload {name}: batch_sizes: {size!r}: of a command it must be a whole number from 1")
    several = [axes[key] if axis in named else [without] for axis, (key, without) in _AXES.items()]
    for values in product(*several):
        yield dict(zip(CELL, values, strict=True))


def asked(command: Mapping[str, Any], cell: Cell, seed: int) -> dict[str, Any]:
    """Return what is run for a cell, and how it is measured, as `scripts.observe` takes it."""
    values = {axis: getattr(cell, axis) for axis in CELL} | {"seed": seed}
    words = [_filled(word, values) for word in shlex.split(command["command"])]
    if "python" in command:
        words = [_python(command["python"]) if word == "python" else word for word in words]
    each = _amount(_filled(command.get("per_step", ""), values))
    of = command.get("of")
    if isinstance(of, str):
        whole = _amount(of)
        assert whole  # checked when the study was read
        assert each
        of = whole[0] / each[0]
    return {
        "words": words,
        "folder": command["folder"],
        "minutes": command["minutes"],
        "of": of,
        "epochs": command.get("epochs"),
        "per_step": each,
        "pattern": command.get("pattern"),
    }


def unit(command: Mapping[str, Any]) -> str:
    """Return what the samples of a command are called."""
    found = _amount(PLACEHOLDER.sub("1", command.get("per_step", "")))
    return found[1] if found else "steps"


def most_minutes(command: Mapping[str, Any]) -> float:
    """Return how long (minutes) a run of a command may take: what is measured, its start and its end."""
    return float(command["minutes"]) + _BEFORE_AND_AFTER_MINUTES


def shown(commands: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """Return what a person is asked to trust: name -> the command, by which Python, in which image and folder."""

    def text(one: Mapping[str, Any]) -> str:
        return ", ".join([one["command"], *(f"{key} {one[key]}" for key in ("python", "image") if key in one)])

    return {name: f"{text(one)}, in {one['folder']}" for name, one in commands.items()}


def code(what: Mapping[str, Any]) -> str:
    """Return a checksum of what decides how a command is trained.

    That is itself (from `asked`), the files of its folder, the scripts that it names, and what lies beside those, or in
    folders that it names, elsewhere.
    """
    decisive = json.dumps([what, tracked(what["folder"]), _scripts(what)], sort_keys=True)
    return hashlib.sha256(decisive.encode()).hexdigest()


def _scripts(what: Mapping[str, Any]) -> dict[str, str]:
    folder = Path(what["folder"]).resolve()
    started, _ = named(what["folder"], folder, shlex.join(what["words"][:2]))
    files, folders = named(what["folder"], folder, shlex.join(what["words"]))
    # What else it names may be what it writes.
    scripts = [file for file in files if not brought.is_binary(file) and (file in started or brought.is_code(file))]
    elsewhere = {each for each in (*folders, *(file.parent for file in scripts)) if not each.is_relative_to(folder)}
    found = {file: brought.checksum(file) for file in scripts} | {each: tracked(str(each)) for each in elsewhere}
    return {os.path.relpath(path, folder): checksum for path, checksum in found.items()}
