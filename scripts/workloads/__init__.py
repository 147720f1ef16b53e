"""What is trained: one module per model, read from top to bottom like an article.

A workload module has

- `DATASET`: the module of `scripts.datasets` that it learns from;
- `BATCH_SIZE`, `EPOCHS`: the published size, which a study may change;
- `REFERENCE`: what a published training of the same size reached;
- `prepare(arrays) -> Split`: the data set's arrays as the model takes them;
- `build(split) -> keras.Model`: the compiled model.

Keras is imported inside the functions: the grid reads the constants without it.
"""

import importlib
import pkgutil
from dataclasses import dataclass
from math import floor
from types import ModuleType

import numpy as np

#: The log from which the references of 2017 come, one value per epoch.
PUBLISHED_2017_07 = (
    "minimaxir/deep-learning-cpu-gpu-benchmark @ 08adcf4, logs/gpu/{log}: "
    "Keras 2 on TensorFlow 1.2.1, one K80, July 2017 (MIT licence)"
)


@dataclass(frozen=True)
class Split:
    """Training and validation samples, first axis = samples; validation may be absent.

    `classes` is the number of distinct inputs or outputs that a model needs to know, if any.
    """

    x_train: np.ndarray
    y_train: np.ndarray
    x_val: np.ndarray | None = None
    y_val: np.ndarray | None = None
    classes: int | None = None

    def whole_batches(self, batch_size: int) -> "Split":
        """Cut both parts to a multiple of `batch_size`, so that no odd last batch weighs on a short run.

        Raises ValueError when not even one batch is left.
        """
        samples = len(self.x_train) // batch_size * batch_size
        if samples == 0:
            raise ValueError(f"{len(self.x_train)} samples do not fill one batch of {batch_size}")
        if self.x_val is None or self.y_val is None:
            return Split(self.x_train[:samples], self.y_train[:samples], classes=self.classes)
        val_samples = max(1, len(self.x_val) // batch_size) * batch_size
        return Split(
            self.x_train[:samples],
            self.y_train[:samples],
            self.x_val[:val_samples],
            self.y_val[:val_samples],
            self.classes,
        )


@dataclass(frozen=True)
class Reference:
    """What a published training reached after each epoch: `metric` is `val_acc`, or `loss` without validation.

    `training` is the accuracy on the training samples, where it is needed: with part of the images the
    same number of steps learns as much of them, and less about others.
    """

    metric: str
    values: tuple[float, ...]
    source: str
    training: tuple[float, ...] = ()

    def after(self, epochs: float) -> tuple[int, float] | None:
        """Return the last published epoch within `epochs` (of all samples) and its value, None before the first."""
        whole = min(floor(epochs + 1e-9), len(self.values))
        return (whole, self.values[whole - 1]) if whole else None


def per_epoch(values: str) -> tuple[float, ...]:
    """Return the numbers of a text, one per epoch."""
    return tuple(float(value) for value in values.split())


def names() -> list[str]:
    """Return the names of all workloads, sorted."""
    return sorted(module.name for module in pkgutil.iter_modules(__path__))


def workload(name: str) -> ModuleType:
    """Return the module of the workload `name`."""
    return importlib.import_module(f"scripts.workloads.{name}")
