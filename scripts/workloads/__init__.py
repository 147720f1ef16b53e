"""What is trained: one module per model, read from top to bottom like an article.

A workload module has

- the constants of `scripts.records.about.WORKLOAD`, plain values that are read without running the file: `LABEL`, how
  it is written for people; `DATASET`, the module of `scripts.datasets` that it learns from; `BATCH_SIZE`, `EPOCHS`, the
  published size, which a study may change; `REFERENCE`, what a published training of the same size reached, None
  without one; `LEARNABLE`, False where labels are random and only speed is a result, True if
  absent; `GROWS`, True where the model grows with its data, as by a row for each word that is in them, False if absent;
- `prepare(arrays) -> Split`: the data set's arrays as the model takes them;
- `build(split) -> keras.Model`: the compiled model.

A model with several inputs or outputs has a dict, list or tuple of arrays in the place of the array.

Keras is imported inside the functions.
"""

import importlib
import importlib.util
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from types import ModuleType

import numpy as np

from scripts.records import about
from scripts.storage.errors import InputError
from scripts.workloads._own import FromSource, only_beside
from scripts.workloads._samples import Samples, count, mapped


@dataclass(frozen=True)
class Split:
    """Training and validation samples, arrays or trees of arrays, first axis = samples; validation may be absent.

    `classes` is the number of distinct inputs or outputs that a model needs to know, if any. `batch_size` is that of
    all devices together, for what a model counts in steps; `prepare` does not know it, `build` finds it there.
    """

    x_train: Samples
    y_train: Samples
    x_val: Samples | None = None
    y_val: Samples | None = None
    classes: int | None = None
    batch_size: int | None = None

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
            return replace(self, x_train=x, y_train=y, x_val=None, y_val=None)
        x_val, y_val = (mapped(lambda array: array[val], part) for part in self.validation)
        return Split(x, y, x_val, y_val, self.classes, self.batch_size)

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


def workload(name: str) -> ModuleType:
    """Return the module of the workload `name`. Raises InputError if an added file is not one."""
    file = about.added(name)
    return importlib.import_module(f"scripts.workloads.{name}") if file is None else _loaded(name, file)


@cache
def _loaded(name: str, path: Path) -> ModuleType:
    """Run a file that is not the project's: its constants must be those that were read of it before."""
    said = about.constants(path, about.WORKLOAD)
    only_beside(path)
    spec = importlib.util.spec_from_file_location(name, path, loader=FromSource(name, str(path)))
    if spec is None or spec.loader is None:
        raise InputError(f"{path}: not a Python file")
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:  # a file that ends Python must not end this one in silence
        raise InputError(f"{path}: {type(error).__name__}: {error}") from error
    for constant, value in said.items():
        if constant != "REFERENCE" and getattr(module, constant, None) != value:
            raise InputError(f"{path}: {constant}: the file sets it to {value!r} and then to something else")
    for function in ("prepare", "build"):
        if not callable(getattr(module, function, None)):
            raise InputError(f"{path}: {function} is missing; a workload has it (see docs/adding.md)")
    return module
