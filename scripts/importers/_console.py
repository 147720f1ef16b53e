"""What the lines of a console say: steps as the recorder reads them, and beside them losses and clocks; pure."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from scripts.importers._logs import number
from scripts.importers._recorder import lines

_NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|nan|inf"

#: `loss: 0.31`, `lm loss: 1.08E+01`, `'eval_loss': '2.1'`, `train loss 10.9`, `lm loss value: 2.5E+00`, `val_acc=0.9`.
_METRIC = re.compile(
    r"(?i)(?<![a-z])(?:(?P<kind>train|val|valid|validation|eval|evaluation|test)(?:ing)?[ _/.-])?"
    r"(?P<what>loss|accuracy|acc)"
    rf"(?: value)?['\"]?\s*[:=]?\s*['\"(]?(?P<value>{_NUMBER})(?!\.?[\w%])"
)

#: Words before a metric that say that it is of an evaluation, and are no name of another metric.
_EVALUATION = re.compile(
    r"(?i)\b(?:eval(?:uat\w+)?|valid(?:ation|ating)?|val|test(?:ing)?)\b(?![ _/.-]*(?:loss|acc\w*)\W*\d)"
)

#: Letters of a line that are read; those in which clocks are looked for, and these: `[2023-05-12 10:01:02,123]`,
#: `05/12/2023 10:01:02`.
_MOST, _HEAD = 4096, 64
_ISO = re.compile(r"(?<!\d)(\d{4})[-/](\d\d)[-/](\d\d)[ T](\d\d):(\d\d):(\d\d)(?:[.,](\d{1,6}))?")
_AMERICAN = re.compile(r"(?<!\d)(\d\d)/(\d\d)/(\d{4}),? (\d\d):(\d\d):(\d\d)")

#: Lines that may hold any of it: the others are passed over.
_WORTH = re.compile(r"(?i)loss|acc|step|epoch|iter|%\||\d/\d|\[\d+\]|learn:|runtime")

#: What colours a line, or moves the cursor in it.
_MOVES = re.compile(r"[\x1b\x08]")

#: What steps of a training are counted in.
_STEPS = ("step", "round", "unit")


@dataclass(frozen=True)
class Line:
    """A line: its text, the step and the epoch that the recorder reads in it, its clock (UNIX time), its metrics."""

    text: str
    step: lines.Tick | None
    epoch: float | None
    moment: float | None
    values: Mapping[str, float]


def read(text: str) -> Iterator[Line]:
    """Yield the lines of a log that say something of a training; a bar that rewrites its line has one for each time."""
    for part in re.split(r"[\r\n]", text):
        if part and _WORTH.search(part):
            part = lines.plain(part) if _MOVES.search(part) else part[:_MOST]
            ticks, values = lines.read(part), dict(_values(part))
            if ticks or values:
                yield Line(part, _step(ticks), _epoch(ticks), moment(part), values)


def _step(ticks: Sequence[lines.Tick]) -> lines.Tick | None:
    return next((tick for tick in ticks if tick.unit in _STEPS and not lines.ASIDE.search(tick.series)), None)


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
        if found["kind"]:
            last = "train" if found["kind"].lower() == "train" else "val"
        elif not last or f"{last}_{what}" in there:
            is_aside = _EVALUATION.search(line[: found.start()]) is not None and f"val_{what}" not in there
            last = "val" if is_aside else "train"
        there.add(f"{last}_{what}")
        yield f"{last}_{what}", value


def moment(line: str) -> float | None:
    """Return the UNIX time that stands at the beginning of a line, taken for UTC; None for none."""
    head = line[:_HEAD]
    if found := _ISO.search(head):
        year, month, day, hour, minute, second = map(int, found.groups()[:6])
        part = float(f"0.{found[7]}") if found[7] else 0.0
    elif found := _AMERICAN.search(head):
        month, day, year, hour, minute, second = map(int, found.groups())
        part = 0.0
    else:
        return None
    try:
        return datetime(year, month, day, hour, minute, second, tzinfo=UTC).timestamp() + part
    except ValueError:
        return None  # no such day


def columns(some: Iterable[Line]) -> dict[str, list[float]]:
    """Return what was logged under each name, in its order."""
    found: dict[str, list[float]] = {}
    for line in some:
        for name, value in line.values.items():
            found.setdefault(name, []).append(value)
    return found
