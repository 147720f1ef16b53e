"""Console lines of Megatron-LM, DeepSpeed, torchtune, Hugging Face, Keras, and of any program that names its steps.

Steps, epochs and bars are those that `epd run` reads, by the same code; beside them stand losses. How long it took is,
in this order, what the log states (`'train_runtime': '105.2'`, the time in the bar of tqdm, the seconds in Keras's
lines), the clock at the beginning of its lines, or the time of an iteration (`elapsed time per iteration (ms): 254.1`,
`iter time (s): 0.35`), which Megatron-LM and DeepSpeed print as the mean of those since the line before, or of a step
(`dt: 245.31ms`).
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from scripts.importers import Imported, Layout, _console, _logs, _metrics, _smi
from scripts.importers._console import Line
from scripts.importers._logs import Log, Refused, count
from scripts.importers._recorder import Tick
from scripts.importers._seconds import Said

HELP = "console lines of Megatron-LM, DeepSpeed, torchtune, Hugging Face, Keras, and others that print steps and losses"

_SUFFIXES = (".log", ".txt", ".out", ".err", "")

#: Letters of a log's end in which its lines are looked for.
_LOOKED_AT = 1 << 14

#: Words that programs of one framework print.
_FRAMEWORKS = {
    "torch": r"elapsed time per iteration \(m?s\)|RunningAvgSamplesPerSec|\[deepspeed\]|log_dist"
    r"|tokens_per_second_per_gpu|train_runtime|torch\.distributed|\[rank: ?\d+\]|(?i:pytorch)",
    "keras": r"\d[mu]?s/step - ",
}

_LACKS = "its lines have no clock, no bar and no time of an iteration: print one of these, or give seconds"

#: Times that lines state.
_RUNTIME = re.compile(r"['\"]?train_runtime['\"]?\s*[:=]\s*['\"]?(\d+(?:\.\d+)?)")
_BAR = re.compile(r"%\|.*\[(?P<clock>\d+(?::\d\d){1,2})<")
_KERAS = re.compile(
    r"^(?P<done>\d+)/(?P=done)\s.*?\b(?P<seconds>\d+)s\b(?:\s+(?:-\s+)?(?P<each>\d+)(?P<unit>[mu]?s)/step)?"
)
_UNITS = {"us": 1e-6, "ms": 1e-3, "s": 1.0}
_ITERATION = re.compile(r"(?:elapsed time per iteration|\biter time) \((?P<unit>m?s)\): (?P<each>\d+(?:\.\d+)?)")
_STEP_TIME = re.compile(r"\bdt:? ?(?P<each>\d+(?:\.\d+)?) ?(?P<unit>m?s)\b")
_BEGAN = re.compile(r"\[before the start of training step\] datetime: (\S+ \S+)")
_RATE = re.compile(r"RunningAvgSamplesPerSec=(\d+(?:\.\d+)?)")

#: Below so many seconds of an epoch Keras's whole ones say less than its steps.
_FEW_SECONDS = 20

#: What programs print of themselves: `world_size ................... 8`, `using world size: 8`.
_DEVICES = re.compile(r"\bworld[_ ]size[ .:=]+(\d+)\b")
_BATCH = re.compile(r"(?:micro_batch_size(?:_per_gpu)?|Instantaneous batch size per device)[ .:=]+(\d+)\b")
_WHOLE_BATCH = re.compile(r"\b(?:train_batch_size|global[ _]batch[ _]size)[ .:=]+(\d+)\b")


def read(folder: Path, layout: Layout) -> Imported:
    """Return the runs of the logs below `folder`. Raises InputError if there is no such folder."""
    return _logs.read_logs(folder, layout, _SUFFIXES, runs_of)


def looks(name: PurePosixPath, text: str) -> bool:
    """Return whether a file is one of these: it has two lines of steps or epochs, and a loss or DeepSpeed's steps."""
    if name.suffix.lower() not in _SUFFIXES:
        return False
    found = list(_console.read(text[-_LOOKED_AT:]))
    counted = sum(line.step is not None or line.epoch is not None for line in found)
    return counted > 1 and (any(line.values for line in found) or "skipped=" in text)


def runs_of(log: Log) -> Iterator[dict[str, Any]]:
    """Yield the run of a log; none beside a fuller log of the same training. Raises Refused for one without steps."""
    if _is_console_of_another(log.path.parent):
        return
    text = _logs.text_of(log.data, lenient=True)
    found = list(_console.read(text))
    series = Counter((line.step.series, line.step.total) for line in found if line.step)
    named = [line.epoch for line in found if line.epoch is not None]
    # DeepSpeed says epoch=0 of all its steps.
    epochs = _metrics.epochs({"epoch": named}) if any(named) else None
    if not series and epochs is None:
        raise Refused("no line names a step or an epoch: 'step 10', 'Epoch 3/20', 'iteration 100/ 5000 |'")
    main = series.most_common(1)[0][0] if series else None
    steps = _counted((line, line.step) for line in found if line.step and (line.step.series, line.step.total) == main)
    cards = _smi.cards(text)
    yield {
        **_metrics.last(_console.columns(found)),
        "framework": next((name for name, words in _FRAMEWORKS.items() if re.search(words, text)), None),
        "batch_size": _number(_BATCH, text),
        "devices": len(cards) or _number(_DEVICES, text),
        "cards": _smi.words(cards),
        "epochs_done": _metrics.whole(epochs),
        "steps_done": _steps_done(steps, epochs),
        "notes": [*_early(steps), *_several(text)],
        "said": _said(found, steps, epochs, text),
    }


def _is_console_of_another(folder: Path) -> bool:
    """Return whether a log of the same training lies in a folder, which says more than its console."""
    named = ("trainer_state.json", "trainer_log.jsonl", "metrics.csv", "results.csv")
    return any((folder / name).is_file() for name in named) or any(folder.glob("checkpoint-*/trainer_state.json"))


def _said(found: Sequence[Line], steps: Sequence[tuple[Line, float]], epochs: float | None, text: str) -> Said:
    """Return what the lines say of the time."""
    runtimes, began = _RUNTIME.findall(text), _BEGAN.search(text)
    stated, word = (
        (sum(map(float, runtimes)), "train_runtime") if runtimes else (_of_bars(found), "the time in tqdm's bar")
    )
    counts = {id(line): done for line, done in steps}
    whole, rates = _number(_WHOLE_BATCH, text), _RATE.findall(text)
    last = steps[-1][1] if steps else None
    return Said(
        stated=stated,
        stated_as=word,
        epoch_seconds=_of_keras(found),
        clock=[(line.moment, counts.get(id(line))) for line in found if line.moment is not None],
        began=_console.moment(began[1]) if began else None,
        pace=_paces(steps),
        pace_is_mean=True,
        samples=whole * last if whole and last else None,
        samples_per_second=float(rates[-1]) if rates and whole else None,
        steps=last,
        epochs=epochs,
        lacks=_LACKS,
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


def _counted(ticks: Iterable[tuple[Line, Tick]]) -> list[tuple[Line, float]]:
    """Return lines with the steps that were done in all: a count that begins anew is of the next epoch, or resumed."""
    total, before, found = 0.0, 0.0, []
    for line, tick in ticks:
        total += tick.done - before if tick.done >= before else tick.done
        before = tick.done
        found.append((line, total))
    return found


def _paces(steps: Sequence[tuple[Line, float]]) -> list[tuple[float, float]]:
    """Return the mean time of the steps before each line (s), and how many were done; not of another rank's line."""
    forms = (_ITERATION, _STEP_TIME)
    found_in = [(done, next(filter(None, (form.search(line.text) for form in forms)), None)) for line, done in steps]
    timed = [(done, found) for done, found in found_in if found]
    return [
        (done, float(found["each"]) * _UNITS[found["unit"]])
        for index, (done, found) in enumerate(timed)
        if not index or done > timed[index - 1][0]
    ]


def _steps_done(steps: Sequence[tuple[Line, float]], epochs: float | None) -> int | None:
    tick = steps[-1][0].step if steps else None
    if tick and tick.total and epochs and tick.source == "Keras's bar":
        return count(tick.total * epochs)  # in a file it prints the last step of an epoch alone
    return count(steps[-1][1]) if steps else None


def _several(text: str) -> list[str]:
    several = len(_RUNTIME.findall(text))
    return [f"holds {several} trainings: their times are added up"] if several > 1 else []


def _early(steps: Sequence[tuple[Line, float]]) -> list[str]:
    """Return that a run ended before its last step, where it says of how many."""
    last = steps[-1][0].step if steps else None
    if last is None or not last.total or last.done >= last.total - 1:
        return []
    return [f"ends at step {last.done:g} of {last.total:g}"]


def _number(form: re.Pattern[str], text: str) -> int | None:
    found = form.search(text)
    return count(int(found[1])) if found else None
