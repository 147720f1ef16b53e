"""One package per framework: how it is held to its cores, computes, waits, trains in parallel, and trains best.

A package has what `Framework` lists and is found by its folder. Whoever draws a chart asks it for its label and colour
where the framework is not installed: the framework itself is imported inside the functions. Keras reads from
`KERAS_BACKEND` which one it runs on.
"""

import importlib
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from importlib.machinery import PathFinder
from typing import Protocol, TypeAlias, cast

import numpy as np

from scripts.storage import modules


class Unsupported(RuntimeError):
    """This framework or device cannot do what the cell asks for."""


class UnsupportedDevice(Unsupported):
    """This device cannot; another one may."""


class ThreadPoolError(UnsupportedDevice):
    """A framework's thread pool differs from the size asked for."""


class Loop(Protocol):
    """The best training loop that is known for a framework: the same mathematics as `model.fit`.

    `Loop(model, x, y, validation, batch_size, devices, sparse)` takes a compiled Keras model and numpy arrays, or
    trees of them (dicts, lists, tuples) where the model has several inputs or outputs (`validation` is `(x, y)` or
    None), puts the samples on the device and trains on them in the order that `begin` is given. `batch_size` is that
    of all devices together. `sparse` updates only those rows of an embedding that the batch holds: another update
    rule, and never on unless asked for; without an embedding, or with an optimiser that has no such form, it raises
    `Unsupported`.

    What a model brings of its own is honoured or refused, never passed over. Its own `compute_loss`,
    `compute_metrics` and `metrics` are used as Keras's steps use them. Its own `train_step` or `test_step` is run as
    it is, on one device; it raises `Unsupported` on several, with `sparse`, and if it logs what no metric of the model
    holds. So do its own `fit`, `evaluate`, `make_train_function` or `make_test_function`, and a second optimiser.

    The calls of an epoch: `begin`, `steps` (one or more), `rest`, `finish`, `validate`. All but `finish` and
    `validate` may return before the device has done the work. Nothing of `x` or the weights comes back to
    the host in between.
    """

    #: What was tuned, for the run record, complete after `compile`: `{"loop": "lax.fori_loop over the epoch", ...}`.
    settings: dict[str, str]

    def compile(self) -> None:
        """Trace and compile all that an epoch needs, validation too; weights and random state stay as they were."""

    def begin(self, order: np.ndarray) -> None:
        """Start an epoch over the samples in this order (a permutation of all of them, int64)."""

    def steps(self, first: int, last: int) -> None:
        """Train the whole batches `first` to `last` - 1 of the order."""

    def state(self) -> list[np.ndarray]:
        """Return all that a later process needs to go on from here: weights, optimiser, metrics, random numbers."""

    def restore(self, state: list[np.ndarray]) -> None:
        """Go on from a `state`, after `compile` and `begin` with the order of its epoch."""

    def rest(self) -> None:
        """Train the odd last batch, if the samples do not fill it; else do nothing."""

    def finish(self) -> dict[str, float]:
        """Return the epoch's means over its samples as `fit` logs them, the model's accuracy as `acc`.

        The accuracy is the first metric compiled, in the order of the outputs, that is one of Keras's plain accuracies
        or called as one; never a top-k accuracy (`_model.named`, which names the logs of `fit` too).
        """

    def validate(self) -> dict[str, float]:
        """Return the same over the validation samples, `val_loss` and so on; empty without any."""

    def close(self) -> None:
        """End what the loop has started, processes of other devices if there are any."""


_Loop: TypeAlias = Loop


class Framework(Protocol):
    """What the `__init__` of a framework's package has; its functions are those of the module."""

    __name__: str

    #: How it is written in charts and tables.
    LABEL: str
    #: Its colour in charts: `#rrggbb`, at least 3:1 on white and on the dark page.
    COLOUR: str
    #: The installed packages whose versions go into the run record.
    DISTRIBUTIONS: tuple[str, ...]
    #: Whether Keras can fit on several devices; where not, stock trains on them by `Loop(..., tuned=False)`.
    PARALLEL_FIT: bool
    #: Whether a training on several devices can be saved and resumed.
    RESUMES_PARALLEL: bool
    #: The tuned training loop.
    Loop: Callable[..., _Loop]

    def environment(self, cores: int, virtual: int) -> dict[str, str]:
        """Return the variables to set before the framework is imported, name -> value.

        `virtual` is the number of devices that the CPU is to be split into: 1, unless data-parallel training is tried
        without GPUs.
        """

    def start(self, cores: int, virtual: int) -> list[str]:
        """Import it, size its thread pools, check that they have that size; return the names of its devices."""

    def synchronise(self) -> None:
        """Return when the devices have done all work given to them."""

    def set_precision(self, precision: str) -> None:
        """Set how float32 is multiplied: `tf32` allows it, every other precision forbids it.

        Raises `Unsupported` where the device has no tf32. (Mixed types are Keras's own dtype policy.)
        """

    def parallel(self, devices: int) -> AbstractContextManager[None]:
        """Train what is built and fitted inside data-parallel on so many devices.

        Each step takes `devices` x the batch size of one.
        """


def names() -> list[str]:
    """Return the names of all frameworks, sorted."""
    return modules.names(__path__)


def framework(name: str) -> Framework:
    """Return the package of the framework `name`; the framework itself need not be installed."""
    return cast(Framework, importlib.import_module(f"scripts.frameworks.{name}"))


def hide_others(name: str) -> None:
    """Let Python find no framework but `name`, as if the others were not installed.

    Keras imports TensorFlow wherever it finds it: seconds and memory that are not this framework's.
    """
    hidden = set(names()) - {name}

    class Finder(PathFinder):
        @classmethod
        def find_spec(cls, fullname, path=None, target=None):
            return None if fullname in hidden else super().find_spec(fullname, path, target)

    sys.meta_path = [Finder if finder is PathFinder else finder for finder in sys.meta_path]
