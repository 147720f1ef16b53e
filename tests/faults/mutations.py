"""What becomes of a text or a value by accident: seeded, so that a fault can be tried again."""

import copy
from random import Random
from typing import Any

#: What a person, an editor or another program may put in the place of a value.
VALUES: tuple[Any, ...] = (
    None, "", " ", "x", "-", "0", "1e400", "$(touch injected)", "a\nb", "\0", "..", "/dev/null", "=1+1", "[/red]",
    "<script>alert(1)</script>", "é\u202e", -1, 0, 1, 3, 0.5, -0.5, 10**30, 1e308, float("nan"), float("inf"), True,
    False, [], {}, [None], {"x": 1}, [[]], "x" * 5000,
)  # fmt: skip

_TEXTS = (
    "\0",
    "\n",
    ",",
    '"',
    "'",
    ":",
    "{",
    "}",
    "[",
    "]",
    "-",
    "#",
    "nan",
    "1e400",
    "\x1b",
    "\ufeff",
    "é",
    "=",
    "\t",
)


def paths(value: Any, above: tuple = ()) -> list[tuple]:
    """Return where all values within a nested one are."""
    found = [above] if above else []
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in inside:
        found += paths(part, (*above, key))
    return found


def of_value(value: Any, rng: Random) -> tuple[Any, str]:
    """Return a copy with one thing changed, and what: another value, a key that is gone, or one that is new."""
    changed = copy.deepcopy(value)
    place = rng.choice(paths(changed))
    parent = changed
    for key in place[:-1]:
        parent = parent[key]
    what = rng.choice(("set", "set", "set", "delete", "add"))
    where = ".".join(map(str, place))
    if what == "delete":
        del parent[place[-1]]
        return changed, f"{where} deleted"
    if what == "add" and isinstance(parent, dict):
        parent[rng.choice(("x", "", "seconds", "__class__"))] = rng.choice(VALUES)
        return changed, f"a key beside {where}"
    new = rng.choice(VALUES)
    parent[place[-1]] = new
    return changed, f"{where} = {new!r:.60}"


def of_text(text: str, rng: Random) -> tuple[str, str]:
    """Return a text with one thing changed, and what: a part gone, twice or moved, a character, or its end."""
    start = rng.randrange(len(text))
    end = min(len(text), start + rng.choice((1, 1, 2, 8, 80)))
    what = rng.choice(("cut", "twice", "insert", "replace", "end", "lines"))
    if what == "cut":
        return text[:start] + text[end:], f"{start} to {end} cut"
    if what == "twice":
        return text[:end] + text[start:], f"{start} to {end} twice"
    if what == "end":
        return text[:start], f"ends at {start}"
    if what == "lines":
        lines = text.splitlines(keepends=True)
        one, other = rng.randrange(len(lines)), rng.randrange(len(lines))
        lines[one], lines[other] = lines[other], lines[one]
        return "".join(lines), f"lines {one} and {other} in each other's place"
    new = rng.choice(_TEXTS)
    return text[:start] + new + text[start if what == "insert" else end :], f"{new!r} at {start}"
