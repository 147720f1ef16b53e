"""The steps that the lines of a console count, and the times of steps that they state; pure."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from scripts.importers import _table
from scripts.importers._console import Line
from scripts.importers._durations import Stated
from scripts.importers._recorder import Tick

#: Counts that PyTorch's examples print of samples: `Train Epoch: 1 [640/60000 (1%)]`.
_OF_SAMPLES = re.compile(r"(?i)epoch\S*\s+\d+\s*\[\s*\d+/\d+\s*\(\s*\d+%\)\]")

#: Lines at the beginning and at the end that are looked at for times, before all are.
_SAMPLE = 100

_HOUR = 3_600.0


@dataclass(frozen=True)
class Steps:
    """The lines that count one thing: each with what it says, and how much was done by then in all.

    `ends` are the rows that end an epoch, or the log; `done` is what was done in all, with what comes after the last
    line of an epoch, as far as the log lets know.
    """

    rows: Sequence[tuple[Line, Tick, float]] = ()
    ends: Sequence[tuple[Line, float]] = ()
    done: float = 0.0
    are_samples: bool = False


def main_steps(found: Sequence[Line]) -> Steps:
    """Return the steps that a training counts: the series with the most lines."""
    series = Counter((line.step.series, line.step.total) for line in found if line.step)
    if not series:
        return Steps()
    main = series.most_common(1)[0][0]
    return _steps([(line, line.step) for line in found if line.step and (line.step.series, line.step.total) == main])


def _steps(ticks: Sequence[tuple[Line, Tick]]) -> Steps:
    """Return lines with what was done in all: a count that begins anew is of the next epoch, or resumed."""
    begins = [index for index, ((_, one), (_, next_)) in enumerate(pairwise(ticks), start=1) if _begins(one, next_)]
    parts = [ticks[begin:end] for begin, end in pairwise([0, *begins, len(ticks)])]
    # A bar at 0 has done nothing; a line of step 0 has done one.
    from_0 = min(tick.done for _, tick in ticks) == 0 and not any("bar" in tick.source for _, tick in ticks)
    usual_end = max((part[-1][1].done for part in parts[:-1]), default=None)
    offset = 1.0 if from_0 else 0.0
    rows: list[tuple[Line, Tick, float]] = []
    ends: list[tuple[Line, float]] = []
    before = 0.0
    for part in parts:
        rows += [(line, tick, before + tick.done + offset) for line, tick in part]
        last = part[-1][1]
        left = (last.total or last.done) - last.done
        interval = max((later.done - one.done for (_, one), (_, later) in pairwise(part)), default=0.0)
        is_whole = 0 < left <= interval and (from_0 or last.done == usual_end)
        before += last.done + (left if is_whole else offset)
        ends.append((part[-1][0], before))
    return Steps(rows, ends, before, bool(_OF_SAMPLES.search(ticks[0][0].text)))


def _begins(one: Tick, following: Tick) -> bool:
    """Return whether a count begins anew: it goes back, or is the same in another epoch."""
    return following.done < one.done or (following.done == one.done and following.epoch != one.epoch)


def of_steps(steps: Steps) -> tuple[list[tuple[float, float]], tuple[float, str], list[str]]:
    """Return the times of steps (how many were done, the mean since the row before), or a count since the beginning.

    Lines of another rank, which count what was counted, are passed over.
    """
    looked_at = [*steps.rows[:_SAMPLE], *steps.rows[-_SAMPLE:]]
    if steps.are_samples or not any(chosen(line.stated()) for line, _, _ in looked_at):
        return [], (0.0, ""), []
    times = [(done, one) for line, _, done in steps.rows if (one := chosen(line.stated()))]
    if not times:
        return [], (0.0, ""), []
    word = times[-1][1].word
    of = Counter(one.of for _, one in times).most_common(1)[0][0]
    seconds = [one.seconds for _, one in times if one.of == of]
    if are_moments([one for _, one in times]):
        return [], (0.0, ""), []
    if of in ("since", "plain") and not times[-1][1].is_mean:
        back = sum(later < earlier for earlier, later in pairwise(seconds))
        rises = _table.from_the_beginning(seconds) or (of == "since" and back <= len(seconds) // 10)
        if rises:
            return [], (sum(_table.since(seconds)), word), []
    if times[-1][1].is_mean:
        means = [(done, one) for line, done in steps.ends if (one := chosen(line.stated())) and one.is_mean]
        return [(done, one.seconds) for done, one in means], (0.0, ""), []
    pace: list[tuple[float, float]] = []
    for done, one in times:
        if not pace or done > pace[-1][0]:
            pace.append((done, one.seconds))
    is_per_step = of == "step" or all(later - earlier <= 1 for (earlier, _), (later, _) in pairwise(pace))
    if steps.done > pace[-1][0]:
        pace.append((steps.done, pace[-1][1]))
    return pace, (0.0, ""), [] if is_per_step else [f"{word!r} is read as the time of one step"]


def are_moments(times: Sequence[Stated]) -> bool:
    """Return whether times are those of the day: they rise, and do not begin with the training."""
    seconds = [one.seconds for one in times]
    rise = sum(later >= earlier for earlier, later in pairwise(seconds))
    return (
        all(one.may_be_a_moment for one in times)
        and len(times) > 1
        and rise >= 0.9 * (len(times) - 1)
        and seconds[-1] != seconds[0]
        and max(seconds) >= _HOUR
        and _table.from_the_beginning(seconds) is None
    )


def chosen(stated: Sequence[Stated]) -> Stated | None:
    """Return which of the times of a line is that of its step."""
    return next((one for of in ("step", "plain", "since") for one in stated if one.of == of), None)


def of_evaluations(found: Iterable[Line]) -> float:
    """Return the seconds of evaluations whose lines state the times of their steps."""
    series: dict[str, list[tuple[Line, Tick]]] = {}
    for line in found:
        if line.aside:
            series.setdefault(line.aside.series, []).append((line, line.aside))
    total = 0.0
    for ticks in series.values():
        pace, _, _ = of_steps(_steps(ticks))
        total += sum((done - before) * seconds for (before, _), (done, seconds) in pairwise([(0.0, 0.0), *pace]))
    return total
