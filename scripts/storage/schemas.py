"""Checks files against the JSON schemas of `config/schemas/`; a fault is one line: file, key, value, allowed."""

import json
from collections.abc import Iterator, Mapping
from functools import cache
from math import isfinite
from pathlib import Path
from typing import Any

import jsonschema
import yaml

from scripts.storage.errors import InputError

_FOLDER = Path(__file__).resolve().parents[2] / "config" / "schemas"


#: JSON would take 2.0 for an integer; Python's ranges and our paths would not.
_Validator = jsonschema.validators.extend(
    jsonschema.Draft202012Validator,
    type_checker=jsonschema.Draft202012Validator.TYPE_CHECKER.redefine(
        "integer", lambda _, value: isinstance(value, int) and not isinstance(value, bool)
    ),
)


@cache
def _validator(name: str) -> Any:
    schema = json.loads((_FOLDER / f"{name}.schema.json").read_text(encoding="utf-8"))
    return _Validator(schema, format_checker=jsonschema.FormatChecker())


def _numbers(value: Any, path: str = "") -> Iterator[tuple[str, float]]:
    """Yield each float within `value` and its path: YAML knows .nan and .inf, which pass every bound of a schema."""
    if isinstance(value, float):
        yield path, value
    elif isinstance(value, Mapping | list):
        for key, item in value.items() if isinstance(value, Mapping) else enumerate(value):
            yield from _numbers(item, f"{path}.{key}".removeprefix("."))


def validate(value: Any, name: str, source: str | Path) -> None:
    """Raise InputError for the most telling fault of `value` under the schema `name`."""
    for path, number in _numbers(value):
        if not isfinite(number):
            raise InputError(f"{source}: {path}: {number} is not a finite number")
    fault = jsonschema.exceptions.best_match(_validator(name).iter_errors(value))
    if fault is not None:
        key = fault.json_path.removeprefix("$").removeprefix(".")
        message = fault.message
        if fault.validator == "anyOf":  # jsonschema's own words would not say what is allowed
            message = f"{fault.instance!r} is not allowed: {fault.schema['description']}"
        raise InputError(f"{source}: {key + ': ' if key else ''}{message}")


class _UniqueKeyLoader(yaml.SafeLoader):
    """YAML of which no key may stand twice (the second would silently win); dates stay text."""

    yaml_implicit_resolvers = {  # noqa: RUF012
        first: [(tag, pattern) for tag, pattern in resolvers if not tag.endswith("timestamp")]
        for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }


def _mapping(loader: _UniqueKeyLoader, node: yaml.MappingNode) -> dict[Any, Any]:
    keys = [loader.construct_object(key) for key, _ in node.value if key.tag != "tag:yaml.org,2002:merge"]
    for key in keys:
        if keys.count(key) > 1:
            raise InputError(f"{loader.name}: {key!r} is given twice")
    return loader.construct_mapping(node, deep=True)


_UniqueKeyLoader.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, _mapping)


def read_yaml(path: Path, schema: str) -> Any:
    """Return the content of a YAML file that obeys `schema`.

    Raises InputError when it cannot be read, is no YAML, repeats a key, or breaks the schema.
    """
    try:
        with path.open(encoding="utf-8") as file:
            value = yaml.load(file, _UniqueKeyLoader)  # noqa: S506, a SafeLoader
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: not YAML: {' '.join(str(error).split())}") from error
    validate(value, schema, path)
    return value
