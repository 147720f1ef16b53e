"""How long a training took by the lines of its console: counts, times that they state, their clock; pure."""

import re
from collections import Counter
from collections.abc import Sequence
from statistics import median

from scripts.importers import _durations, _table
from scripts.importers._console import Line
from scripts.importers._console_steps import Steps, are_moments, chosen, of_evaluations, of_steps
from scripts.importers._durations import Stated
from scripts.importers._seconds import Said

_LACKS = (
    "its lines have no clock, no bar, no time of a step or an epoch and no rate with a count: print one of these, or "
    "give seconds"
)

_RUNTIME = re.compile(r"['\"]?train_runtime['\"]?\s*[:=]\s*['\"]?(\d+(?:\.\d+)?)")
_BAR = re.compile(r"%\|.*\[(?P<clock>\d+(?::\d\d){1,2})<")
_KERAS = re.compile(
    r"^(?P<done>\d+)/(?P=done)\s.*?\b(?P<seconds>\d+)s\b(?:\s+(?:-\s+)?(?P<each>\d+)(?P<unit>[mu]?s)/step)?"
)
_UNITS = {"us": 1e-6, "ms": 1e-3, "s": 1.0}

#: Samples a second: the mean so far of DeepSpeed, or of a line's steps.
_MEAN_RATE = re.compile(r"RunningAvgSamplesPerSec=(\d+(?:\.\d+)?)")
_RATE = re.compile(
    r"(?i)(\d+(?:\.\d+)?)\s?(?:samples?|images?|imgs?|examples?|seq(?:uence)?s?)?/s(?:ec(?:ond)?)?\b(?!/)"
)

#: What stable-baselines3 prints in a table, and DeiT of an evaluation.
_IN_A_TABLE = re.compile(r"^\|\s+(?:time/)?time_elapsed\s+\|\s+(\d+)", re.MULTILINE)
_EVALUATED = re.compile(r"^(?:test|val\w*|eval\w*):?\s+(total time: .*)", re.MULTILINE | re.IGNORECASE)


_DAY = 86_400.0

#: Below so many seconds of an epoch Keras's whole ones say less than its steps.
_FEW_SECONDS = 20


def said(
    found: Sequence[Line], steps: Steps, epochs: float | None, text: str, batch: int | None
) -> tuple[Said, list[str]]:
    """Return what the lines say of the time, and how it was read. `batch` is that of all devices."""
    pace, since, words = of_steps(steps)
    runtimes, wholes = _RUNTIME.findall(text), _durations.whole(text)
    stated = next(
        (
            (seconds, word)
            for seconds, word in (
                (sum(map(float, runtimes)), "train_runtime"),
                # Each rank may print it.
                (sum({round(seconds): seconds for seconds, _ in wholes}.values()), wholes[-1][1] if wholes else ""),
                since,
                (sum(_table.since([float(one) for one in _IN_A_TABLE.findall(text)])), "time_elapsed"),
                (_of_bars(found), "the time in tqdm's bar"),
            )
            if seconds
        ),
        (None, ""),
    )
    several = [f"holds {len(runtimes)} trainings: their times are added up"] if len(runtimes) > 1 else []
    each = _of_keras(found) or _of_epochs(found, epochs)
    evaluated = [next(_durations.read(one)).seconds for one in _EVALUATED.findall(text)]
    if len(evaluated) == len(each):
        each = [one + other for one, other in zip(each, evaluated, strict=True)]
    aside = 0.0 if stated[0] or each else of_evaluations(found)
    clock, began = _clock(found, steps, epochs)
    samples = steps.done if steps.are_samples else batch * steps.done if batch else None
    rates = _rates(steps, text)
    return (
        Said(
            stated=stated[0],
            stated_as=stated[1],
            epoch_seconds=each,
            clock=clock,
            clock_of="lines, from the first to the last",
            began=began,
            pace=pace,
            pace_is_mean=True,
            beside_pace=aside,
            pace_words=words,
            samples=samples,
            samples_per_second=rates if samples else None,
            steps=steps.done or None,
            epochs=epochs,
            lacks=_LACKS,
        ),
        [*_early(steps), *several],
    )


def _of_bars(found: Sequence[Line]) -> float | None:
    """Return the seconds of the bar that took longest, all its repetitions together; None without a bar."""
    bars: dict[tuple[str, float | None], list[float]] = {}
    for line in found:
        if line.step and (bar := _BAR.search(line.text)):
            seconds = 0.0
            for part in bar["clock"].split(":"):
                seconds = 60 * seconds + float(part)
            parts = bars.setdefault((line.step.series, line.step.total), [0.0])
            # A bar of the next epoch begins anew.
            parts[-1:] = [seconds] if seconds >= parts[-1] else [parts[-1], seconds]
    return max(map(sum, bars.values()), default=None)


def _of_keras(found: Sequence[Line]) -> list[float]:
    """Return the seconds of Keras's epochs: of each the last line, with its validation."""
    ends = [(line, _KERAS.match(line.text)) for line in found]
    totals = Counter(end["done"] for _, end in ends if end).most_common(1)
    seconds: list[float] = []
    is_new = True
    for line, end in ends:
        if end is None:
            is_new |= line.epoch is not None
        elif end["done"] == totals[0][0]:
            one = float(end["seconds"])
            if one < _FEW_SECONDS and end["each"]:
                one = int(end["done"]) * int(end["each"]) * _UNITS[end["unit"]]
            if is_new:
                seconds.append(one)
            else:
                seconds[-1] = one
            is_new = False
    return seconds


def _of_epochs(found: Sequence[Line], epochs: float | None) -> list[float]:
    """Return the seconds that lines of epochs state, all lines of an epoch together; none if some epochs have none."""
    timed: list[tuple[tuple[float, str], Stated]] = []
    running = 0.0
    for line in found:
        running = running if line.epoch is None else line.epoch
        if line.step or line.aside:
            continue
        kinds = ("epoch", "plain", "since") if line.epoch is not None else ("epoch",)
        stated = line.stated()
        one = next((one for of in kinds for one in stated if one.of == of), None)
        key = (running, line.series)
        if one and timed and timed[-1][0] == key:
            timed[-1] = (key, one)  # a line that is rewritten
        elif one:
            timed.append((key, one))
    if (
        not timed
        or are_moments([one for _, one in timed])
        or (epochs and len({epoch for (epoch, _), _ in timed}) < round(epochs))
    ):
        return []
    seconds = [one.seconds for _, one in timed]
    return _table.from_the_beginning(seconds) or seconds


def _clock(
    found: Sequence[Line], steps: Steps, epochs: float | None
) -> tuple[list[tuple[float, float | None]], float | None]:
    """Return the clock of lines with how much was done at each, and when the log began, where a line before says it."""
    done = {id(line): done for line, _, done in steps.rows}
    if not done and epochs:
        from_0 = min((line.epoch for line in found if line.epoch is not None), default=1) == 0
        done = {id(line): line.epoch + from_0 for line in found if line.epoch is not None and line.values}
    clock = [(line.moment, done.get(id(line)), line) for line in found if line.moment is not None]
    if all(line.moment is None for line in found):
        return _of_the_day(found, done), None
    counted = [index for index, line in enumerate(found) if id(line) in done]
    counted = counted or [index for index, line in enumerate(found) if line.epoch is not None or line.values]
    clocked = [index for index, line in enumerate(found) if line.moment is not None]
    if not counted or not clocked or (clocked[-1] < counted[-1] and not set(clocked) & set(counted)):
        return [], None  # a clock of the start alone
    began = clock[0][0] if id(clock[0][2]) not in done and clock[0][2].aside is None else None
    return [(at, so_far) for at, so_far, _ in clock[began is not None :]], began


def _of_the_day(found: Sequence[Line], done: dict[int, float]) -> list[tuple[float, float | None]]:
    """Return the times of the day that lines state in their middle (`time: 14:05:33`), each with what was done."""
    stated = [(line, chosen(line.stated())) for line in found if id(line) in done]
    times = [(done[id(line)], one) for line, one in stated if one]
    if not are_moments([one for _, one in times]):
        return []
    days, clock, before = 0.0, list[tuple[float, float | None]](), 0.0
    for so_far, one in times:
        days += _DAY if one.seconds < before - _DAY / 2 else 0.0
        before = one.seconds
        clock.append((one.seconds + days, so_far))
    return clock


def _rates(steps: Steps, text: str) -> float | None:
    """Return the samples a second that lines state: the last mean, or the median of the steps."""
    if means := _MEAN_RATE.findall(text):
        return float(means[-1])
    rates = [float(rate[1]) for line, _, _ in steps.rows if (rate := _RATE.search(line.text)) and float(rate[1])]
    return median(rates) if rates else None


def _early(steps: Steps) -> list[str]:
    """Return that a run ended before its last step, where it says of how many."""
    if not steps.rows:
        return []
    _, last, done = steps.rows[-1]
    if not last.total or last.done >= last.total - 1 or steps.done > done:
        return []
    return [f"ends at step {last.done:g} of {last.total:g}"]
