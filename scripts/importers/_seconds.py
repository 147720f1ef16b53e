"""How long a training took, by what its log says: one rule for all formats; pure.

An importer says what it read (`Said`), the study what it adds (`Given`). The first of these that there is counts:
times that the log states; the clock of its rows; a pace and a count; what the study says; the times of files, where
the study asks for them. What has none is imported without time, and says what is missing.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import fsum, isfinite
from statistics import median
from typing import TypeGuard

from scripts.storage.numbers import duration

#: A pause between two rows is worth a word from here on (s), if it is also so many times the usual interval.
PAUSE_SECONDS, PAUSE_INTERVALS = 60.0, 5.0

#: A pause that comes once and lasts so long (s) is no part of the training: a night, a run that was resumed later.
BREAK_SECONDS = 600.0

#: Pauses within such a factor of each other are of one kind, and so many make a habit: evaluation, checkpoints.
ALIKE, HABIT = 3.0, 3

#: A clock that is off by such a factor from what a log states is worth a word.
CONTRADICTS = 1.5


@dataclass(frozen=True)
class Said:
    """What a log says of the time of one training; what it does not say is left out. Times are in seconds."""

    stated: float | None = None
    stated_as: str = ""  # the word of the log: train_runtime
    epoch_seconds: Sequence[float] = ()
    clock: Sequence[tuple[float, float | None]] = ()  # UNIX time of a row, and how many steps were done then
    clock_of: str = "rows"
    began: float | None = None  # UNIX time, as is the next
    ended: float | None = None
    pace: Sequence[tuple[float, float]] = ()  # steps done, and seconds that the last one took
    pace_is_mean: bool = False  # of all steps since the row before
    beside_pace: float = 0.0  # evaluations that the log times by themselves
    pace_words: Sequence[str] = ()  # how the pace was read
    samples_per_second: float | None = None
    steps_per_second: float | None = None
    samples: float | None = None  # of the whole training, as are the next two
    steps: float | None = None
    epochs: float | None = None
    lacks: str = "the log has no times"  # and what would add them


@dataclass(frozen=True)
class Given:
    """What the study says of a log's time: of the whole (s), of an epoch (s), or of its files (UNIX times)."""

    seconds: float | None = None
    seconds_per_epoch: float | None = None
    files: tuple[float, float] | None = None


@dataclass(frozen=True)
class Found:
    """Seconds of a training, or None; where they are from, and what there is to say of them."""

    seconds: float | None
    source: str | None
    remarks: tuple[str, ...] = ()


def find(said: Said, given: Given) -> Found:
    """Return how long a training took, by the first rule that finds it."""
    pauses, running = _pauses(said)
    shown = tuple(pause.words() for pause in pauses)
    for stated, name in ((said.stated, said.stated_as), (fsum(said.epoch_seconds), "the seconds of each epoch")):
        if _is_time(stated):
            return Found(stated, f"stated: {name}", (*shown, *_contradiction(stated, running)))
    if _is_time(running):
        head, word = _before_the_first_row(said)
        return Found(running + head, f"the clock of its {said.clock_of}", (*word, *shown))
    if _is_time(paced := _paced(said.pace, said.pace_is_mean)):
        words = (f"evaluations: {duration(said.beside_pace)}, counted",) if said.beside_pace else ()
        return Found(paced + said.beside_pace, "the time of a step x steps", (*said.pace_words, *words))
    for seconds, source in (
        (_ratio(said.steps, said.steps_per_second), "steps / steps per second"),
        (_ratio(said.samples, said.samples_per_second), "samples / samples per second"),
        (given.seconds, "the study: seconds"),
        (_product(given.seconds_per_epoch, said.epochs), "the study: seconds_per_epoch x epochs"),
        (given.files[1] - given.files[0] if given.files else None, "the times of its files"),
    ):
        if _is_time(seconds):
            return Found(seconds, source)
    if said.samples_per_second is not None:
        return Found(None, None)  # a rate alone has a price: that of a million samples
    return Found(None, None, (f"without time: {said.lacks}",))


def _contradiction(stated: float, running: float | None) -> tuple[str, ...]:
    """Return that the clock of a log says another time than the log states, if it is far from it."""
    if not _is_time(running) or max(stated, running) < CONTRADICTS * min(stated, running):
        return ()
    return (f"by its clock it ran {duration(running)}",)


def _is_time(seconds: float | None) -> TypeGuard[float]:
    return seconds is not None and isfinite(seconds) and seconds > 0


def _ratio(count: float | None, rate: float | None) -> float | None:
    return count / rate if count and rate else None


def _product(each: float | None, count: float | None) -> float | None:
    return each * count if each and count else None


@dataclass(frozen=True)
class _Pause:
    seconds: float
    after: float | None
    times: int
    counts: bool

    def words(self) -> str:
        where = "" if self.after is None else f" after step {self.after:g}"
        if self.times > 1:
            return f"{self.times} pauses of about {duration(self.seconds)} (evaluation, checkpoints): counted"
        return f"a pause of {duration(self.seconds)}{where}: {'counted' if self.counts else 'not counted'}"


def _rows(said: Said) -> list[tuple[float, float | None]]:
    """Return the rows in the order of their times, from the log's beginning to its end."""
    known = sorted((row for row in said.clock if isfinite(row[0])), key=lambda row: row[0])
    first = [(said.began, 0.0)] if said.began is not None and (not known or said.began <= known[0][0]) else []
    last = [(said.ended, None)] if said.ended is not None and (not known or said.ended >= known[-1][0]) else []
    return [*first, *known, *last]


def _pauses(said: Said) -> tuple[list[_Pause], float | None]:
    """Return the pauses between the rows of a log, and how long it ran without those that do not count."""
    rows = _rows(said)
    intervals = [(later[0] - row[0], row[1], later[1]) for row, later in pairwise(rows) if later[0] > row[0]]
    if not intervals:
        return [], None
    usual = median(seconds for seconds, _, _ in intervals)
    paces = [seconds / (to - at) for seconds, at, to in intervals if at is not None and to is not None and to > at]
    pace = median(paces) if paces else 0.0
    # What comes before the first row is the start of the training, however long it took.
    starts = said.began is not None and bool(said.clock)
    found = []
    for index, (seconds, at, to) in enumerate(intervals):
        steps = to - at if at is not None and to is not None and to > at else 0.0
        excess = seconds - pace * steps
        if excess > max(PAUSE_SECONDS, PAUSE_INTERVALS * usual) and not (starts and index == 0) and len(intervals) > 1:
            found.append((excess, at))
    alike = {
        index: [other for other, _ in found if max(other, one) <= ALIKE * min(other, one)]
        for index, (one, _) in enumerate(found)
    }
    habits = [one for index, (one, _) in enumerate(found) if len(alike[index]) >= HABIT]
    single = [(one, at) for index, (one, at) in enumerate(found) if len(alike[index]) < HABIT]
    pauses = [_Pause(median(habits), None, len(habits), True)] if habits else []
    pauses += [_Pause(one, at, 1, one < BREAK_SECONDS) for one, at in single]
    left_out = fsum(pause.seconds for pause in pauses if not pause.counts)
    return pauses, rows[-1][0] - rows[0][0] - left_out


def _before_the_first_row(said: Said) -> tuple[float, tuple[str, ...]]:
    """Return what the steps before the first row took, at the pace of the rest, where no clock says when it began.

    Where one does, a long start is said.
    """
    rows = [(at, steps) for at, steps in _rows(said) if steps is not None]
    paces = [(later - at) / (to - done) for (at, done), (later, to) in pairwise(rows) if to > done and later > at]
    usual = median(paces) if paces else 0.0
    if said.began is not None:
        first = min(said.clock, key=lambda row: row[0], default=(said.began, None))
        start = first[0] - said.began - usual * (first[1] or 0.0)
        between = median(later - at for (at, _), (later, _) in pairwise(rows)) if len(rows) > 1 else 0.0
        is_long = first[1] is not None and start > max(PAUSE_SECONDS, PAUSE_INTERVALS * between)
        return 0.0, (f"the start, {duration(start)}: counted",) if is_long else ()
    if not usual or not rows[0][1]:
        return 0.0, ()
    seconds = usual * rows[0][1]
    before = "step has" if rows[0][1] == 1 else f"{rows[0][1]:g} steps have"
    return seconds, (f"the first {before} no clock: {duration(seconds)} at the pace of the others",)


def _paced(pace: Sequence[tuple[float, float]], is_mean: bool) -> float | None:
    """Return the time of all steps: each that was timed, those between at the pace of the median, or of their mean."""
    if not pace:
        return None
    usual = median(seconds for _, seconds in pace)
    total, done = 0.0, 0.0
    for steps, seconds in pace:
        between = max(steps - done - 1, 0.0)
        total += seconds + between * (seconds if is_mean else usual)
        done = steps
    return total
