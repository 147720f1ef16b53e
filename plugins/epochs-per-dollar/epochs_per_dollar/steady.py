"""From points of progress to a rate, what is paid once, and what interrupts the steps. Pure.

The steady rate is that of the longest end of the session whose three thirds agree; pauses (evaluations, checkpoints,
ends of epochs) are taken out of it and counted by how often they come.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, log
from statistics import median
from typing import NamedTuple

from epochs_per_dollar.progress import Point

#: Rates of the three thirds that lie within this of each other agree; MLCommons calls results 5 % apart ties.
AGREE = 0.05

#: A third is no rate with fewer intervals between ticks.
FEWEST_INTERVALS = 3

#: An interval is a pause if it takes clearly longer than its steps: in logarithms by so many standard deviations of
#: those around it (times of steps have a long tail; few intervals say less of it), and by two steps, and by what a
#: reading of the clock may be late (s).
_DEVIATIONS, _FEW, _STEPS, _LATE_SECONDS = 5.0, 6.0, 2.0, 0.1

#: More than this no noise takes: a factor of 20,000, as a logarithm.
_MOST_NOISE = 10.0

#: A pause that did not come again in so many times the steps before it is paid once.
_ONCE = 2.0

#: Pauses whose distances differ by no more than this come regularly.
_REGULAR = 0.2


class Pause(NamedTuple):
    """Seconds that an interval took beyond its steps: at `seconds` after the start, when `done` units were done."""

    seconds: float
    done: float
    extra_seconds: float
    at_lap: bool


@dataclass(frozen=True)
class Pauses:
    """Pauses of one kind: what one takes (s, mean), and after how many units the next one comes."""

    count: int
    each_seconds: float
    every_units: float
    #: How `every_units` is known: `laps`, `regular`, `once` (seen once: assumed to come as often again), `irregular`.
    known_by: str

    def seconds_in(self, units: float) -> float:
        """Return the seconds of such pauses in a training of so many units."""
        return units / self.every_units * self.each_seconds


@dataclass(frozen=True)
class Rate:
    """What a session says of a training.

    `units_per_second` without pauses, from `steady_seconds` after the start on; `apart` is how far the three thirds
    of that time lie apart; `settled` says whether they agree. `once_seconds` is what is paid once: start, first step,
    compilation, warm-up; `faster_seconds` is what the first steps took less than they would at that rate, as of shorter
    sequences. `resumed_at` is the count from which it went on, 0 for a start anew. `widest_units` is how
    far two ticks lie apart at most.
    """

    units_per_second: float
    once_seconds: float
    faster_seconds: float
    resumed_at: float
    first_seconds: float
    steady_seconds: float
    apart: float
    settled: bool
    pauses: tuple[Pauses, ...]
    observed_units: float
    observed_seconds: float
    widest_units: float

    def seconds_of(self, units: float) -> float:
        """Return how long a training of so many units takes (s), its start and pauses with it."""
        return self.once_seconds - self.faster_seconds + units / self.units_per_second + self.pause_seconds_of(units)

    def pause_seconds_of(self, units: float) -> float:
        """Return how much of that are pauses."""
        return sum(pauses.seconds_in(units) for pauses in self.pauses)


class _Interval(NamedTuple):
    seconds: float
    units: float
    ends: Point
    at_lap: bool

    @property
    def each(self) -> float:
        return self.seconds / self.units


def _intervals(points: Sequence[Point]) -> list[_Interval]:
    """Return the intervals between points; ticks that were read at one moment are one."""
    found = []
    last, lap = points[0], points[0].lap
    for point in points[1:]:
        if point.done > last.done and point.seconds > last.seconds:
            found.append(_Interval(point.seconds - last.seconds, point.done - last.done, point, point.lap != lap))
            last, lap = point, point.lap
    return found


def _median_each(intervals: Sequence[_Interval]) -> float:
    """Return the seconds of a unit: the median over units, so that a few long intervals have no say."""
    ordered = sorted(intervals, key=lambda one: one.each)
    half = sum(one.units for one in ordered) / 2
    for one in ordered:
        half -= one.units
        if half <= 0:
            return one.each
    raise ValueError("no intervals")


def _is_pause(intervals: Sequence[_Interval]) -> list[bool]:
    """Return for each interval whether it holds a pause, compared with the intervals around it."""
    marks = []
    for place, one in enumerate(intervals):
        near = intervals[max(0, place - 25) : place + 26]
        each = _median_each(near)
        deviation = 1.4826 * median(log(other.each / each) for other in near if other.each >= each)
        noise = exp(min(_DEVIATIONS * (1 + _FEW / len(near)) * deviation, _MOST_NOISE)) - 1
        limit = max(noise * each * one.units, _STEPS * each, _LATE_SECONDS)
        marks.append(one.seconds - each * one.units > limit)
    return marks


def _thirds(intervals: Sequence[_Interval]) -> list[float]:
    """Return the rates of three equal parts of the time of some intervals."""
    whole = sum(one.seconds for one in intervals)
    rates, units, seconds = [], 0.0, 0.0
    for place, one in enumerate(intervals):
        units, seconds = units + one.units, seconds + one.seconds
        if seconds >= whole / 3 * 0.999 or place == len(intervals) - 1:
            rates.append(units / seconds)
            units = seconds = 0.0
    return rates[:3]


def _apart(intervals: Sequence[_Interval]) -> float | None:
    """Return how far the three thirds lie apart; None where they are too few to say."""
    if len(intervals) < 3 * FEWEST_INTERVALS:
        return None
    rates = _thirds(intervals)
    return (max(rates) - min(rates)) / median(rates) if len(rates) == 3 else None


def measure(points: Sequence[Point]) -> Rate | None:
    """Work out the rate of a session from its points, None from fewer than two different ones.

    Seconds of the points count from the start of the program.
    """
    intervals = _intervals(points) if points else []
    if not intervals:
        return None
    marks = _is_pause(intervals)
    steps = [one for one, paused in zip(intervals, marks) if not paused] or intervals
    begin, apart = _steady_from(steps)
    steady = steps[begin:]
    each = sum(one.seconds for one in steady) / sum(one.units for one in steady)
    began = steady[0].ends.seconds - steady[0].seconds
    pauses = [
        Pause(
            one.ends.seconds,
            # What comes at the end of a lap comes before the next one has begun.
            one.ends.done - one.units if one.at_lap else one.ends.done,
            one.seconds - one.units * each,
            one.at_lap,
        )
        for one, paused in zip(intervals, marks)
        if paused and one.ends.seconds > steps[0].ends.seconds
    ]
    done = steady[0].ends.done - steady[0].units
    first, last = points[0], points[-1]
    # More than this process can have done: it went on from a checkpoint.
    resumed_at = first.done if first.done * each > 2 * first.seconds and first.done > intervals[0].units else 0.0
    early, later = _early(pauses, resumed_at, last.done)
    once = began - (done - resumed_at) * each
    once += sum(pause.extra_seconds for pause in early if pause.seconds > began)
    once -= sum(pause.extra_seconds for pause in later if pause.seconds <= began)
    # Until the first count came, less what that count stands for: so much was paid once, however fast what followed.
    least = max(0.0, first.seconds - (first.done - resumed_at) * each)
    return Rate(
        units_per_second=1 / each,
        once_seconds=max(least, once),
        faster_seconds=max(0.0, least - once),
        resumed_at=resumed_at,
        first_seconds=first.seconds,
        steady_seconds=began,
        apart=apart if apart is not None else float("nan"),
        settled=apart is not None and apart <= AGREE,
        pauses=_kinds(later, resumed_at, last.done),
        observed_units=last.done,
        observed_seconds=last.seconds,
        widest_units=max(one.units for one in intervals),
    )


def _steady_from(steps: Sequence[_Interval]) -> tuple[int, float | None]:
    """Return where the longest end begins whose thirds agree, and how far they lie apart.

    Where none agrees, the last half is taken. No end below a third of the time is tried: it would agree by chance.
    """
    whole = sum(one.seconds for one in steps)
    passed, tried = 0.0, 0.0
    for place in range(len(steps)):
        if passed > whole * 2 / 3:
            break
        if place == 0 or passed >= tried:
            apart = _apart(steps[place:])
            if apart is None:
                break
            if apart <= AGREE:
                return place, apart
            # Forty beginnings are enough: each costs a pass over what follows.
            tried = passed + whole / 60
        passed += steps[place].seconds
    passed = 0.0
    for place, one in enumerate(steps):
        passed += one.seconds
        if passed >= whole / 2:
            place = min(place, len(steps) - 1)
            return place, _apart(steps[place:])
    return 0, None


def _early(pauses: Sequence[Pause], start: float, done: float) -> tuple[Sequence[Pause], Sequence[Pause]]:
    """Return the pauses that are paid once, and the others.

    What came after a few steps, and not again in more than twice as many, was a compilation or the like: had it a
    cadence, it would have been seen again. `start` and `done` are the counts at the start and at the end.
    """
    for place in range(len(pauses) - 1, -1, -1):
        until = pauses[place + 1].done if place + 1 < len(pauses) else done
        if _ONCE * (pauses[place].done - start) < until - pauses[place].done:
            return pauses[: place + 1], pauses[place + 1 :]
    return (), pauses


def _kinds(pauses: Sequence[Pause], start: float, done: float) -> tuple[Pauses, ...]:
    """Return the pauses by kind: those at the ends of laps, and the others, between two counts."""
    found = []
    for at_lap in (True, False):
        those = [pause for pause in pauses if pause.at_lap == at_lap]
        if not those:
            continue
        each = sum(pause.extra_seconds for pause in those) / len(those)
        gaps = [later.done - earlier.done for earlier, later in zip(those, those[1:])]
        if not gaps:
            every = max(those[0].done - start, done - those[0].done)
            found.append(Pauses(1, each, every, "laps" if at_lap else "once"))
            continue
        every = sum(gaps) / len(gaps)
        regular = max(gaps) - min(gaps) <= _REGULAR * every
        if not regular:
            every = max(done - start, 1e-9) / len(those)
        found.append(
            Pauses(len(those), each, every, "laps" if at_lap and regular else "regular" if regular else "irregular")
        )
    return tuple(found)
