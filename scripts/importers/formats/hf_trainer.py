"""State of Hugging Face's Trainer: `trainer_state.json`, as it lies in a model's or a checkpoint's folder.

Keys are those of `TrainerState` (transformers). Its last record has `train_runtime` (s), the wall time of the
training, its evaluations with it, and `train_samples_per_second`; without it the training has not ended. Of a training
that was resumed it is the time of the last part, which the file does not say. Training is PyTorch's; the workload is
not in the file.
"""

from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

from scripts.importers import Imported, Layout, _logs
from scripts.importers._logs import Refused, count, finite

HELP = "trainer_state.json of Hugging Face's Trainer"

_FILE = "trainer_state.json"


def read(folder: Path, layout: Layout) -> Imported:
    """Return the runs of each `trainer_state.json` below `folder`. Raises InputError if there is no such folder."""
    return _logs.read(folder, layout, (".json",), _parse)


def _parse(name: PurePosixPath, text: str) -> Iterator[dict[str, Any]]:
    if name.name != _FILE:
        raise Refused(f"the name must be {_FILE}")
    state = _logs.from_json(text)
    history = state.get("log_history") if isinstance(state, dict) else None
    if not isinstance(history, list) or not all(isinstance(record, dict) for record in history):
        raise Refused("log_history: must be a list of records", 1)
    ends = [record for record in history if "train_runtime" in record]
    if not ends:
        raise Refused("train_runtime is in no record: the training has not ended, and its time is not known")
    end = ends[-1]
    seconds, epochs = finite(end["train_runtime"]), finite(end.get("epoch"))
    if seconds is None or seconds <= 0:
        raise Refused(f"train_runtime: {end['train_runtime']!r:.40} must be seconds, more than 0")
    if epochs is None or epochs <= 0:
        raise Refused(f"epoch: {end.get('epoch')!r:.40} must be a number above 0")
    evaluated = [record for record in history if "eval_loss" in record]
    last = evaluated[-1] if evaluated else {}
    accuracy = finite(last.get("eval_accuracy"))
    if accuracy is not None and not 0 <= accuracy <= 1:
        raise Refused(f"eval_accuracy: {accuracy:g} is no accuracy: from 0 to 1")
    loss = end.get("train_loss")
    yield {
        "framework": "torch",
        # Of one device: the global one is this times devices and accumulated steps, which the file does not say.
        "batch_size": count(state.get("train_batch_size")),
        "status": "done" if loss is None or finite(loss) is not None else "diverged",
        "epochs_done": count(round(epochs)),
        "train_seconds": seconds,
        "samples_per_second": finite(end.get("train_samples_per_second")),
        "loss": finite(loss),
        "val_loss": finite(last.get("eval_loss")),
        "val_acc": accuracy,
    }
