"""Samples as arrays, or as dicts, lists and tuples of them: one array for each input or output of a model."""

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

#: An array whose first axis is the samples, or a tree of such arrays.
Samples: TypeAlias = Any


def mapped(function: Callable[[np.ndarray], Any], samples: Samples) -> Any:
    """Return the tree with `function` of each of its arrays."""
    match samples:
        case dict():
            return {name: mapped(function, part) for name, part in samples.items()}
        case list() | tuple():
            return type(samples)([mapped(function, part) for part in samples])
    return function(samples)


def count(*samples: Samples) -> int:
    """Return the number of samples; ValueError if the arrays have not all the same."""
    found: set[int] = set()
    mapped(lambda array: found.add(len(array)), samples)
    if len(found) != 1:
        raise ValueError(f"the arrays of a split have different numbers of samples: {sorted(found)}")
    return found.pop()
