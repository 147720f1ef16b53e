"""What is trained: one module per model, read from top to bottom like an article.

A workload module has

- `DATASET`: the module of `scripts.datasets` that it learns from;
- `BATCH_SIZE`, `EPOCHS`: the published size, which a study may change;
- `REFERENCE`: what a published training of the same size reached, None without one;
- `LEARNABLE`: False where labels are random and only speed is a result; True if absent;
- `GROWS`: True where the model grows with its data, as by a row for each word that is in them; False if absent;
- `prepare(arrays) -> Split`: the data set's arrays as the model takes them;
- `build(split) -> keras.Model`: the compiled model.

A model with several inputs or outputs has a dict, list or tuple of arrays in the place of the array.

Keras is imported inside the functions: the grid reads the constants without it.
"""

import importlib
import importlib.util
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from math import floor
from pathlib import Path
from types import ModuleType

import numpy as np

from scripts.storage import modules
from scripts.storage.errors import InputError
from scripts.workloads._samples import Samples, count, mapped

#: The log from which the references of 2017 come, one value per epoch.
PUBLISHED_2017_07 = (
    "minimaxir/deep-learning-cpu-gpu-benchmark @ 08adcf4, logs/gpu/{log}: "
    "Keras 2 on TensorFlow 1.2.1, one K80, July 2017 (MIT licence)"
)


@dataclass(frozen=True)
class Split:
    """Training and validation samples, arrays or trees of arrays, first axis = samples; validation may be absent.

    `classes` is the number of distinct inputs or outputs that a model needs to know, if any.
    """

    x_train: Samples
    y_train: Samples
    x_val: Samples | None = None
    y_val: Samples | None = None
    classes: int | None = None

    def __post_init__(self) -> None:
        count(self.x_train, self.y_train)
        if self.validation is not None:
            count(*self.validation)

    @property
    def train_samples(self) -> int:
        return count(self.x_train)

    @property
    def val_samples(self) -> int:
        """The number of validation samples, 0 without any."""
        return 0 if self.validation is None else count(self.x_val)

    @property
    def validation(self) -> tuple[Samples, Samples] | None:
        """Inputs and outputs to validate on, None without any."""
        return None if self.x_val is None or self.y_val is None else (self.x_val, self.y_val)

    def _of(self, train: slice | np.ndarray, val: slice | np.ndarray | None) -> "Split":
        x, y = (mapped(lambda array: array[train], part) for part in (self.x_train, self.y_train))
        if self.validation is None or val is None:
            return Split(x, y, classes=self.classes)
        x_val, y_val = (mapped(lambda array: array[val], part) for part in self.validation)
        return Split(x, y, x_val, y_val, self.classes)

    def part(self, fraction: float) -> "Split":
        """Return the first `fraction` (0 to 1] of both parts, at least one sample of each; the rest takes no memory."""
        if fraction == 1:
            return self
        train, val = (max(1, round(samples * fraction)) for samples in (self.train_samples, self.val_samples))
        return self._of(np.arange(train), np.arange(val))

    def repeated(self, samples: int) -> "Split":
        """Return so many training samples, the first ones again where there are too few, and no validation."""
        return self._of(np.arange(samples) % self.train_samples, None)

    def whole_batches(self, batch_size: int) -> "Split":
        """Cut both parts to a multiple of `batch_size`, so that no odd last batch weighs on a short run.

        Raises ValueError when not even one batch is left.
        """
        samples = self.train_samples // batch_size * batch_size
        if samples == 0:
            raise ValueError(f"{self.train_samples} samples do not fill one batch of {batch_size}")
        return self._of(slice(samples), slice(max(1, self.val_samples // batch_size) * batch_size))


@dataclass(frozen=True)
class Reference:
    """What a published training reached after each epoch: `metric` is `val_acc`, or `loss` without validation.

    `first_epoch` is the epoch (from 1) of the first value: an article may print the end of a training only.
    `training` is the accuracy on the training samples, where it is needed: with part of the images the
    same number of steps learns as much of them, and less about others.
    """

    metric: str
    values: tuple[float, ...]
    source: str
    training: tuple[float, ...] = ()
    first_epoch: int = 1

    def after(self, epochs: float) -> tuple[int, float] | None:
        """Return the last published epoch within `epochs` (of all samples) and its value, None before the first."""
        published = min(floor(epochs + 1e-9) - self.first_epoch + 1, len(self.values))
        return (self.first_epoch + published - 1, self.values[published - 1]) if published > 0 else None


def per_epoch(values: str) -> tuple[float, ...]:
    """Return the numbers of a text, one per epoch."""
    return tuple(float(value) for value in values.split())


#: Files of workloads that are not the project's, by name.
_ADDED: dict[str, Path] = {}


def add(files: Mapping[str, str]) -> None:
    """Make workloads known that lie elsewhere: name -> path of the file. Raises InputError for one that cannot be."""
    for name, file in files.items():
        path = Path(file).resolve()
        if not path.is_file():
            raise InputError(f"workload {name}: {file}: no such file in {Path.cwd()}")
        if name in _modules():
            raise InputError(f"workload {name}: {file}: the project has a workload of this name: give the file another")
        _ADDED[name] = path


def _modules() -> list[str]:
    return modules.names(__path__)


def names() -> list[str]:
    """Return the names of all workloads, sorted."""
    return sorted([*_modules(), *_ADDED])


def workload(name: str) -> ModuleType:
    """Return the module of the workload `name`. Raises InputError if an added file is not one."""
    return _loaded(name, _ADDED[name]) if name in _ADDED else importlib.import_module(f"scripts.workloads.{name}")


@cache
def _loaded(name: str, path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise InputError(f"{path}: not a Python file")
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:  # a file that ends Python must not end this one in silence
        raise InputError(f"{path}: {type(error).__name__}: {error}") from error
    for needed in ("DATASET", "BATCH_SIZE", "EPOCHS", "REFERENCE", "prepare", "build"):
        if not hasattr(module, needed):
            raise InputError(f"{path}: {needed} is missing; a workload has it (see docs/adding.md)")
    return module
