"""Sparse updates: a step that moves only those rows of an embedding that its batch looks up."""

from collections.abc import Iterator
from contextlib import contextmanager

from scripts.frameworks import Unsupported

#: The slots of the optimisers that have a lazy form: with a row of an embedding, their rows rest too.
LAZY = {"Adam": ("_momentums", "_velocities"), "RMSprop": ("_velocities",)}


@contextmanager
def lazy_rows(optimiser, tables: list) -> Iterator[None]:
    """Shrink embedding `tables` and their slots to the rows that a step looks up, until it is done.

    `tables` are variables of Keras (rows, width), each looked up once; `optimiser` is one of `LAZY`.
    """
    import torch
    from keras.src.backend.torch import numpy as keras_numpy
    from keras.src.backend.torch.core import convert_to_tensor

    keras_take = keras_numpy.take
    whole: list[tuple] = []

    def take(x, indices, axis=None):
        table = next((table for table in tables if table is x), None)
        if table is None:
            return keras_take(x, indices, axis)
        if any(table is taken for taken, _, _ in whole):
            raise Unsupported("sparse updates are for an embedding that is looked up once per step")
        rows, places = torch.unique(convert_to_tensor(indices).long(), return_inverse=True)
        index = optimiser._get_variable_index(table)
        slots = [getattr(optimiser, name)[index] for name in LAZY[type(optimiser).__name__]]
        for variable in (table, *slots):
            whole.append((variable, variable._value, rows))
            variable._value = variable._value.detach()[rows]
        return torch.nn.functional.embedding(places, table._value.requires_grad_())

    keras_numpy.take = take
    try:
        yield
    finally:
        keras_numpy.take = keras_take
        with torch.no_grad():
            for variable, value, rows in whole:
                value[rows] = variable._value
                variable._value = value
