"""State of Hugging Face's Trainer: `trainer_state.json`, as it lies in a model's or a checkpoint's folder.

Keys are those of `TrainerState` (transformers). `train_runtime` (s), the wall time of the training, its evaluations
with it, and `train_samples_per_second` are in the last record of a state that `trainer.save_state()` wrote; those of
checkpoints are written before. Of a training that was resumed it is the time of the last part, which the file does not
say. Of the checkpoints of one training the last one counts. Its time is then the `train_runtime` of
`train_results.json` or `all_results.json` above it (`trainer.save_metrics`), the `elapsed_time` of LLaMA-Factory's
`trainer_log.jsonl`, what the console of as many steps in its folder says (Axolotl's `debug.log`), or the clock of
TensorBoard's events in the folder `runs`. Training is PyTorch's; the workload is
not in the file.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any

from scripts.importers import Imported, Layout, _events, _logs, _metrics, _seconds
from scripts.importers._logs import Log, Refused, count, finite
from scripts.importers._seconds import Said
from scripts.importers.formats import console, json_lines
from scripts.storage.files import read_text

HELP = "trainer_state.json of Hugging Face's Trainer, of a model or of checkpoints"

_FILE = "trainer_state.json"
_CHECKPOINT = re.compile(r"checkpoint-(\d+)")

_LACKS = (
    "train_runtime is written after the last checkpoint, by trainer.save_state() and trainer.save_metrics(): save "
    "it, or keep the folder runs/ beside the checkpoints"
)

#: Where a script that calls `trainer.save_metrics` keeps the last record.
RESULTS = ("train_results.json", "all_results.json")


def read(folder: Path, layout: Layout) -> Imported:
    """Return the runs of each `trainer_state.json` below `folder`. Raises InputError if there is no such folder."""
    return _logs.read_logs(folder, layout, (".json",), runs_of)


def looks(name: PurePosixPath, text: str) -> bool:
    """Return whether a file is one of these, by its name and its beginning."""
    return name.name == _FILE


def runs_of(log: Log) -> Iterator[dict[str, Any]]:
    """Yield the run of a state; none for a checkpoint that a later one of the same training follows."""
    if log.name.name != _FILE:
        raise Refused(f"the name must be {_FILE}")
    state = _logs.from_json(log.text)
    history = state.get("log_history") if isinstance(state, dict) else None
    if not isinstance(history, list) or not all(isinstance(record, dict) for record in history):
        raise Refused("log_history: must be a list of records", 1)
    if _is_followed(log.path):
        return
    ends = [record for record in history if "train_runtime" in record]
    end = ends[-1] if ends else {}
    seconds = finite(end.get("train_runtime"))
    if ends and (seconds is None or seconds <= 0):
        raise Refused(f"train_runtime: {end['train_runtime']!r:.40} must be seconds, more than 0")
    epochs = finite(end.get("epoch") if ends else state.get("epoch"))
    if ends and (epochs is None or epochs <= 0):
        raise Refused(f"epoch: {end.get('epoch')!r:.40} must be a number above 0")
    evaluated = [record for record in history if "eval_loss" in record]
    last = evaluated[-1] if evaluated else {}
    accuracy = finite(last.get("eval_accuracy"))
    if accuracy is not None and not 0 <= accuracy <= 1:
        raise Refused(f"eval_accuracy: {accuracy:g} is no accuracy: from 0 to 1")
    losses = [record["loss"] for record in history if "loss" in record]
    loss = end.get("train_loss") if ends else (losses[-1] if losses else None)
    logged = {
        column: [float(record[key]) for record in history if isinstance(record.get(key), int | float)]
        for column, key in (("loss", "loss"), ("val_loss", "eval_loss"), ("val_acc", "eval_accuracy"))
    }
    done, most = finite(state.get("global_step")), finite(state.get("max_steps"))
    part = done is not None and most is not None and done < most and not ends
    word = "train_runtime"
    if seconds is None:
        seconds, word = _beside(_output(log.path))
    said = None if seconds else _of_console(_output(log.path), most)
    clock = () if seconds or said else _events.clock(_output(log.path) / "runs")
    yield {
        "framework": "torch",
        # Of one device: the global one is this times devices and accumulated steps, which the file does not say.
        "batch_size": count(state.get("train_batch_size")),
        "status": "done" if loss is None or finite(loss) is not None else "diverged",
        "epochs_done": count(round(epochs)) if epochs else None,
        "samples_per_second": finite(end.get("train_samples_per_second")),
        "loss": finite(loss),
        "val_loss": finite(last.get("eval_loss")),
        "val_acc": accuracy,
        **_metrics.best(logged),
        "steps_done": count(done),
        "notes": [f"the checkpoint is of step {done:g} of {most:g}: what came after it is not in it"] if part else [],
        "said": said
        or Said(
            stated=seconds,
            stated_as=word,
            clock=[(at, step) for at, step in clock if step is not None],
            began=clock[0][0] if clock else None,
            steps=done,
            epochs=epochs,
            lacks=_LACKS,
        ),
    }


def _output(path: Path) -> Path:
    """Return the folder of a training: that above its checkpoints."""
    return path.parent.parent if _CHECKPOINT.fullmatch(path.parent.name) else path.parent


def _beside(output: Path) -> tuple[float | None, str]:
    """Return what other files of a training say of its time (s), and under which word; None for none."""
    for name in RESULTS:
        if seconds := finite(_logs.beside(output / name).get("train_runtime")):
            return seconds, f"train_runtime of {name}"
    try:
        rows = json_lines.rows_of(read_text(output / json_lines.FILE))
    except ValueError:
        return None, ""
    return json_lines.elapsed(rows), f"elapsed_time of {json_lines.FILE}"


def _of_console(output: Path, steps: float | None) -> Said | None:
    """Return what the console of a training says of its time, if it lies beside its state; None for none."""
    found = console.beside(output, steps) if steps else None
    if found is None or _seconds.find(found[0], _seconds.Given()).seconds is None:
        return None
    return replace(found[0], stated_as=f"{found[0].stated_as} of {found[1]}", clock_of=f"lines of {found[1]}")


def _is_followed(path: Path) -> bool:
    """Return whether a later state of the same training lies beside a checkpoint's."""
    own = _CHECKPOINT.fullmatch(path.parent.name)
    if own is None:
        return False
    folder = path.parent.parent
    if (folder / _FILE).is_file():
        return True
    later = (
        found
        for other in folder.iterdir()
        if (found := _CHECKPOINT.fullmatch(other.name)) and (other / _FILE).is_file()
    )
    return any(int(found[1]) > int(own[1]) for found in later)
