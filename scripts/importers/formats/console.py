"""Console lines of Megatron-LM, DeepSpeed, torchtune, Hugging Face, Keras, and of any program that names its steps.

Steps, epochs and bars are those that `epd run` reads, by the same code; beside them stand losses. How long it took is,
in this order, what the log states (`'train_runtime': '105.2'`, `Training time 1:02:03`, a count of seconds, the bar of
tqdm, the seconds of each epoch), the clock at the beginning of its lines, from the first that has one to the last, or
the time of a step (`Time 0.250 (0.300)`, `455.00 ms`, `elapsed time per iteration (ms): 254.1`), which is taken for the
mean of those since the line before; evaluations whose lines state their times are added.
"""

import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

from scripts.importers import Imported, Layout, _console, _console_times, _devices, _logs, _metrics, _smi
from scripts.importers._console_steps import Steps, main_steps
from scripts.importers._logs import Log, Refused, count
from scripts.importers._seconds import Said

HELP = "console lines of Megatron-LM, DeepSpeed, torchtune, Hugging Face, Keras, and others that print steps and losses"

_SUFFIXES = (".log", ".txt", ".out", ".err", "")

#: Letters of a log's end in which its lines are looked for.
_LOOKED_AT = 1 << 14

#: Logs of the same training that say more than its console.
FULLER = ("trainer_state.json", "trainer_log.jsonl", "metrics.csv", "results.csv")

#: Consoles beside another log that are not larger are read for their time (bytes).
_LARGEST = 1 << 26

#: Words that programs of one framework print.
_FRAMEWORKS = {
    "torch": r"elapsed time per iteration \(m?s\)|RunningAvgSamplesPerSec|\[deepspeed\]|log_dist"
    r"|tokens_per_second_per_gpu|train_runtime|torch\.distributed|\[rank: ?\d+\]|(?i:pytorch|torchrun)|Acc@1|max mem:"
    r"|- mmengine -|d2\.(?:utils|engine)|fairseq|axolotl|GLOBAL_RANK|max_mem: \d+M|device cuda:",
    "jax": r"Tokens/s/device|(?i:jaxlib)",
    "keras": r"\d[mu]?s/step - ",
}

#: What programs print of themselves.
_BATCH = re.compile(r"(?:micro_batch_size(?:_per_gpu)?|Instantaneous batch size per device)[ .:=]+(\d+)\b")
_WHOLE_BATCH = re.compile(r"\b(?:train_batch_size|global[ _]batch[ _]size)[ .:=]+(\d+)\b")


def read(folder: Path, layout: Layout) -> Imported:
    """Return the runs of the logs below `folder`. Raises InputError if there is no such folder."""
    return _logs.read_logs(folder, layout, _SUFFIXES, runs_of)


def looks(name: PurePosixPath, text: str) -> bool:
    """Return whether a file is one of these: it has two lines of steps or epochs, and a loss or DeepSpeed's steps."""
    if name.suffix.lower() not in _SUFFIXES:
        return False
    found = _console.read(text[-_LOOKED_AT:])
    counted = sum(line.step is not None or line.epoch is not None for line in found)
    return counted > 1 and (any(line.values for line in found) or "skipped=" in text)


def runs_of(log: Log) -> Iterator[dict[str, Any]]:
    """Yield the run of a log; none beside a fuller log of the same training. Raises Refused for one without steps."""
    if _is_console_of_another(log.path.parent):
        return
    text = _logs.text_of(log.data, lenient=True)
    found = _console.read(text)
    steps = main_steps(found)
    named = [line.epoch for line in found if line.epoch is not None]
    # DeepSpeed says epoch=0 of all its steps.
    epochs = _metrics.epochs({"epoch": named}) if any(named) else None
    if not steps.rows and epochs is None:
        raise Refused("no line names a step or an epoch: 'step 10', 'Epoch 3/20', 'iteration 100/ 5000 |'")
    cards = _smi.cards(text)
    said, notes = _console_times.said(found, steps, epochs, text, _number(_WHOLE_BATCH, text))
    yield {
        **_metrics.last(_console.columns(found)),
        "framework": next((name for name, words in _FRAMEWORKS.items() if re.search(words, text)), None),
        "batch_size": _number(_BATCH, text),
        "devices": len(cards) or None,
        "devices_said": _devices.of_text(text),
        "cards": _smi.words(cards),
        "epochs_done": _metrics.whole(epochs),
        "steps_done": _steps_done(steps, epochs),
        "notes": notes,
        "said": said,
    }


def beside(folder: Path, steps: float) -> tuple[Said, str] | None:
    """Return what a console in a folder says of the time of a training of so many steps, and which it is."""
    for path in sorted(folder.iterdir()):
        if path.suffix.lower() not in _SUFFIXES or not path.is_file() or path.stat().st_size > _LARGEST:
            continue
        text = path.read_text(encoding="utf-8", errors="replace")
        found = _console.read(text)
        counted = main_steps(found)
        if counted.rows and counted.rows[-1][1].total == steps:
            return _console_times.said(found, counted, None, text, None)[0], path.name
    return None


def _is_console_of_another(folder: Path) -> bool:
    """Return whether a log of the same training lies in a folder, which says more than its console."""
    return any((folder / name).is_file() for name in FULLER) or any(folder.glob("checkpoint-*/trainer_state.json"))


def _steps_done(steps: Steps, epochs: float | None) -> int | None:
    tick = steps.rows[-1][1] if steps.rows else None
    if tick and tick.total and epochs and tick.source == "Keras's bar":
        return count(tick.total * epochs)  # in a file it prints the last step of an epoch alone
    return None if steps.are_samples else count(steps.done)


def _number(form: re.Pattern[str], text: str) -> int | None:
    found = form.search(text)
    return count(int(found[1])) if found else None
