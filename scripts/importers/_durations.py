"""Times that the lines of a console state: of a step, of an epoch, since the beginning; pure.

`Time  0.250 ( 0.300)` (a step's, and in brackets the mean so far), `time: 0.25`, `| 455.00 ms |`, `20ms/step`,
`elapsed time per iteration (ms): 254.1`, `Epoch 1/20 - 61.0s`, `wall=123`, `Training time 1 day, 2:03:04`.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

_UNITS = {"us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3_600.0}

_NUMBER = r"\d+(?:\.\d*)?(?:[eE][-+]?\d+)?"
_UNIT = r"ms|[uµ]s|s(?:ec(?:ond)?s?)?|m(?:in(?:ute)?s?)?|h(?:(?:ou)?rs?)?"
_CLOCK = r"(?:(?P<days>\d+)\s*d(?:ays?)?,?\s*)?(?P<clock>\d+:\d\d(?::\d\d)?(?:\.\d+)?)(?![\d:])"
_SPELLED = (
    rf"(?:(?P<hours>\d+)\s?h\w*,?\s*)?(?P<minutes>\d+)\s?m(?:in(?:ute)?s?)?,?\s*(?:and )?(?P<rest>{_NUMBER})\s?s\w*\b"
)
_SIZE = rf"(?:{_CLOCK}|{_SPELLED}|(?P<number>{_NUMBER})\s?(?P<unit>{_UNIT})?(?![\w.:%]|[-/]\d))"

#: What is the time of one step, of one epoch, since the beginning; and words that say none of it.
_OF_STEP = (
    r"(?:train[ _])?(?:step|batch|iter(?:ation)?|update)[ _]?(?:time|timing|duration|seconds)"
    r"|(?:elapsed )?time(?: per |/)(?:step|batch|iter(?:ation)?|update)|batch \(t\)|dt"
)
_OF_EPOCH = r"epoch[ _]?(?:time|duration|seconds)|time(?: per |/)epoch"
_SINCE = r"(?:time[ _])?elapsed(?:[ _]time)?|total[ _]time(?:[ _]elapsed)?|wall(?:[ _-]?(?:time|clock))?|(?<!_)runtime"
_PLAIN = r"time|took|takes|duration|seconds|secs|(?:done|finished|completed?|ended) (?:in|after)"

_NAMED = re.compile(
    rf"(?i)(?<![\w/.-])(?:(?P<step>{_OF_STEP})|(?P<epoch>{_OF_EPOCH})|(?P<since>{_SINCE})|(?P<plain>{_PLAIN}))"
    rf"(?:[ _/]?[(\[]?(?:in )?(?P<given>{_UNIT})[)\]]?(?=['\"]?\s*[:=]))?['\"]?\s*[:=]?\s*['\"(]?{_SIZE}"
    rf"(?:,?\s*[\d.,]+\s*/s)?(?:\s*\(\s*(?P<mean>{_NUMBER})\s*(?P<mean_unit>{_UNIT})?\s*(?=[,)]))?"
)

#: Words before a time that is a part of a step, or of something else.
_ASIDE = re.compile(
    r"(?i)(?:data|load\w*|io|comm\w*|forward|backward|optim\w*|sav\w*|h2d|wait\w*|eta|left|remaining)\W*$"
)

#: Times without a name, between marks or at the end: `- 61s`, `| 455.00 ms |`, `(12.3 s)`. `20ms/step`, `4.8s/it`.
_BARE = re.compile(
    rf"(?:(?<=^)|(?<=[-|,;(\[\t] )|(?<=[|;(\[\t]))(?P<number>{_NUMBER})\s?(?P<unit>{_UNIT})\b"
    r"(?=\s*(?:$|[|,;)\]\t]|-\s|elapsed|\d+(?:\.\d+)?[mu]?s/step)|/epoch)"
)
_PER_STEP = re.compile(
    rf"(?P<number>{_NUMBER})\s?(?P<unit>[mu]?s)\s?/\s?(?:step|it(?:er(?:ation)?)?|batch)\b(?!['\"]?\s*[:=])"
)
_STEPS_PER_SECOND = re.compile(
    rf"(?P<number>{_NUMBER})\s?(?:it|iters?|steps?|batch(?:es)?)/s(?:ec)?\b(?!['\"]?\s*[:=])"
)

#: `ms/step: 250`, `seconds_per_step=0.5`; `steps_per_sec: 2.4`
_A_STEP = r"(?:step|it(?:er(?:ation)?)?|batch|update)"
_UNIT_FIRST = re.compile(
    rf"(?i)(?<![\w./])(?P<unit>{_UNIT})(?:/|[ _]per[ _]){_A_STEP}['\"]?\s*[:=]\s*['\"]?(?P<number>{_NUMBER})"
)
_RATE_FIRST = re.compile(
    rf"(?i)(?<![\w./]){_A_STEP}(?:e?s)?(?:/|[ _]per[ _])s(?:ec(?:ond)?)?['\"]?\s*[:=]\s*['\"]?(?P<number>{_NUMBER})"
)

#: Durations have one digit of hours, mostly.
_TIME_OF_DAY = re.compile(r"\d\d:\d\d:\d\d(?:\.\d+)?")

#: A time of so many seconds is one since 1970.
_LEAST_MOMENT = 1e9

#: The whole of a training, at its end.
_WHOLE = re.compile(
    r"(?im)\b(?P<word>(?:total )?train(?:ing)? time"
    rf"|train(?:ing)? (?:took|(?:completed?|finished|done) in)|done training in|trained in)\s*[:=]?\s*{_SIZE}"
)

#: No time has as many digits. The forms above would begin anew at each of them, and take minutes for some thousand.
_NO_TIME = re.compile(r"\d{40,}")


class Stated(NamedTuple):
    """A time that a line states (s): `of` is step, epoch, since or, where it only says time, plain."""

    seconds: float
    of: str
    word: str
    is_mean: bool = False  # of all steps of the epoch so far
    may_be_a_moment: bool = False  # 14:05:33 and 1700000000.5 are times of the day as well


def read(line: str) -> Iterator[Stated]:
    """Yield the times that a line states, those with a name first."""
    line = _NO_TIME.sub("#", line)
    for found in _NAMED.finditer(line):
        if _ASIDE.search(line[: found.start()]):
            continue
        of = next(name for name in ("step", "epoch", "since", "plain") if found[name])
        given = found["unit"] or found["given"] or ("s" if found["number"] else "")
        if found["mean"]:
            seconds = float(found["mean"]) * _size(found["mean_unit"] or given)
            yield Stated(seconds, of, found[of], is_mean=True)
        else:
            seconds = _seconds(found, given)
            is_moment = seconds > _LEAST_MOMENT or _TIME_OF_DAY.fullmatch(found["clock"] or "") is not None
            yield Stated(seconds, of, found[of], may_be_a_moment=is_moment and of == "plain")
    for form, of in ((_BARE, "plain"), (_PER_STEP, "step"), (_UNIT_FIRST, "step")):
        for found in form.finditer(line):
            yield Stated(float(found["number"]) * _size(found["unit"]), of, found[0].strip())
    for form in (_STEPS_PER_SECOND, _RATE_FIRST):
        for found in form.finditer(line):
            if float(found["number"]):
                yield Stated(1 / float(found["number"]), "step", found[0])


def whole(text: str) -> list[tuple[float, str]]:
    """Return the times of whole trainings that a text states at their ends (s), and under which words."""
    found = [one for one in _WHOLE.finditer(text) if one["clock"] or one["rest"] or one["unit"]]
    return [(_seconds(one, one["unit"] or ""), one["word"].lower()) for one in found]


def _size(unit: str) -> float:
    """Return the seconds of a unit: minutes, mins, min and m are one."""
    return _UNITS.get(unit.lower()) or _UNITS.get(unit[:1].lower(), 1.0)


def _seconds(found: re.Match[str], unit: str) -> float:
    if found["number"]:
        return float(found["number"]) * _size(unit)
    if found["rest"]:
        return 3_600.0 * float(found["hours"] or 0) + 60.0 * float(found["minutes"]) + float(found["rest"])
    seconds = 0.0
    for part in found["clock"].split(":"):
        seconds = 60 * seconds + float(part)
    return 86_400.0 * float(found["days"] or 0) + seconds
