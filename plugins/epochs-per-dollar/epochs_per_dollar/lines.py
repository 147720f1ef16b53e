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
    r"infer\w*|sav\w+|checkpoint\w*|compil\w*|preprocess\w*|extract\w*|resolv\w*|fetch\w*)\b"
)


class Tick(NamedTuple):
    """Progress as a program said it: `done` of `total` units are done, or begun.

    `series` names the bar or the kind of line, without its numbers: counts of one series follow each other.
    `unit` is what is counted (step, epoch, round, sample, token), `source` the form that was read.
    `epoch` is the number of the epoch that the same line names, before the count, and `epochs` of how many;
    `each_epoch` is how many units an epoch has, of a count that goes on from epoch to epoch. `eta` is what the program
    says that it still takes.
    """

    series: str
    unit: str
    done: float
    total: float | None
    source: str
    epoch: float | None = None
    epochs: float | None = None
    each_epoch: float | None = None
    eta: etas.Left | None = None


class _Epoch(NamedTuple):
    number: float | None = None
    of: float | None = None
    #: Where its words begin in the line.
    place: int = 0

    def before(self, place: int) -> tuple[float | None, float | None]:
        """Return number and total for a count at `place`: of an epoch that is named after it, it is no part."""
        return (self.number, self.of) if self.place <= place else (None, None)


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


# As tqdm writes counts of whatever unit: 120, 1.50k
_AMOUNT = r"\d+(?:\.\d+)?[kMGT]?"
# `Epoch 3:  12%|█▏        | 120/1000 [00:12<01:28, 10.0it/s, loss=2.3]`
_BAR = re.compile(
    rf"^(?P<desc>.*?):?\s*\d+%\|[^|]*\|\s*(?P<count>{_AMOUNT})/(?P<total>{_AMOUNT})\s*"
    r"(?:\[[\d:]+<[^,\]]*(?:,\s*(?P<rate>[\d.?]+)\s*(?P<per>[^,\]\s]+))?|$)"
)
# `120it [00:12, 10.0it/s]`
_OPEN_BAR = re.compile(
    rf"^(?:(?P<desc>.*?):\s*)?(?P<count>{_AMOUNT})\s?(?P<unit>[A-Za-z]+) "
    r"\[[\d:]+, *(?P<rate>[\d.?]+)\s*(?P<per>[^,\]\s]+)"
)
# `Epoch 1/4 ━━━━━╸━━━━ 120/1000 0:00:12 • 0:01:28 10.0it/s`, YOLO's of today: `640: 12% ━─────────── 12/200 10.1it/s`
_RICH = re.compile(r"^(?P<desc>.*?)\s*[━╸╺─]{4,}\s*(?P<count>\d+)/(?P<total>\d+)\b")
# `Progress on:train 1.00kit/10.0kit rate:20.0it/s remaining:07:30`: tqdm where it is logged
_LOGGED_BAR = re.compile(
    rf"\bProgress on:(?P<desc>.*?)\s*(?P<count>{_AMOUNT})(?P<unit>[A-Za-z]*)/(?P<total>{_AMOUNT})(?P=unit)\s"
)
# `120/1000 ━━━━━━━━━━━━ 5s 3ms/step - loss: 2.3`, `120/1000 [==>....] - ETA: 5s`, `1000/1000 - 5s - loss: 2.3`
_KERAS = re.compile(r"^(?P<count>\d+)/(?P<total>\d+)\s+(?:━|\[[=>.]|- \d+m?s\b)")
# `[12]  train-rmse:0.31`, `12:  learn: 0.52  total: 1.2s  remaining: 5s`
_BOOSTER = re.compile(r"^(?:\[[^\]]*\]\s*)?\[(?P<count>\d+)\]\s+\S*[:#'-]|^(?P<other>\d+):\s+(?:learn|test):")
# `Train Epoch: 1 [640/60000 (1%)]`, `Epoch: [0][  10/5005]`, `[0/300][120/1251]`, `[120/1000]`; not `[11/25 12:00:00]`
_COUNT = r"\d{1,3}(?:,\d{3})+|\d+(?:\.\d+)?[kKMG]|\d+"
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
# `Num Epochs = 3` of Transformers, which says how many there are
_HOW_MANY = re.compile(r"(?i)\b(?:num(?:ber of)?|total|max(?:imum)?) (?:train(?:ing)? )?$")
EPOCHS_IN_ALL = "epochs in all"
# `Train: [0/300][120/1251]`, `[0/25][120/1583]`, `Train: 0 [ 120/1251 (10%)]`: the first is the epoch
_EPOCH_AND_STEP = re.compile(
    r"(?i)(?:\[\s*(?P<count>\d+)\s*/\s*(?P<total>\d+)\s*\]|^(?:train|test|val\w*|eval\w*):?\s*(?P<alone>\d+))(?=\s*\[\s*\d+\s*/\s*\d+)"
)
# `epoch 001:  100 / 1101 loss=2.3 ... num_updates=100` of fairseq: the one is of an epoch, the other goes on
_WITHIN = re.compile(r"\W*\d+\s*/\s*(?P<total>\d+)\b")
# `pass 3/20`, `0.1k/50k`, `3 of 20`: nothing else was found in the line
_OF = re.compile(rf"(?<![\w/.,:-])(?P<count>{_COUNT})\s*(?:/|of|out of)\s*(?P<total>{_COUNT})(?![\w/.:%-]|,\d)")
# `Training  [####------]  34%  00:00:10`, `Working... ━━━━━ 34% 0:00:12`, `Progress: 34.5%`: a bar, or such a word
_PERCENT = re.compile(
    r"^(?P<desc>.*?)(?:[\u2500-\u259f]{3,}|\[[#=>. *-]{5,}\]|\b(?i:progress|completed?|done|finished)\b)[\s:=|(\[]*"
    r"(?:at\s)?(?<![\d.])(?P<count>\d{1,3}(?:\.\d+)?)\s?%"
    r"|^(?:(?P<name>[^%\d]*?):)?\s*(?P<first>\d{1,3}(?:\.\d+)?)\s?%\s*"
    r"(?:[|\[]?[\u2500-\u259f]|[|\[][#=>. *-]{5,}|(?i:done|complete))"
)
# `Epoch 1/4 [ 34%] loss 2.3`, after the words of the epoch
_PERCENT_OF_EPOCH = re.compile(r"\W*[\[(|]\s*(?P<count>\d{1,3}(?:\.\d+)?)\s?%\s*[\])|]")
_BYTES = re.compile(r"\d\s?[kKMGT]i?B\b|\bB/s")
# `steps left: 4990`, `50 iterations remaining`, `480 to go`
_STEPS_WORD = r"(?:steps?|iterations?|iters?|batch(?:es)?|updates?)"
_LEFT = re.compile(
    rf"(?i)\b{_STEPS_WORD}\s+(?:left|remaining|to go)\s*[:=]?\s*(?P<after>\d[\d,]*)\b"
    rf"|(?<![\d.:])(?P<before>\d[\d,]*)\s+(?:more\s+)?(?:{_STEPS_WORD}\s+)?(?:left|remaining|to go)\b"
)
# `1-50batch`, `1200 it`, `190 iter`: the count before its word, where nothing else was found in the line
_BEFORE_ITS_WORD = re.compile(
    r"(?i)(?<![\w./,-])(?<!\d:)(?:\d+-)?(?P<count>\d[\d,]*)\s?"
    r"(?P<word>iter(?:ation)?|it|step|batche?|update|sample|example|image|token)s?\b"
    r"(?!\s*(?:/|per\b|left|remaining|to go))"
)
# `[2,  2000] loss: 2.173` of PyTorch's tutorials, `Ep. 1 : Up. 100 : Sen. 6,400` of Marian
_EPOCH_AND_COUNT = re.compile(
    r"^\[\s*(?P<epoch>\d+)\s*,\s*(?P<count>\d+)\s*\]\s*(?:\w+ )?\w*loss\b|\bEp\. (?P<ep>\d+) : Up\. (?P<up>\d[\d,]*)"
)
# `12: 900.1, 950.2 avg loss` of Darknet
_NUMBERED = re.compile(r"^(?P<count>\d+):\s+(?:[\d.]+, .*)?(?:\w+[ _])?loss\b")
# `|    total_timesteps      | 4096        |`, of stable-baselines3 and OpenAI's baselines
_ROW = re.compile(
    r"^[|│┃]\s*(?:\w+/)?(?P<key>total_timesteps|num_timesteps|global_step|steps)\s*[|│┃]\s*(?P<count>\d+)\s*[|│┃]"
)
# `epoch=0/micro_step=40/global_step=10, RunningAvgSamplesPerSec=35.1`
_DEEPSPEED = re.compile(r"\bepoch=\d+/micro_step=\d+/global_step=(?P<count>\d+)")
# Optuna's: `Trial 3 finished with value: 0.1`, `Trial 4 pruned.`
_SEARCH = re.compile(r"\bTrial (?P<count>\d+) (?:finished with|pruned|failed)\b")
# Ray Tune's: `Trial train_5a7f3_00000 finished iteration 3 at 2026-...`,
# `Number of trials: 9/10 (2 RUNNING, 7 TERMINATED)`, `Trial status: 7 TERMINATED | 2 RUNNING | 1 PENDING`
_TRIAL = re.compile(r"^Trial (?P<trial>\S+) finished iteration (?P<count>\d+)\b")
_TRIALS = re.compile(r"^(?:Number of trials: \d+/(?P<total>\d+)|Trial status:)(?P<states>.*)")
_STATES = re.compile(r"(\d+) ([A-Z]+)")
_STEP_KEYS = (
    *("step", "global_step", "train_step", "iter", "iteration", "_step", "steps", "num_steps", "num_updates", "update"),
    *("current_steps", "batch", "batch_idx"),
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
        if not _NO_STEPS.match(unit):
            yield _bar(found, unit, "tqdm's bar", epoch)
    elif ("━" in line or "───" in line) and (found := _RICH.match(line)):
        yield _bar(found, "step", "rich's bar", epoch)
    elif line[:1].isdigit() and (found := _KERAS.match(line)):
        yield Tick("", "step", float(found["count"]), float(found["total"]), "Keras's bar", epoch.number, epoch.of)
    elif "[" in line and (found := _OPEN_BAR.match(line)):
        unit = _unit(found["unit"])
        if not _NO_STEPS.match(unit):
            yield _bar(found, unit, "tqdm's bar", epoch)
    elif "Progress on:" in line and (found := _LOGGED_BAR.search(line)):
        unit = _unit(found["unit"])
        if not _NO_STEPS.match(unit):
            yield _bar(found, unit, "tqdm's logged bar", epoch)


def _bar(found: Match[str], unit: str, source: str, epoch: _Epoch) -> Tick:
    """Return what a bar says; YOLO's begins with the epoch: `1/20  2.1G  1.2 ...: 6%|`."""
    desc, groups = found["desc"] or "", found.groupdict()
    number, of = epoch.before(found.start("count"))
    if number is None and (begins := _OF.match(desc.strip())):
        number, of = _number(begins["count"]), _number(begins["total"])
    total = _number(groups["total"]) if groups.get("total") else None
    return Tick(_name(desc), unit, _number(found["count"]), total, source, number, of)


def _rows(line: str) -> dict[str, Any] | None:
    """Return what a line of JSON says; a printed dictionary of Python is read as one where it can be."""
    begin = line.find("{")  # after the time and level of a log's line
    if begin < 0 or not line.endswith("}") or (begin and not line[begin - 1].isspace() and line[begin - 1] != ":"):
        return None
    line = line[begin:]
    for text in (line, line.replace("'", '"')):
        try:
            row = json.loads(text)
        except (ValueError, RecursionError):
            continue
        if isinstance(row, dict):
            # Transformers 5 prints {'loss': '6.134', 'epoch': '0.32'}, fairseq {"num_updates": "100"}.
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
    # A part of an epoch says how long one is, if it has three digits: fairseq's `update`, `epoch` of others.
    parts = [
        value for _, value in _numbers(row, ("update", "epoch")) if len(f"{value}".replace(".", "").strip("0")) > 2
    ]
    for key, value in _numbers(row, _STEP_KEYS):
        if value != int(value):
            continue
        name = _name(f"JSON {key}{' eval' if _is_aside(row) else ''}")
        each = float(round(value / parts[0])) if parts and parts[0] != int(parts[0]) else None
        yield Tick(name, "step", value, total, "JSON lines", epoch, each_epoch=each)
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
    epoch = _Epoch(float(named["count"]), _total(named), named.start()) if named else _Epoch()
    if not named and (named := _EPOCH_AND_STEP.search(line)):
        epoch = _Epoch(float(named["count"] or named["alone"]), _total(named), named.start())
    ticks = list(_bars(line, epoch))
    if ticks:
        return ticks
    if found := _BOOSTER.match(line):
        return [Tick(_BOOSTERS, "round", float(found["count"] or found["other"]), None, _BOOSTERS)]
    if found_ticks := list(_tables(line)):
        return found_ticks
    readers: tuple[Callable[[str, _Epoch], Tick | None], ...] = (_brackets, _step, _epochs)
    found_ticks = [tick for reader in readers if (tick := reader(line, epoch))]
    end = named.end() if named else 0
    if all(tick.unit == "epoch" for tick in found_ticks):
        more = _of(line, end, epoch) or _percent(line, epoch, end if named else None)
        more = more or (None if found_ticks else _left(line, epoch)) or _before_its_word(line, epoch)
        found_ticks += [more] if more else []
    elif named and (within := _WITHIN.match(line, end)):
        each = _number(within["total"])
        found_ticks = [
            tick._replace(each_epoch=each) if tick.unit == "step" and not tick.total else tick for tick in found_ticks
        ]
    units: dict[str, Tick] = {}
    for tick in found_ticks:
        units.setdefault(tick.unit, tick)
    return list(units.values())


def _tables(line: str) -> Iterator[Tick]:
    """Yield what lines of a form of their own say: of reinforcement learning, of searches, of some programs."""
    if line[:1] in "|│┃" and (found := _ROW.match(line)):
        yield Tick(found["key"], "step", float(found["count"]), None, "a table's rows")
    elif "/global_step=" in line and (found := _DEEPSPEED.search(line)):
        yield Tick("DeepSpeed global_step", "step", float(found["count"]), None, "log lines")
    elif (line[:1] == "[" or "Ep. " in line) and (found := _EPOCH_AND_COUNT.search(line)):
        count = _number(found["count"] or found["up"])
        # Marian's updates go on, and those of the tutorials begin anew.
        name, number = ("[epoch, #]", float(found["epoch"])) if found["epoch"] else ("Up. #", None)
        yield Tick(name, "step", count, None, "log lines", number)
    elif line[:1].isdigit() and (found := _NUMBERED.match(line)):
        yield Tick("#: loss", "step", float(found["count"]), None, "log lines")
    elif "Trial " in line and (found := _SEARCH.search(line)):
        yield Tick("Trial #", "trial", float(found["count"]), None, "log lines")
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
    name = f"{_name(line[: found.start()])} left".strip()
    return Tick(name, "step", count, None, "log lines", *epoch.before(found.start()))


def _before_its_word(line: str, epoch: _Epoch) -> Tick | None:
    found = _BEFORE_ITS_WORD.search(line)
    if not found or _BYTES.search(line):
        return None
    word = found["word"].lower()
    unit = word if word in ("sample", "example", "image", "token") else "step"
    name, count = _name(f"{line[: found.start()]} # {word}"), _number(found["count"])
    return Tick(name, unit, count, None, "log lines", *epoch.before(found.start()))


def _percent(line: str, epoch: _Epoch, end: int | None) -> Tick | None:
    """Return what a bar says that has no count, but for a bar of bytes, or what stands behind an epoch at `end`."""
    if "%" not in line or _BAR.match(line) or _BYTES.search(line):
        return None
    found = _PERCENT.search(line) or (None if end is None else _PERCENT_OF_EPOCH.match(line, end))
    groups = found.groupdict() if found else {}
    if not found or (done := float(groups["count"] or groups["first"])) > 100:
        return None
    name = _name(groups.get("desc") or groups.get("name") or "")
    return Tick(name, "percent", done, 100.0, "a bar of percent", epoch.number, epoch.of)


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
    count, total = _number(found["count"]), _number(found["total"])
    return Tick(_name(f"{before}[]"), "unit", count, total, "log lines", *epoch.before(found.start("count")))


def _step(line: str, epoch: _Epoch) -> Tick | None:
    # `batch 32 step 100`, `step 10, batch 3/100`: the one may be a size, and the other says more.
    found: Match[str] | None = None
    for one in _STEP.finditer(line):
        if found is None or one["total"] or found["word"].lower() == "batch":
            found = one
        if found["total"]:
            break
    if not found:
        return None
    name = _name(f"{line[: found.start('word')]} {found['word'].lower()} #{_words(line[found.end() :])}")
    unit = word if (word := found["word"].lower()) in ("episode", "generation", "round") else "step"
    count = _number(found["count"])
    # Batches are those of an epoch, wherever that is named: `batch 10/500 (epoch 1/3)`.
    where = len(line) if "batch" in found["word"].lower() else found.start()
    return Tick(name, unit, count, _total(found), "log lines", *epoch.before(where))


def _total(found: Match[str]) -> float | None:
    return _number(found["total"]) if found["total"] else None


def _of(line: str, begin: int, epoch: _Epoch) -> Tick | None:
    """Return what `3 / 20` says, after the words of an epoch where there are some."""
    found = None if "%|" in line else _OF.search(line, begin)  # a bar that is none of a training
    if not found or _number(found["count"]) > _number(found["total"]):
        return None
    name = _name(f"{line[: found.start()]} #")
    count, total = _number(found["count"]), _number(found["total"])
    return Tick(name, "unit", count, total, "log lines", *epoch.before(found.start()))


def _words(rest: str) -> str:
    """Return the first word after a count: `iter 5: loss` and `step 5: val loss` are lines of two kinds."""
    found = re.match(r"\W*([A-Za-z_]+(?: [A-Za-z_]+)?)", rest)
    return f" {found[1].lower()}" if found else ""


def _epochs(line: str, epoch: _Epoch) -> Tick | None:
    found = _EPOCH.search(line)
    if not found:
        return None
    if _HOW_MANY.search(line[: found.start()]):
        return Tick(EPOCHS_IN_ALL, "epoch", float(found["count"]), float(found["count"]), "log lines")
    name = _name(f"{line[: found.start()]} epoch #{_words(line[found.end() :])}")
    return Tick(name, "epoch", float(found["count"]), _total(found), "log lines", epoch.number, epoch.of)
