"""What nanoGPT, modded-nanogpt and programs made from them print.

modded-nanogpt: `step:6200/6200 val_loss:3.2776 train_time:1390345ms step_avg:224.25ms`. The last `train_time` is its
time to train: it stops while validating, and in many versions leaves out the first ten steps. The log begins with the
program's text, and holds the table that nvidia-smi printed.

nanoGPT: `iter 250: loss 3.2107, time 245.31ms, mfu 41.20%`; `step 250: train loss 3.1, val loss 3.2`.
The time is that of the one step, its evaluation with it; those between are taken at the pace of the median.

llm.c: `s:9530 trl:3.2429 lr:0.0001 norm:0.23` and `s:9536 tel:3.2760`, the losses of training and test, without a time.
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from scripts.importers import Imported, Layout, _devices, _logs, _metrics, _smi
from scripts.importers._logs import Log, Refused, count, finite, number
from scripts.importers._seconds import Said

HELP = "console lines of nanoGPT, modded-nanogpt and llm.c (.log, .txt, .out, or no ending)"

_SUFFIXES = (".log", ".txt", ".out", "")

_NUMBER = r"[-+\w.]+"
_STEP = re.compile(rf"\bstep:(\d+)/(\d+)\b(?:.*?\bval_loss:({_NUMBER}))?.*?\btrain_time:(\d+(?:\.\d+)?)(ms|s)\b")
_TRAIN_LOSS = re.compile(rf"\btrain_loss:({_NUMBER})")
_ITER = re.compile(rf"\biter (\d+): loss ({_NUMBER}), time (\d+(?:\.\d+)?)(ms|s)\b")
_EVALUATED = re.compile(rf"\bstep (\d+): train loss ({_NUMBER}), val loss ({_NUMBER})")
_LLM_C = re.compile(rf"^s:(\d+) (trl|tel):({_NUMBER})", re.MULTILINE)
_UNITS = {"ms": 1e-3, "s": 1.0}


def read(folder: Path, layout: Layout) -> Imported:
    """Return the runs of the logs below `folder`. Raises InputError if there is no such folder."""
    return _logs.read_logs(folder, layout, _SUFFIXES, runs_of)


def looks(name: PurePosixPath, text: str) -> bool:
    """Return whether a file is one of these, by its name, its beginning and its end."""
    return name.suffix.lower() in _SUFFIXES and bool(_STEP.search(text) or _ITER.search(text) or _LLM_C.search(text))


def runs_of(log: Log) -> Iterator[dict[str, Any]]:
    """Yield the run of a log. Raises Refused for one without any such line."""
    text = _logs.text_of(log.data, lenient=True)
    lines = text.splitlines()
    steps, iters, evaluated = (
        _found(form, word, lines)
        for form, word in ((_STEP, "train_time:"), (_ITER, ": loss"), (_EVALUATED, "val loss"))
    )
    plain = [] if steps or iters else _found(_LLM_C, "s:", lines)
    if not steps and not iters and not plain:
        raise Refused(
            "no line of nanoGPT ('iter 10: loss 3.2, time 245.31ms') or modded-nanogpt ('train_time:1390345ms')"
        )
    found = _modded(steps, lines) if steps else _nanogpt(iters, evaluated) if iters else _llm_c(plain)
    cards = _smi.cards(text)
    # Many of these logs begin with the text of the program, which names numbers of cards that it does not use.
    said = None if cards else _devices.of_text(text)
    devices = {"devices": len(cards) or None, "devices_said": said, "cards": _smi.words(cards)}
    yield {"framework": "torch", **devices, **found}


def _found(form: re.Pattern[str], word: str, lines: Sequence[str]) -> list[re.Match[str]]:
    """Return what a form finds in the lines that hold a word: ten times as fast as looking for the form everywhere."""
    return [found for line in lines if word in line and (found := form.search(line))]


def _modded(steps: list[re.Match[str]], lines: Sequence[str]) -> dict[str, Any]:
    last = steps[-1]
    done, most = int(last[1]), int(last[2])
    held_out = [value for step in steps if step[3] and (value := number(step[3])) is not None]
    losses = _found(_TRAIN_LOSS, "train_loss:", lines)
    trained = [value for one in losses if (value := number(one[1])) is not None]
    begins = [step for step in steps if int(step[1]) == 0]
    notes = [f"ends at step {done} of {most}"] if done < most else []
    if len(begins) > 1 and steps.index(begins[-1]) > 0 and int(steps[steps.index(begins[-1]) - 1][1]) > 0:
        notes.append("holds several runs: the last one counts")
    return {
        **_ends(trained, held_out),
        "notes": notes,
        "steps_done": count(done),
        "said": Said(stated=float(last[4]) * _UNITS[last[5]], stated_as="train_time", steps=float(done)),
    }


def _nanogpt(iters: list[re.Match[str]], evaluated: list[re.Match[str]]) -> dict[str, Any]:
    trained = [value for one in iters if (value := number(one[2])) is not None]
    held_out = [value for one in evaluated if (value := number(one[3])) is not None]
    # A resumed run prints its first iteration again with the time of loading: what went before is of another part.
    pace = [(float(one[1]), float(one[3]) * _UNITS[one[4]]) for one in iters]
    begins = max((index for index in range(1, len(pace)) if pace[index][0] <= pace[index - 1][0]), default=0)
    parts = [pace[:begins], pace[begins:]] if begins else [pace]
    notes = ["resumed: its parts are added up"] if len(parts) > 1 else []
    first = parts[0][0][0]
    if first > 0:
        notes.append(f"begins at iteration {first:g}: what came before is not in the log")
    shifted = [(done - first, seconds) for part in parts for done, seconds in part]
    return {
        **_ends(trained, held_out),
        "notes": notes,
        "steps_done": count(shifted[-1][0] + 1),
        "said": Said(pace=[(done + 1, seconds) for done, seconds in shifted], steps=shifted[-1][0] + 1),
    }


def _llm_c(rows: list[re.Match[str]]) -> dict[str, Any]:
    trained, held_out = (
        [value for row in rows if row[2] == kind and (value := number(row[3])) is not None] for kind in ("trl", "tel")
    )
    steps = max(int(row[1]) for row in rows)
    lacks = "llm.c's main.log has no time: give seconds"
    return {**_ends(trained, held_out), "steps_done": count(steps), "said": Said(steps=float(steps), lacks=lacks)}


def _ends(trained: list[float], held_out: list[float]) -> dict[str, Any]:
    """Return status and last losses of a training."""
    diverged = any(finite(loss) is None for loss in (*trained, *held_out))
    return {
        "status": "diverged" if diverged else "done",
        "loss": finite(trained[-1]) if trained else None,
        "val_loss": finite(held_out[-1]) if held_out else None,
        **_metrics.best({"loss": trained, "val_loss": held_out}),
    }
