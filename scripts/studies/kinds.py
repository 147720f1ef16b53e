"""What a part of a person's file may hold, as types, and the one line that says what of it is not allowed."""

import re
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator
from pydantic_core import PydanticCustomError, core_schema

from scripts.storage import schemas
from scripts.storage.errors import InputError

#: A key that stands in a path as it is.
_NAME = re.compile(r"[A-Za-z_]\w*")

#: What our own checks raise: the words of their errors are the message.
_OWN = "own"


def wrong(words: str, below: Sequence[Any] = ()) -> PydanticCustomError:
    """Return the error of a value, or of what is `below` it."""
    return PydanticCustomError(_OWN, "{words}", {"words": words, "below": list(below)})


def unknown(key: Any, known: Sequence[str]) -> str:
    """Return in words that a key is none of those that are known, and which of them is near."""
    near = get_close_matches(str(key), known, 1)
    meant = f"; is {near[0]!r} meant?" if near else ""
    return f"{key!r} is unknown: it is one of {', '.join(known)}{meant}"


class Part(BaseModel):
    """A mapping whose keys are the fields: an unknown one is an error, and nothing is taken for another type."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, defer_build=True)

    @model_validator(mode="before")
    @classmethod
    def _check_keys(cls, value: Any) -> Any:
        if isinstance(value, Mapping) and cls.model_config.get("extra") == "forbid":
            known = [field.alias or name for name, field in cls.model_fields.items()]
            for key in value:
                if key not in known:
                    raise wrong(unknown(key, known))
        return value


class Some(Part):
    """A part that holds at least one of its keys."""

    model_config = ConfigDict(json_schema_extra={"minProperties": 1})

    @model_validator(mode="after")
    def _check_some(self) -> "Some":
        if not self.model_fields_set:
            raise wrong("{} should be non-empty")
        return self


class Either:
    """Marks a union: `says` names what is allowed, to whom gives what is of none of its types."""

    def __init__(self, says: str) -> None:
        self.says = says

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        return core_schema.no_info_wrap_validator_function(self._one_of, handler(source))

    def _one_of(self, value: Any, union: Any) -> Any:
        try:
            return union(value)
        except ValidationError as error:
            # Of the type that takes such a value, what is wrong within it.
            found = [one for one in _faults(value, error) if one[0] or one[1]["type"] not in _OF_TYPE]
            if found:
                path, fault = min(found, key=_rank)
                raise wrong(_words(fault), path) from error
            why = "is empty" if value is None else f"{value!r} is not allowed"
            raise wrong(f"{why}: {self.says}") from error

    def __get_pydantic_json_schema__(self, schema: Any, handler: Any) -> Any:
        return handler(schema) | {"description": self.says}


class Pattern:
    """Marks a text that a pattern must match whole, as of a JSON schema: digits and letters are those of ASCII."""

    def __init__(self, pattern: str) -> None:
        self._pattern = re.compile(pattern, re.ASCII)

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        return core_schema.no_info_after_validator_function(self._check, handler(source))

    def _check(self, text: str) -> str:
        if not self._pattern.fullmatch(text):
            raise wrong(f"{text!r} does not match {self._pattern.pattern!r}")
        return text

    def __get_pydantic_json_schema__(self, schema: Any, handler: Any) -> Any:
        return handler(schema) | {"pattern": f"^{self._pattern.pattern}$"}


class Unique:
    """Marks a list that holds nothing twice."""

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        return core_schema.no_info_after_validator_function(self._check, handler(source))

    def _check(self, values: list[Any]) -> list[Any]:
        seen = set()
        for value in values:
            if value in seen:
                raise wrong(f"{value!r} is given twice")
            seen.add(value)
        return values

    def __get_pydantic_json_schema__(self, schema: Any, handler: Any) -> Any:
        return handler(schema) | {"uniqueItems": True}


#: Of a list: at least one, and none twice.
Filled, Once = Field(min_length=1), Unique()


def need(meaning: str) -> Any:
    """Return a key that a part needs, and what it means."""
    return Field(description=meaning)


def key(meaning: str | None = None, default: Any = None, alias: str | None = None) -> Any:
    """Return a key that may be left out, what it means, and what then counts; None for nothing."""
    return Field(default, description=meaning, alias=alias)


Text = Annotated[str, Field(min_length=1)]
Names = Annotated[list[Text], Filled]
OneOrMore = Annotated[str | Names, Either("A name, or a list of names")]
Positive = Annotated[float, Field(gt=0)]
NotNegative = Annotated[float, Field(ge=0)]
Count = Annotated[int, Field(ge=1)]

#: What pydantic calls a value of another type -> the type of JSON that it should have.
_TYPES = {
    "string_type": "string",
    "int_type": "integer",
    "int_from_float": "integer",
    "float_type": "number",
    "bool_type": "boolean",
    "list_type": "array",
    "dict_type": "object",
    "model_type": "object",
    "invalid_key": "string",
}

#: What says no more of a value than that it is not of a type.
_OF_TYPE = {*_TYPES, "literal_error"}

#: What is beyond a bound -> how that reads; the bound stands in the error's context.
_BOUNDS = {
    "greater_than": "{value} is less than or equal to the minimum of {gt:g}",
    "greater_than_equal": "{value} is less than the minimum of {ge:g}",
    "less_than": "{value} is greater than or equal to the maximum of {lt:g}",
    "less_than_equal": "{value} is greater than the maximum of {le:g}",
    "string_too_short": "{value!r} should be non-empty",
    "literal_error": "{value!r} is not one of {expected}",
}


def check(value: Any, model: type[Part], source: str | Path) -> None:
    """Raise InputError for the most helpful fault of a value: the outermost, and of these an unknown key first."""
    schemas.check_leaves(value, source)
    try:
        model.model_validate(value)
    except ValidationError as error:
        path, fault = min(_faults(value, error), key=_rank)
        place = "".join(f".{part}" if _NAME.fullmatch(str(part)) else f"[{part!r}]" for part in path).removeprefix(".")
        raise InputError(f"{source}: {place + ': ' if place else ''}{_words(fault)}") from error


def _faults(value: Any, error: ValidationError) -> list[tuple[list[int | str], Mapping[str, Any]]]:
    """Return what is wrong with a value, each with the keys that lead there."""
    found = error.errors(include_url=False)
    return [(_place(value, one["loc"]) + one.get("ctx", {}).get("below", []), one) for one in found]


def _place(value: Any, loc: Sequence[int | str]) -> list[int | str]:
    """Return the keys that lead to a fault, without what pydantic adds: types of a union, names that are missing."""
    path: list[int | str] = []
    for part in loc:
        if (isinstance(value, list) and isinstance(part, int)) or (isinstance(value, Mapping) and part in value):
            value = value[part]  # type: ignore[index]
            path.append(part)
    return path


def _rank(found: tuple[Sequence[Any], Mapping[str, Any]]) -> tuple[int, bool]:
    path, fault = found
    return len(path), fault["type"] != _OWN


def _words(fault: Mapping[str, Any]) -> str:
    kind, value, about = fault["type"], fault["input"], fault.get("ctx", {})
    if kind == "missing":
        return f"{fault['loc'][-1]!r} is a required property"
    if kind == _OWN:
        return str(about["words"])
    if kind in _TYPES:
        should = schemas.KINDS[_TYPES[kind]]
        return schemas.of_another_kind(value, should)
    if kind in _BOUNDS:
        return _BOUNDS[kind].format(value=value, **about)
    if kind == "too_short":
        few = "should be non-empty" if about["min_length"] == 1 else f"is too short: {about['min_length']} are needed"
        return f"{value!r} {few}"
    if kind == "too_long":
        return f"{value!r} is too long: {about['max_length']} are allowed"
    return f"{value!r}: {fault['msg']}"
