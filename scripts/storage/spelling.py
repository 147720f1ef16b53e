"""Names as people spell them: without regard to case, spaces and marks; and the nearest of those that are known."""

import re
from collections.abc import Iterable, Mapping
from difflib import get_close_matches

from scripts.storage.errors import InputError


def plain(name: str) -> str:
    """Return a name in small letters, without spaces and marks."""
    return re.sub(r"[^a-z0-9.]", "", name.lower())


def named(option: str, name: str, names: Mapping[str, str], otherwise: str) -> str:
    """Return what a name stands for by a table of names. Raises InputError with the nearest of them."""
    known = {plain(one): found for one, found in names.items()}
    asked = plain(name)
    if asked in known:
        return known[asked]
    near = [known[one] for one in known if asked and asked in one]
    near += [known[one] for one in get_close_matches(asked, known, 5, 0.5)]
    hint = f"did you mean {' or '.join(_first(near, 3))}? " if near else ""
    raise InputError(f"{option}: {name!r} is unknown: {hint}{otherwise}")


def _first(names: Iterable[str], count: int) -> list[str]:
    return list(dict.fromkeys(names))[:count]
