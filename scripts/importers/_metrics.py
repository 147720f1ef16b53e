"""Names that programs give to what they log, as the columns of the tables of facts; pure."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import isfinite
from typing import Any

from scripts.importers._logs import count, finite
from scripts.importers.naming import plain

#: Column -> what it is called, small and with _ between the words; the first that is there counts.
_NAMES = {
    "loss": ("train_loss", "loss", "training_loss", "loss_train", "train_loss_epoch", "epoch_loss", "train_epoch_loss"),
    "acc": ("train_acc", "acc", "accuracy", "train_accuracy", "training_accuracy", "epoch_accuracy"),
    "val_loss": (
        *("val_loss", "eval_loss", "validation_loss", "valid_loss", "loss_val", "val_loss_epoch"),
        *("validation_epoch_loss", "validation_loss_epoch", "test_loss"),
    ),
    "val_acc": (
        *("val_acc", "val_accuracy", "eval_accuracy", "validation_accuracy", "valid_acc", "valid_accuracy"),
        *("validation_epoch_accuracy", "metrics_accuracy_top1", "test_acc", "test_accuracy", "test_acc1"),
        *("eval_top1", "val_top1"),
    ),
}

#: What is best of a training: the first that was logged, whether the least or the most of it, and what it is called.
_BEST: tuple[tuple[str, Callable[[Sequence[float]], float], str], ...] = (
    ("val_acc", max, "validation accuracy"),
    ("val_loss", min, "validation loss"),
    ("acc", max, "training accuracy"),
    ("loss", min, "training loss"),
)

#: What the batch of one device is called among parameters.
_BATCH = ("per_device_train_batch_size", "train_batch_size", "batch_size", "batch", "bs")


def last(values: Mapping[str, Sequence[float]]) -> dict[str, Any]:
    """Return status, the last losses and accuracies, and the best, by what was logged under each name."""
    named = {plain(name): scaled(name, numbers) for name, numbers in values.items() if numbers}
    found = {column: next((named[name] for name in names if name in named), None) for column, names in _NAMES.items()}
    found |= {column: found[column] if _are_shares(found[column] or ()) else None for column in ("acc", "val_acc")}
    losses = [value for column in ("loss", "val_loss") for value in found[column] or ()]
    ends = {column: finite(numbers[-1]) if numbers else None for column, numbers in found.items()}
    return {"status": "done" if all(isfinite(loss) for loss in losses) else "diverged", **ends, **best(found)}


def scaled(name: str, numbers: Sequence[Any]) -> list[Any]:
    """Return what was logged under a name, accuracies in per cent as shares; what is missing stays so."""
    known = [one for one in numbers if one is not None and isfinite(one)]
    is_accuracy = plain(name) in (*_NAMES["acc"], *_NAMES["val_acc"])
    if not is_accuracy or not known or min(known) < 0 or not 1 < max(known) <= 100:
        return list(numbers)
    return [None if one is None else one / 100 for one in numbers]


def _are_shares(accuracies: Sequence[float]) -> bool:
    return all(0 <= one <= 1 for one in accuracies if isfinite(one))


def best(found: Mapping[str, Sequence[float] | None]) -> dict[str, Any]:
    """Return the best of what was logged of loss, acc, val_loss and val_acc, and what it is called."""
    for column, choose, words in _BEST:
        known = [one for one in found.get(column) or () if isfinite(one)]
        if known:
            return {"best": choose(known), "best_of": words}
    return {"best": None, "best_of": None}


def epochs(values: Mapping[str, Sequence[float]]) -> float | None:
    """Return how many epochs were done, by what was logged as `epoch`: whole numbers from 0 name the running one."""
    named = {plain(name): [one for one in numbers if isfinite(one)] for name, numbers in values.items()}
    found = next((named[name] for name in ("train_epoch", "epoch", "epochs") if named.get(name)), None)
    if not found:
        return None
    counts_from_0 = min(found) == 0 and all(one.is_integer() for one in found)
    return max(found) + 1 if counts_from_0 else max(found)


def steps(numbers: Iterable[float]) -> int | None:
    """Return how many steps were done, by the number of each that was logged: those from 0 name the running one."""
    known = [one for one in numbers if isfinite(one)]
    return count(max(known) + (min(known) == 0)) if known else None


def whole(epochs: float | None) -> int | None:
    """Return a number of epochs as the tables have it: whole, from 1."""
    return count(round(epochs)) if epochs is not None and isfinite(epochs) else None


def batch_size(parameters: Mapping[str, Any]) -> int | None:
    """Return the batch of one device among a run's parameters, None if none is named."""
    named = {plain(name): value for name, value in parameters.items()}
    for name in _BATCH:
        try:
            if (value := count(float(named[name]))) is not None:
                return value
        except (KeyError, TypeError, ValueError):
            continue
    return None
