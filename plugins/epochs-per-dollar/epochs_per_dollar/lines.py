"""Reads progress off the lines that programs print: progress bars, log lines, JSON lines.

A line is matched against the forms below, which are those of the field's programs; nothing is ever run or evaluated.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from re import Match, Pattern
from typing import Any, Callable, NamedTuple

from epochs_per_dollar import etas

#: Longer lines are no progress; their beginning is looked at. Colours and moves of the cursor do not count.
LINE_CHARACTERS = 600
_RAW_CHARACTERS = 8 * LINE_CHARACTERS

_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])|[\x00-\x08\x0b-\x1f]")
_LETTER = re.compile(r"[^\W\d_]")
_LEVELS = {"DEBUG", "INFO", "WARNING", "root"}
_DIGITS = re.compile(r"\d+(?:[.,]\d+)*")
#: What draws a bar: blocks and spinners, and signs that stand in a row. A name keeps none of it.
_DRAWN = re.compile(r"[\u2190-\u2bff\U0001f300-\U0001faff]+|[#=>.*_-]{3,}")
_SIZES = {"": 1.0, "k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}

#: Units of downloads and of other things that are no training.
_NO_STEPS = re.compile(r"^(?:[kMGT]?i?B|bytes?|files?|shards?|examples? to)$")

#: What a program calls work that is part of a training and not its steps.
ASIDE = re.compile(
    r"(?i)\b(?:eval\w*|valid\w*|val|test\w*|sanity|predict\w*|generat\w*|download\w*|loading|load|map|filter|tokeni[sz]\w*|"
    r"sav\w+|checkpoint\w*|compil\w*|preprocess\w*|extract\w*|resolv\w*|fetch\w*)\b"
)


class Tick(NamedTuple):
    """Progress as a program said it: `done` of `total` units are done, or begun.

    `series` names the bar or the kind of line, without its numbers: counts of one series follow each other.
    `unit` is what is counted (step, epoch, round, sample, token), `source` the form that was read.
    `epoch` is the number of the epoch that the same line names, `epochs` of how many. `eta` is what the program
    says that it still takes (s).
    """

    series: str
    unit: str
    done: float
    total: float | None
    source: str
    epoch: float | None = None
    epochs: float | None = None
    eta: float | None = None


class _Epoch(NamedTuple):
    number: float | None = None
    of: float | None = None


def plain(line: str) -> str:
    """Return a line without what moves the cursor or colours."""
    return _ESCAPES.sub("", line[:_RAW_CHARACTERS]).strip()[:LINE_CHARACTERS]


def _number(text: str) -> float:
    size = text[-1] if text[-1] in _SIZES else ""
    return float(text.rstrip("kKMGT").replace(",", "")) * _SIZES[size]


def _name(text: str) -> str:
    """Return how a series is called: its words, with # for numbers, without the time and level of a log's line."""
    words = _DIGITS.sub("#", _DRAWN.sub(" ", text)).split()
    while len(words) > 1 and (words[0].strip("[]|:") in _LEVELS or not _LETTER.search(words[0])):
        words.pop(0)
    return " ".join(words)[-60:]


# `Epoch 3:  12%|█▏        | 120/1000 [00:12<01:28, 10.0it/s, loss=2.3]`
_BAR = re.compile(
    r"^(?P<desc>.*?):?\s*\d+%\|[^|]*\|\s*(?P<count>[\d.]+[kMGT]?)/(?P<total>[\d.]+[kMGT]?)\s*"
    r"(?:\[[\d:]+<[^,\]]*(?:,\s*(?P<rate>[\d.?]+)\s*(?P<per>[^,\]\s]+))?|$)"
)
# `120it [00:12, 10.0it/s]`
_OPEN_BAR = re.compile(
    r"^(?:(?P<desc>.*?):\s*)?(?P<count>[\d.]+[kMGT]?)\s?(?P<unit>[A-Za-z]+) "
    r"\[[\d:]+, *(?P<rate>[\d.?]+)\s*(?P<per>[^,\]\s]+)"
)
# `Epoch 1/4 ━━━━━╸━━━━ 120/1000 0:00:12 • 0:01:28 10.0it/s`
_RICH = re.compile(r"^(?P<desc>.*?)\s*[━╸╺]{4,}\s*(?P<count>\d+)/(?P<total>\d+)\b")
# `120/1000 ━━━━━━━━━━━━ 5s 3ms/step - loss: 2.3`, `120/1000 [==>....] - ETA: 5s`, `1000/1000 - 5s - loss: 2.3`
_KERAS = re.compile(r"^(?P<count>\d+)/(?P<total>\d+)\s+(?:━|\[[=>.]|- \d+m?s\b)")
# `[12]  train-rmse:0.31`, `12:  learn: 0.52  total: 1.2s  remaining: 5s`
_BOOSTER = re.compile(r"^(?:\[[^\]]*\]\s*)?\[(?P<count>\d+)\]\s+\S*[:#'-]|^(?P<other>\d+):\s+(?:learn|test):")
# `Train Epoch: 1 [640/60000 (1%)]`, `Epoch: [0][  10/5005]`, `[0/300][120/1251]`, `[120/1000]`; not `[11/25 12:00:00]`
_COUNT = r"\d+(?:\.\d+)?[kKMG]|\d+"
_BRACKETS = re.compile(
    rf"(?P<epoch>\[\s*\d+\s*/\s*\d+\s*\]\s*)?\[\s*(?P<count>{_COUNT})\s*/\s*(?P<total>{_COUNT})\b(?!/\d| \d\d:\d\d)"
)
_STEP = re.compile(
    r"(?i)(?<![\w/-])(?:global[_ ]?|train(?:ing)?[_ ]?|num_)?"
    r"(?P<word>iter(?:ation)?|it(?=\s*[:=])|step|batch|update|mini-?batch|episode|generation|round)s?"
    r"(?:_num|_idx|_id)?['\"]?\s*[:=#]?\s*['\"]?\[?\s*(?P<count>\d[\d,]*)\b(?!\s*(?:%|[kM]?i?B\b|m?s\b|sec|\.\d))"
    r"(?:\s*(?:/|of|out of)\s*(?P<total>\d[\d,]*))?"
)
_EPOCH = re.compile(
    r"(?i)(?<![\w/])epochs?(?:\((?:train|val|test)\))?['\"]?\s*[:=#]?\s*[\[(]?\s*(?P<count>\d+(?:\.\d+)?)\b(?!\s*(?:%|m?s\b|sec))"
    r"(?:\s*(?:/|of|out of)\s*(?P<total>\d+))?"
)
# `Train: [0/300][120/1251]`, `[0/25][120/1583]`, `Train: 0 [ 120/1251 (10%)]`: the first is the epoch
_EPOCH_AND_STEP = re.compile(
    r"(?i)(?:\[\s*(?P<count>\d+)\s*/\s*(?P<total>\d+)\s*\]|^(?:train|test|val\w*|eval\w*):?\s*(?P<alone>\d+))(?=\s*\[\s*\d+\s*/\s*\d+)"
)
# `pass 3/20`, `0.1k/50k`, `3 of 20`: nothing else was found in the line
_OF = re.compile(rf"(?<![\w/.:-])(?P<count>{_COUNT})\s*(?:/|of|out of)\s*(?P<total>{_COUNT})(?![\w/.:%-])")
# `Training  [####------]  34%  00:00:10`, `Working... ━━━━━ 34% 0:00:12`, `Progress: 34.5%`: a bar, or such a word
_PERCENT = re.compile(
    r"^(?P<desc>.*?)(?:[\u2500-\u259f]{3,}|\[[#=>. *-]{5,}\]|\b(?i:progress|completed?|done|finished)\b)[\s:=|(\[]*"
    r"(?<![\d.])(?P<count>\d{1,3}(?:\.\d+)?)\s?%"
    r"|^(?:(?P<name>[^%\d]*?):)?\s*(?P<first>\d{1,3}(?:\.\d+)?)\s?%\s*"
    r"(?:[|\[]?[\u2500-\u259f]|[|\[][#=>. *-]{5,}|(?i:done|complete))"
)
_BYTES = re.compile(r"\d\s?[kKMGT]i?B\b|\bB/s")
# `steps left: 4990`, `50 iterations remaining`, `480 to go`
_STEPS_WORD = r"(?:steps?|iterations?|iters?|batch(?:es)?|updates?)"
_LEFT = re.compile(
    rf"(?i)\b{_STEPS_WORD}\s+(?:left|remaining|to go)\s*[:=]?\s*(?P<after>\d[\d,]*)\b"
    rf"|(?<![\d.:])(?P<before>\d[\d,]*)\s+(?:more\s+)?(?:{_STEPS_WORD}\s+)?(?:left|remaining|to go)\b"
)
# `|    total_timesteps      | 4096        |`, of stable-baselines3 and OpenAI's baselines
_ROW = re.compile(
    r"^[|│┃]\s*(?:\w+/)?(?P<key>total_timesteps|num_timesteps|global_step|steps)\s*[|│┃]\s*(?P<count>\d+)\s*[|│┃]"
)
# `epoch=0/micro_step=40/global_step=10, RunningAvgSamplesPerSec=35.1`
_DEEPSPEED = re.compile(r"\bepoch=\d+/micro_step=\d+/global_step=(?P<count>\d+)")
# Ray Tune's: `Trial train_5a7f3_00000 finished iteration 3 at 2026-...`,
# `Number of trials: 9/10 (2 RUNNING, 7 TERMINATED)`, `Trial status: 7 TERMINATED | 2 RUNNING | 1 PENDING`
_TRIAL = re.compile(r"^Trial (?P<trial>\S+) finished iteration (?P<count>\d+)\b")
_TRIALS = re.compile(r"^(?:Number of trials: \d+/(?P<total>\d+)|Trial status:)(?P<states>.*)")
_STATES = re.compile(r"(\d+) ([A-Z]+)")
_STEP_KEYS = (
    *(
        "step",
        "global_step",
        "train_step",
        "iter",
        "iteration",
        "_step",
        "steps",
        "num_steps",
        "update",
        "current_steps",
    ),
)
_WRITTEN = re.compile(r"\d+(?:\.\d+)?(?:e[+-]?\d+)?")
_TOTAL_KEYS = ("max_steps", "total_steps", "num_training_steps", "total_iters", "max_iters")
_BOOSTERS = "boosting log"


def _unit(per: str | None) -> str:
    """Return the unit of a bar's rate: `10it/s` and `0.1s/it` count steps."""
    name = (per or "it/s").replace("/s", "").replace("s/", "").strip("0123456789.?")
    return {"it": "step", "batch": "step", "tok": "token", "tokens": "token", "samples": "sample", "img": "sample"}.get(
        name, name
    )


def _bars(line: str, epoch: _Epoch) -> Iterator[Tick]:
    if "%|" in line and (found := _BAR.match(line)):
        unit = _unit(found["per"])
        # YOLO's bar begins with the epoch: `1/20  2.1G  1.2 ...: 6%|`.
        if epoch.number is None and (begins := _OF.match(found["desc"].strip())):
            epoch = _Epoch(float(begins["count"]), float(begins["total"]))
        if not _NO_STEPS.match(unit):
            yield Tick(
                _name(found["desc"]), unit, _number(found["count"]), _number(found["total"]), "tqdm's bar", *epoch
            )
    elif "━" in line and not line[:1].isdigit() and (found := _RICH.match(line)):
        yield Tick(_name(found["desc"]), "step", float(found["count"]), float(found["total"]), "rich's bar", *epoch)
    elif line[:1].isdigit() and (found := _KERAS.match(line)):
        yield Tick("", "step", float(found["count"]), float(found["total"]), "Keras's bar", *epoch)
    elif "[" in line and (found := _OPEN_BAR.match(line)):
        unit = _unit(found["unit"])
        if not _NO_STEPS.match(unit):
            yield Tick(_name(found["desc"] or ""), unit, _number(found["count"]), None, "tqdm's bar", *epoch)


def _rows(line: str) -> dict[str, Any] | None:
    """Return what a line of JSON says; a printed dictionary of Python is read as one where it can be."""
    begin = line.find("{")  # after the time and level of a log's line
    if begin < 0 or not line.endswith("}") or (begin and not line[begin - 1].isspace() and line[begin - 1] != ":"):
        return None
    line = line[begin:]
    for text, is_python in ((line, False), (line.replace("'", '"'), True)):
        try:
            row = json.loads(text)
        except (ValueError, RecursionError):
            continue
        if isinstance(row, dict):
            if is_python:  # Transformers 5 prints {'loss': '6.134', 'epoch': '0.32'}
                row = {key: _number_in(value) for key, value in row.items()}
            # What is nested counts as well: `{"progress": {"step": 3}}`.
            return {
                **{key: value for part in row.values() if isinstance(part, dict) for key, value in part.items()},
                **row,
            }
    return None


def _number_in(value: Any) -> Any:
    return float(value) if isinstance(value, str) and _WRITTEN.fullmatch(value) else value


def _numbers(row: dict[str, Any], keys: tuple[str, ...]) -> Iterator[tuple[str, float]]:
    for key in keys:
        value = row.get(key)
        if isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value < 1e15:
            yield key, float(value)


def _json(row: dict[str, Any]) -> Iterator[Tick]:
    total = next((value for _, value in _numbers(row, _TOTAL_KEYS)), None)
    epoch = next((value for _, value in _numbers(row, ("epoch",))), None)
    for key, value in _numbers(row, _STEP_KEYS):
        if value != int(value):
            continue  # a part of an epoch, as fairseq's `update`
        yield Tick(_name(f"JSON {key}{' eval' if _is_aside(row) else ''}"), "step", value, total, "JSON lines", epoch)
        return
    if epoch is not None and not _is_aside(row):
        total = next((value for _, value in _numbers(row, ("num_epochs", "max_epochs", "epochs"))), None)
        yield Tick("JSON epoch", "epoch", epoch, total, "JSON lines", epoch)


def _is_aside(row: dict[str, Any]) -> bool:
    """Return whether a line is of an evaluation: it has values of one and none of a training."""
    names = [str(key) for key in row]
    return any(ASIDE.match(name.replace("_", " ")) for name in names) and not any(
        name in ("loss", "train_loss", "train/loss", "learning_rate", "lr", "grad_norm") for name in names
    )


def read(line: str, pattern: Pattern[str] | None = None) -> list[Tick]:
    """Return the progress that a line says, and how long the program says that it still takes."""
    ticks = _read(line, pattern)
    if ticks and (eta := etas.read(plain(line))) is not None:
        return [tick._replace(eta=eta) for tick in ticks]
    return ticks


def _read(line: str, pattern: Pattern[str] | None = None) -> list[Tick]:
    """Return the progress that a line says, at most one tick of each unit; none for most lines.

    `pattern` is the user's own: its group `count` (or first group) is the count, its group `total` the total.
    """
    line = plain(line)
    if not line:
        return []
    if pattern is not None:
        return list(_own(line, pattern))
    if not any(character.isdigit() for character in line):
        return []
    row = _rows(line)
    if row is not None and ((ticks := list(_json(row))) or line.startswith("{")):
        return ticks
    named = next(_EPOCH.finditer(line), None)
    epoch = _Epoch(float(named["count"]), _total(named)) if named else _Epoch()
    if not named and (named := _EPOCH_AND_STEP.search(line)):
        epoch = _Epoch(float(named["count"] or named["alone"]), _total(named))
    ticks = list(_bars(line, epoch))
    if ticks:
        return ticks
    if found := _BOOSTER.match(line):
        return [Tick(_BOOSTERS, "round", float(found["count"] or found["other"]), None, _BOOSTERS)]
    if found_ticks := list(_tables(line)):
        return found_ticks
    readers: tuple[Callable[[str, _Epoch], Tick | None], ...] = (_brackets, _step, _epochs)
    found_ticks = [tick for reader in readers if (tick := reader(line, epoch))]
    if all(tick.unit == "epoch" for tick in found_ticks):
        more = _of(line, named.end() if named else 0, epoch) or _percent(line, epoch)
        more = more or (None if found_ticks else _left(line, epoch))
        found_ticks += [more] if more else []
    units: dict[str, Tick] = {}
    for tick in found_ticks:
        units.setdefault(tick.unit, tick)
    return list(units.values())


def _tables(line: str) -> Iterator[Tick]:
    """Yield what lines of DeepSpeed, of reinforcement learning and of searches say."""
    if line[:1] in "|│┃" and (found := _ROW.match(line)):
        yield Tick(found["key"], "step", float(found["count"]), None, "a table's rows")
    elif "/global_step=" in line and (found := _DEEPSPEED.search(line)):
        yield Tick("DeepSpeed global_step", "step", float(found["count"]), None, "log lines")
    elif line.startswith("Trial ") and (found := _TRIAL.match(line)):
        yield Tick(f"Trial {found['trial']}", "iteration", float(found["count"]), None, "Ray Tune's lines")
    elif found := _TRIALS.match(line):
        states = [(float(count), state) for count, state in _STATES.findall(found["states"])]
        total = float(found["total"]) if found["total"] else sum(count for count, _ in states)
        done = sum(count for count, state in states if state in ("TERMINATED", "ERROR"))
        yield Tick("trials", "trial", done, total, "Ray Tune's lines")


def _left(line: str, epoch: _Epoch) -> Tick | None:
    found = _LEFT.search(line)
    if not found:
        return None
    count = float((found["after"] or found["before"]).replace(",", ""))
    return Tick(f"{_name(line[: found.start()])} left".strip(), "step", count, None, "log lines", *epoch)


def _percent(line: str, epoch: _Epoch) -> Tick | None:
    """Return what a bar says that has no count, but for a bar of bytes."""
    found = None if "%" not in line or _BAR.match(line) or _BYTES.search(line) else _PERCENT.search(line)
    if not found or (done := float(found["count"] or found["first"])) > 100:
        return None
    return Tick(_name(found["desc"] or found["name"] or ""), "percent", done, 100.0, "a bar of percent", *epoch)


def heard(text: str) -> tuple[float, Tick | None]:
    """Return what `watch()` sent: `time.monotonic()` of the tick, and the tick; None of what is no such message."""
    try:
        now, count, total, unit = text.split(" ")
        return float(now), Tick("watch", unit, float(count), float(total) if total else None, "watch() in its loop")
    except ValueError:
        return 0.0, None


def _own(line: str, pattern: Pattern[str]) -> Iterator[Tick]:
    found = pattern.search(line)
    if not found:
        return
    groups = found.groupdict()
    try:
        count = _number(groups.get("count") or found.group(1))
        total = _number(groups["total"]) if groups.get("total") else None
    except (ValueError, IndexError, TypeError):
        return
    yield Tick("--pattern", "step", count, total, "your --pattern")


def _brackets(line: str, epoch: _Epoch) -> Tick | None:
    found = _BRACKETS.search(line)
    if not found:
        return None
    before = line[: found.start()].rstrip().lower()
    if before.endswith(("epoch", "epochs", "epoch:")) and not found["epoch"]:
        return None
    # Counters in brackets are of steps, or of samples where they go up in batches: the line does not say which.
    return Tick(_name(f"{before}[]"), "unit", _number(found["count"]), _number(found["total"]), "log lines", *epoch)


def _step(line: str, epoch: _Epoch) -> Tick | None:
    found = _STEP.search(line)
    if not found:
        return None
    name = _name(f"{line[: found.start()]} {found['word'].lower()} #{_words(line[found.end() :])}")
    unit = word if (word := found["word"].lower()) in ("episode", "generation", "round") else "step"
    return Tick(name, unit, float(found["count"].replace(",", "")), _total(found), "log lines", *epoch)


def _total(found: Match[str]) -> float | None:
    return float(found["total"].replace(",", "")) if found["total"] else None


def _of(line: str, begin: int, epoch: _Epoch) -> Tick | None:
    """Return what `3 / 20` says, after the words of an epoch where there are some."""
    found = None if "%|" in line else _OF.search(line, begin)  # a bar that is none of a training
    if not found or _number(found["count"]) > _number(found["total"]):
        return None
    name = _name(f"{line[: found.start()]} #")
    return Tick(name, "unit", _number(found["count"]), _number(found["total"]), "log lines", *epoch)


def _words(rest: str) -> str:
    """Return the first word after a count: `iter 5: loss` and `step 5: val loss` are lines of two kinds."""
    found = re.match(r"\W*([A-Za-z_]+(?: [A-Za-z_]+)?)", rest)
    return f" {found[1].lower()}" if found else ""


def _epochs(line: str, epoch: _Epoch) -> Tick | None:
    found = _EPOCH.search(line)
    if not found:
        return None
    name = _name(f"{line[: found.start()]} epoch #{_words(line[found.end() :])}")
    return Tick(name, "epoch", float(found["count"]), _total(found), "log lines", *epoch)
