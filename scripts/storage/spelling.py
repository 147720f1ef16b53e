"""Names as people spell them, without regard to case, marks and the order of words; and the nearest that are known."""

import re
from collections.abc import Mapping
from difflib import get_close_matches
from functools import lru_cache

from scripts.storage.errors import InputError

#: How much alike a name is that is offered for another (difflib's ratio): MI300X is no slip of B300.
_ALIKE = 0.7

#: A question asks after some hundred rows among some hundred names each: all are spelt out once.
_KEPT = 4096


@lru_cache(_KEPT)
def plain(name: str) -> str:
    """Return a name in small letters, without spaces and marks."""
    return re.sub(r"[^a-z0-9.]", "", name.lower())


@lru_cache(_KEPT)
def _parts(name: str) -> tuple[str, ...]:
    """Return the words and the numbers of a name in one order: Llama-3.1-8B is 8B Llama 3.1."""
    found = re.findall(r"[a-z]+|\d*\.?\d+", name.lower())
    return tuple(sorted(f"{float(one):g}" if one[-1].isdigit() else one for one in found))


def find(name: str, names: Mapping[str, str]) -> str | None:
    """Return what a name stands for by a table of names, None for one that is not in it."""
    asked = plain(name)
    exact = {found for one, found in names.items() if plain(one) == asked}
    alike = exact or {found for one, found in names.items() if _parts(one) == _parts(name)}
    return alike.pop() if len(alike) == 1 else None


def named(option: str, name: str, names: Mapping[str, str], otherwise: str, short: str = "") -> str:
    """Return what a name, or a shorter form of it, stands for by a table. Raises InputError with the nearest names."""
    if (found := find(name, names)) is not None:
        return found
    asked, known = plain(short or name), {plain(one): found for one, found in names.items()}
    near = [known[one] for one in known if asked and asked in one]
    near += [known[one] for one in get_close_matches(asked, known, 5, _ALIKE)]
    if not near and (word := re.match("[a-z]{4,}", asked)):
        near = [found for one, found in known.items() if one.startswith(word[0])]
    hint = f"did you mean {' or '.join(list(dict.fromkeys(near))[:3])}? " if near else ""
    raise InputError(f"{option}: {name!r} is unknown: {hint}{otherwise}")
