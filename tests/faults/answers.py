"""Right answers, known before: what a damaged or hostile file comes to is written here, and never asked of the program.

A case is refused in one line that names what is wrong, or accepted, and then the value must come out that was put in.
"""

import copy
import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

from scripts.storage.errors import InputError
from tests.faults import trial

#: No number at all, wherever one is needed.
NO_NUMBERS: tuple[Any, ...] = ("x", "", "3", None, True, [], {}, [1], math.nan, math.inf, -math.inf)

#: Ways to write what is no number in a file of text, wherever one is needed; Python's `float` takes the last five.
NO_NUMBER_TEXTS = ("x", "-", "1,5", "0x10", "1 2", "=1", "nan", "inf", "1e999", "1_000", "\u0663", "\uff11")


@dataclass(frozen=True)
class Case:
    """What was put where, what reads it, and what must come of it.

    `named` are words that the line which refuses it must have; None where it must be accepted, and `value` come out
    (None: whatever).
    """

    what: str
    read: Callable[[Path], Any]
    named: tuple[str, ...] | None
    value: Any = None

    def meet(self, folder: Path) -> None:
        """Assert that what comes of it is the right answer."""
        said = found = None
        try:
            found = self.read(folder)
        except InputError as error:
            said = str(error)
        if said is None:
            assert self.named is None, f"taken: {found!r:.200}"
            same = math.isclose(found, self.value) if isinstance(self.value, float) else found == self.value
            assert self.value is None or same, f"came out as {found!r:.200}, and is {self.value!r:.200}"
            return
        assert trial.is_line(said), f"not a line to read: {said[:200]!r}"
        assert self.named is not None, f"refused: {said}"
        lacking = [word for word in self.named if not re.search(word, said, re.IGNORECASE)]
        assert not lacking, f"the line does not say {lacking}: {said}"


def refused(what: str, read: Callable[[Path], Any], *named: str) -> Case:
    """Return a case that must be refused with these words (patterns) in its line."""
    return Case(what, read, named)


def accepted(what: str, read: Callable[[Path], Any], value: Any = None) -> Case:
    """Return a case that must be accepted and give a value."""
    return Case(what, read, None, value)


def kind(name: str, cases: Callable[[], Iterator[Case]], limit_seconds: int = trial.LIMIT_SECONDS) -> trial.Kind:
    """Return the kind of fault of some cases, each in a folder of its own, in an order by chance."""

    def faults(folder: Path, rng: Random) -> list[trial.Fault]:
        all_ = [(case.what, partial(_alone, case, folder / str(number))) for number, case in enumerate(cases())]
        rng.shuffle(all_)
        return all_

    return trial.Kind(name, None, faults, limit_seconds)


def _alone(case: Case, folder: Path) -> None:
    """Meet a case; nothing may be run by it, or be left of files half-written."""
    folder.mkdir()
    outside = set(folder.parent.iterdir())
    try:
        case.meet(folder)
    finally:
        strays = [path.name for path in folder.rglob(".*") if re.search(r"\.[0-9a-f]{8}(\.\w+)?$", path.name)]
        assert not strays, f"left {strays}"
        assert set(folder.parent.iterdir()) == outside, "written elsewhere"
        assert not Path("injected").exists(), "ran what was typed"


def put(value: Any, path: str, new: Any) -> Any:
    """Return a copy of a nested value with `new` at a path (`a.0.b`); `...` takes the key away."""
    changed = copy.deepcopy(value)
    *above, last = (int(part) if part.isdigit() else part for part in path.split("."))
    inside = changed
    for part in above:
        inside = inside[part]
    if new is ...:
        del inside[last]
    else:
        inside[last] = new
    return changed


def get(value: Any, path: str) -> Any:
    """Return what is at a path of a nested value."""
    for part in path.split("."):
        value = value[int(part) if part.isdigit() else part]
    return value
