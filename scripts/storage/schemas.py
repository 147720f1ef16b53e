"""Checks files against the JSON schemas of `config/schemas/`; a fault is one line: file, key, value, allowed."""

import json
import re
from collections.abc import Hashable, Iterator, Mapping
from copy import deepcopy
from functools import cache
from math import isfinite
from pathlib import Path
from typing import Any

import jsonschema
import yaml

from scripts.storage import numbers
from scripts.storage.errors import InputError
from scripts.storage.files import read_text
from scripts.storage.numbers import written

_FOLDER = Path(__file__).resolve().parents[2] / "config" / "schemas"


def _pattern(validator: Any, pattern: str, value: Any, schema: Any) -> Iterator[jsonschema.ValidationError]:
    """Yield what breaks a pattern; `$` is the end: Python's own would leave a line break after it."""
    if isinstance(value, str) and not re.search(re.sub(r"\$$", r"\\Z", pattern), value, re.ASCII):
        yield jsonschema.ValidationError(f"{value!r} does not match {pattern!r}")


#: JSON would take 2.0 for an integer; Python's ranges and our paths would not.
_Validator = jsonschema.validators.extend(
    jsonschema.Draft202012Validator,
    {"pattern": _pattern},
    type_checker=jsonschema.Draft202012Validator.TYPE_CHECKER.redefine(
        "integer", lambda _, value: isinstance(value, int) and not isinstance(value, bool)
    ),
)


@cache
def _validator(name: str) -> Any:
    schema = json.loads((_FOLDER / f"{name}.schema.json").read_text(encoding="utf-8"))
    return _Validator(schema, format_checker=jsonschema.FormatChecker())


def _leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield each value within `value` that holds no others, and its path; a key is one, too."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield path, key
            yield from _leaves(item, f"{path}.{key}".removeprefix("."))
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from _leaves(item, f"{path}.{number}".removeprefix("."))
    else:
        yield path, value


def _is_whole(text: str) -> bool:
    """Return whether a text can be written: an escape of YAML or JSON may be half a character (\\ud800)."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


#: JSON's types in words of YAML.
KINDS = {
    "object": "a mapping (key: value)",
    "array": "a list ([one, another])",
    "string": "a text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "null": "empty",
}


def _keys(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield each key within `value`, and the path of its mapping."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield path, key
            yield from _keys(item, f"{path}.{key}".removeprefix("."))
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from _keys(item, f"{path}.{number}".removeprefix("."))


def check_whole(value: Any, source: str | Path, largest: int = numbers.LARGEST_WHOLE) -> None:
    """Raise InputError for a whole number within `value` that is above `largest`, or below its negative.

    YAML and JSON have no largest one, and Python reads them to 4,300 digits.
    """
    for path, leaf in _leaves(value):
        if isinstance(leaf, int) and abs(leaf) > largest:
            digits = str(abs(leaf))
            raise InputError(
                f"{source}: {path + ': ' if path else ''}{'-' * (leaf < 0)}{digits[:9]}... of {len(digits)} digits is "
                f"too large: at most {largest:.0e} is allowed"
            )


def check_leaves(value: Any, source: str | Path) -> None:
    """Raise InputError for a number that is too large, or not finite, or a text that cannot be written, in `value`."""
    check_whole(value, source, numbers.LARGEST_COUNT)
    for path, leaf in _leaves(value):
        # YAML knows .nan and .inf, which pass every bound of a schema.
        if isinstance(leaf, float) and not isfinite(leaf):
            raise InputError(f"{source}: {path}: {leaf} is not a finite number")
        if isinstance(leaf, str) and not _is_whole(leaf):
            raise InputError(f"{source}: {path}: {leaf[:40]!r} holds half a character")


def validate(value: Any, name: str, source: str | Path) -> None:
    """Raise InputError for the most helpful fault of `value` under the schema `name`."""
    check_leaves(value, source)
    for path, key in _keys(value):
        if not isinstance(key, str):  # YAML takes `5:`, `true:` and `null:` for none
            raise InputError(f"{source}: {path + ': ' if path else ''}the key {key!r} is no text: write it in quotes")
    fault = jsonschema.exceptions.best_match(_validator(name).iter_errors(value))
    if fault is not None:
        key = fault.json_path.removeprefix("$").removeprefix(".")
        message = fault.message
        if fault.validator == "anyOf":  # jsonschema's own words would not say what is allowed
            message = f"{fault.instance!r} is not allowed: {fault.schema['description']}"
        elif fault.validator == "additionalProperties" and "properties" in fault.schema:
            unknown = min(set(fault.instance) - set(fault.schema["properties"]), key=str)
            message = f"{unknown!r} is unknown: it is one of {', '.join(fault.schema['properties'])}"
        elif fault.validator == "type" and isinstance(fault.validator_value, str):
            kind = KINDS[fault.validator_value]
            message = of_another_kind(fault.instance, kind)
        raise InputError(f"{source}: {key + ': ' if key else ''}{message}")


def of_another_kind(value: Any, kind: str) -> str:
    """Return what is wrong with a value that is not of a kind (of `KINDS`)."""
    if value is None:
        return f"is empty: must be {kind}"
    read = written(value) if isinstance(value, str) and kind in (KINDS["number"], KINDS["integer"]) else None
    # YAML 1.1 takes 2.8e5 for a text: it wants the sign of an exponent.
    hint = f": written so it is a text: write {read:f}".rstrip("0").rstrip(".") if read else ""
    return f"{value!r} is not {kind}{hint}"


#: More values than any file of ours has, each anchor counted wherever it is used.
_LARGEST = 1_000_000


def _size(value: Any, known: dict[int, int]) -> int:
    """Return how many values there are within one; `known` are those of what was met before, by its id."""
    if not isinstance(value, dict | list):
        return 1
    if id(value) not in known:
        inside = value.values() if isinstance(value, dict) else value
        known[id(value)] = 1 + sum(_size(part, known) for part in inside)
    return known[id(value)]


#: More levels than any file of ours has. libyaml, which reads ten times as fast, ends the process far deeper down.
_DEEPEST = 100

#: More values that come by `<<` than any file of ours has.
_MOST_MERGED = 100_000

_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _UniqueKeyLoader(_Loader):  # type: ignore[misc,valid-type]
    """YAML of which no key may stand twice (the second would silently win); dates stay text."""

    yaml_implicit_resolvers = {  # noqa: RUF012
        first: [(tag, pattern) for tag, pattern in resolvers if not tag.endswith("timestamp")]
        for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }
    merged = 0

    def flatten_mapping(self, node: yaml.MappingNode) -> None:
        """Put in what `<<` names, counted before: nine of nine of nine are a billion in a few lines."""
        for key, value in list(node.value):
            if key.tag != "tag:yaml.org,2002:merge":
                continue
            for part in value.value if isinstance(value, yaml.SequenceNode) else [value]:
                if isinstance(part, yaml.MappingNode):
                    self.flatten_mapping(part)
                    self.merged += len(part.value)
            if self.merged > _MOST_MERGED:
                raise InputError(f"{self.name}: has more than {_MOST_MERGED:,} values, what << names written out")
        super().flatten_mapping(node)


def _is_deep(text: str) -> bool:
    """Return whether lists and mappings are nested deeper than `_DEEPEST`, without following them down."""
    depth = 0
    for event in yaml.parse(text, Loader=_Loader):
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > _DEEPEST:
            return True
    return False


def _mapping(loader: _UniqueKeyLoader, node: yaml.MappingNode) -> dict[Any, Any]:
    seen = set()
    for part, _ in node.value:
        key = loader.construct_object(part) if part.tag != "tag:yaml.org,2002:merge" else None
        if not isinstance(key, Hashable):
            raise InputError(f"{loader.name}: {key!r} cannot be a key")
        if key is not None and key in seen:
            raise InputError(f"{loader.name}: {key!r} is given twice")
        seen.add(key)
    return loader.construct_mapping(node, deep=True)


#: How YAML 1.1 writes numbers that nobody means: 0x10 is 16, 010 is 8, 1:30 is 90.
_STRANGE = re.compile(r"[+-]?0[xXbBoO0-9_].*|.*:.*")


def _number(loader: _UniqueKeyLoader, node: yaml.ScalarNode) -> float:
    if _STRANGE.fullmatch(node.value):
        raise InputError(
            f"{loader.name}: line {node.start_mark.line + 1}: {node.value}: a number is written in decimal digits; "
            "a text stands in quotes"
        )
    is_whole = node.tag.endswith("int")
    return loader.construct_yaml_int(node) if is_whole else loader.construct_yaml_float(node)


_UniqueKeyLoader.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, _mapping)
for _tag in ("int", "float"):
    _UniqueKeyLoader.add_constructor(f"tag:yaml.org,2002:{_tag}", _number)

# 2.8e5 is a number, as YAML 1.2 has it: PyYAML follows 1.1, to which it is text without a point and a sign.
_UniqueKeyLoader.add_implicit_resolver(
    "tag:yaml.org,2002:float", re.compile(r"[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)[eE][-+]?[0-9]+$"), list("-+.0123456789")
)


def own(path: Path) -> Path:
    """Return where a person's own entries are, merged over those of a file: NAME.local.yaml beside NAME.yaml."""
    return path.with_suffix(f".local{path.suffix}")


def read_own(path: Path) -> dict[str, Any]:
    """Return a person's own entries; none where there is no such file, or every line of it is a comment."""
    found = plain_yaml(read_text(path), path) if path.exists() else None
    return {} if found is None else found


def read_yaml(path: Path, schema: str) -> Any:
    """Return the content of a YAML file that obeys `schema`; over a catalogue of machines the reader's own is merged.

    Raises InputError when one of them cannot be read, is no YAML, repeats a key, or breaks the schema.
    """
    value = deepcopy(_valid(path, read_text(path), schema))
    mine = own(path)
    if schema in _MERGED and mine.exists():
        value = _merged(value, read_own(mine))
        validate(value, schema, mine)
    return value


@cache
def _valid(path: Path, text: str, schema: str) -> Any:
    """Return what a text says that obeys `schema`, once: a call reads a study to publish, to show and to quote it."""
    return parse_yaml(text, schema, path)


#: Schemas of files that a person has their own beside, see `own`.
_MERGED = ("hardware",)


def _merged(value: Any, changes: Any) -> Any:
    """Return a value with changes merged over it (RFC 7396): mappings key by key, null removes, all else replaces."""
    if not isinstance(changes, dict):
        return changes
    found = dict(value) if isinstance(value, dict) else {}
    for key, change in changes.items():
        if change is None:
            found.pop(key, None)
        else:
            found[key] = _merged(found.get(key), change)
    return found


def parse_yaml(text: str, schema: str, source: str | Path) -> Any:
    """Return what a text of `source` says in YAML that obeys `schema`. Raises InputError."""
    value = plain_yaml(text, source)
    validate(value, schema, source)
    return value


def parse_json(text: str | bytes, schema: str, source: str | Path) -> Any:
    """Return what a text (UTF-8) of `source` says in JSON that obeys `schema` and gives no key twice.

    Raises InputError.
    """
    value = read_json(text, source)
    validate(value, schema, source)
    return value


def read_json(text: str | bytes, source: str | Path) -> Any:
    """Return what a text (UTF-8) of `source` says in JSON that gives no key twice. Raises InputError."""
    try:
        value = json.loads(text, object_pairs_hook=_unique)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{source}: truncated or not JSON: {error}") from error
    check_whole(value, source)
    return value


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise ValueError(f"{key!r} is given twice")
        found[key] = value
    return found


def plain_yaml(text: str, path: str | Path) -> Any:
    """Return what a text of `path` says in YAML, whatever it is. Raises InputError."""
    try:
        if _is_deep(text):
            raise InputError(f"{path}: not YAML: nested too deep")
        loader = _UniqueKeyLoader(text)
        loader.name = str(path)
        value = loader.get_single_data()
        if _size(value, {}) > _LARGEST:
            raise InputError(f"{path}: has more than {_LARGEST:,} values, anchors written out")
        check_whole(value, path)
    except RecursionError as error:
        raise InputError(f"{path}: not YAML: nested too deep, or in itself") from error
    except (yaml.YAMLError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        where = str(error).replace('in "<unicode string>", ', "in ")  # as libyaml calls it, which gets no path
        raise InputError(f"{path}: not YAML: {' '.join(where.split())}") from error
    return value
