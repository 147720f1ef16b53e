"""One module per framework: how it is held to the cores it may use, and how one waits for its device.

A framework module has

- `DISTRIBUTIONS`: the installed packages whose versions go into the run record;
- `environment(cores) -> {name: value}`: variables to set before the framework is imported;
- `start(cores) -> list of device names`: import it, size its thread pools, check that they have that size;
- `synchronise()`: return when the device has done all work given to it.

Keras is told the framework by `KERAS_BACKEND`; the framework is imported inside the functions.
"""

import importlib
import pkgutil
from types import ModuleType


class ThreadPoolError(RuntimeError):
    """A framework's thread pool has another size than asked for."""


def names() -> list[str]:
    """Return the names of all frameworks, sorted."""
    return sorted(module.name for module in pkgutil.iter_modules(__path__))


def framework(name: str) -> ModuleType:
    """Return the module of the framework `name`."""
    return importlib.import_module(f"scripts.frameworks.{name}")
