"""A model as others read it: a JSON schema for editors, tables of its keys for people."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from scripts.studies.kinds import Part


def schema(model: type[Part]) -> dict[str, Any]:
    """Return the JSON schema of a model: without pydantic's titles, and without a default of what may be missing."""
    found: dict[str, Any] = _plain(model.model_json_schema())
    return {"$schema": "https://json-schema.org/draft/2020-12/schema"} | found


def _plain(value: Any) -> Any:
    if isinstance(value, list):
        return [_plain(one) for one in value]
    if not isinstance(value, dict):
        return value
    found = {
        key: {name: _plain(one) for name, one in of.items()} if key == "properties" else _plain(of)
        for key, of in sorted(value.items(), key=lambda item: item[0] != "type")  # whose fault says more than a bound's
        if not (key == "title" and isinstance(of, str)) and not (key == "default" and of is None)
    }
    if "patternProperties" in found:  # other names would be let through
        ((pattern, of),) = found.pop("patternProperties").items()
        found |= {"propertyNames": {"pattern": pattern}, "additionalProperties": of}
    return found


def tables(of: Mapping[str, Any], heading: str) -> Iterator[str]:
    """Yield the lines of a table of a schema's keys, then those of each part that it names, where it is first named."""
    pending, done = [("", of)], set[str]()
    while pending:
        name, part = pending.pop(0)
        yield from ([f"{heading} {name}", "", f"{part['description']}", ""] if name else [])
        yield from ("| key | what it may be | default | meaning |", "| --- | --- | --- | --- |")
        needed = part.get("required", ())
        for key, about in part["properties"].items():
            default = f"`{json.dumps(about['default'])}`" if "default" in about else "needed" if key in needed else ""
            cells = (f"`{key}`", _kind(about), default, about.get("description", ""))
            yield f"|{'|'.join(f' {cell} ' if cell else ' ' for cell in cells)}|"
            for other in _named(about):
                if other not in done:
                    done.add(other)
                    pending.append((other, of["$defs"][other]))
        yield ""


def _named(about: Any) -> Iterator[str]:
    """Yield the names of the parts that a schema refers to."""
    for value in about.values() if isinstance(about, dict) else about if isinstance(about, list) else ():
        yield from _named(value)
    if isinstance(about, dict) and "$ref" in about:
        yield about["$ref"].rpartition("/")[2]


def _kind(about: Mapping[str, Any]) -> str:
    """Return in words what a value may be."""
    if "$ref" in about:
        name = about["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    if "anyOf" in about:
        return " or ".join(map(_kind, about["anyOf"]))
    if "enum" in about or "const" in about:
        *others, last = (f"`{one}`" for one in about.get("enum", [about.get("const")]))
        return f"{', '.join(others)} or {last}" if others else last
    kind = about["type"]
    if kind == "array":
        return f"list of {_kind(about['items'])}"
    if kind == "object":
        return f"name: {_kind(about['additionalProperties'])}"
    words = {"string": "text", "integer": "whole number", "number": "number", "boolean": "`true` or `false`"}[kind]
    bounds = (("minimum", "from"), ("exclusiveMinimum", "above"), ("maximum", "up to"))
    return " ".join([words, *(f"{word} {about[key]}" for key, word in bounds if key in about)])
