"""What the lines of a console say: steps as the recorder reads them, and beside them losses and clocks; pure."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from scripts.importers import _clocks, _durations
from scripts.importers._durations import Stated
from scripts.importers._logs import number
from scripts.importers._recorder import lines

_NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|nan|inf"

#: `loss: 0.31`, `lm loss: 1.08E+01`, `'eval_loss': '2.1'`, `train loss 10.9`, `lm loss value: 2.5E+00`, `val_acc=0.9`.
_METRIC = re.compile(
    r"(?i)(?<![a-z])(?:(?P<kind>train|val|valid|validation|eval|evaluation|test)(?:ing)?[ _/.-])?"
    r"(?P<what>loss|accuracy|acc)"
    r"(?:/[a-z_]+)*(?![@\d])(?: (?P<after>train|val)(?:ing|id(?:ation)?)?(?=\s*[:=]))?"
    rf"(?: value)?['\"]?\s*[:=|]?\s*['\"(]?(?P<value>{_NUMBER})(?!\.?[\w%])"
)

#: Words before a metric that say that it is of an evaluation, and are no name of another metric.
_EVALUATION = re.compile(
    r"(?i)\b(?:eval(?:uat\w+)?|valid(?:ation|ating)?|val|test(?:ing)?)\b(?![ _/.-]*(?:loss|acc\w*)\W*\d)"
)

#: Letters of a line that are read.
_MOST = 4096

#: Lines that may hold any of it: the others are passed over.
_WORTH = re.compile(r"(?i)loss|acc|step|epoch|iter|%\||\d/\d|\[\d+\]|learn:|runtime")

#: A line that says how long the epoch before it took.
_EPOCH_TIME = re.compile(r"(?i)\bepoch[ _]?(?:time|duration)\b.*\d")

#: What colours a line, or moves the cursor in it.
_MOVES = re.compile(r"[\x1b\x08]")

#: What steps of a training are counted in.
_STEPS = ("step", "round", "unit")


@dataclass(frozen=True)
class Line:
    """A line: its text, the step and the epoch that the recorder reads in it, its clock (UNIX time), its metrics.

    `series` names its kind, `aside` is the step of an evaluation.
    """

    text: str
    step: lines.Tick | None
    epoch: float | None
    moment: float | None
    values: Mapping[str, float]
    series: str = ""
    aside: lines.Tick | None = None

    def stated(self) -> Sequence[Stated]:
        """Return the times that the line states."""
        return list(_durations.read(self.text))


def read(text: str) -> list[Line]:
    """Return the lines of a log that say something of a training; a bar that rewrites its line has one for each time.

    The first and the last line that have a clock are there too, whatever they say.
    """
    clock = _clocks.clock()
    found: list[Line] = []
    is_first, silent = True, None  # a line with a clock that says nothing else, and where it stands
    for part in re.split(r"[\r\n]", text):
        if not part:
            continue
        part = lines.plain(part) if _MOVES.search(part) else part[:_MOST]
        at = clock(part)
        line = _line(part, at) if _WORTH.search(part) else None
        if line:
            found.append(line)
            silent = silent if at is None else None
        elif at is not None:
            silent = (len(found), Line(part, None, None, at, {}))
            if is_first:
                found.append(silent[1])
                silent = None
        is_first &= at is None
    if silent:
        found.insert(*silent)
    return found


def _line(text: str, at: float | None) -> Line | None:
    ticks, values = lines.read(text), dict(_values(text))
    if not ticks and not values and not _EPOCH_TIME.search(text):
        return None
    counts = [tick for tick in ticks if tick.unit in _STEPS]
    step, aside = (
        next((tick for tick in counts if bool(lines.ASIDE.search(tick.series)) is is_aside), None)
        for is_aside in (False, True)
    )
    series = next((tick.series for tick in ticks), "")
    return Line(text, step, _epoch(ticks), at, values, series, aside)


def _epoch(ticks: Sequence[lines.Tick]) -> float | None:
    named = (tick.done if tick.unit == "epoch" else tick.epoch for tick in ticks)
    return next((epoch for epoch in named if epoch is not None), None)


def _values(line: str) -> Iterator[tuple[str, float]]:
    """Yield the metrics of a line.

    One without a kind is of that before it (`val loss 0.6 acc 0.7`), if this has no such metric, or of the evaluation
    that the line begins with.
    """
    there: set[str] = set()
    last = ""
    for found in _METRIC.finditer(line):
        value = number(found["value"])
        if value is None:
            continue
        what = "loss" if found["what"].lower() == "loss" else "acc"
        if kind := found["kind"] or found["after"]:
            last = "train" if kind.lower() == "train" else "val"
        elif not last or f"{last}_{what}" in there:
            is_aside = _EVALUATION.search(line[: found.start()]) is not None and f"val_{what}" not in there
            last = "val" if is_aside else "train"
        there.add(f"{last}_{what}")
        yield f"{last}_{what}", value


def columns(some: Iterable[Line]) -> dict[str, list[float]]:
    """Return what was logged under each name, in its order."""
    found: dict[str, list[float]] = {}
    for line in some:
        for name, value in line.values.items():
            found.setdefault(name, []).append(value)
    return found
