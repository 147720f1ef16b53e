"""Methods of Keras's objects replaced while a function is traced, and what sparse updates replace."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from scripts.frameworks import Unsupported

#: What a faster method replaces while a function is traced: object, name of its method, function.
Replacement = tuple[Any, str, Callable]


@contextmanager
def replaced(replacements: list[Replacement]) -> Iterator[None]:
    """Put the functions in the place of the objects' methods, which come back at the end."""
    for owner, name, function in replacements:
        setattr(owner, name, function)
    try:
        yield
    finally:
        for owner, name, _ in replacements:
            delattr(owner, name)


def row_reads(model) -> list[Replacement]:
    """Let embeddings read rows: once rows were written singly, TensorFlow copies a variable that is read whole.

    Raises `Unsupported` for a model without an embedding.
    """
    import keras
    import tensorflow as tf

    def call(layer, indices):
        return tf.cast(tf.gather(layer.embeddings.value, tf.cast(indices, tf.int64)), layer.compute_dtype)

    layers = [layer for layer in model._flatten_layers() if type(layer) is keras.layers.Embedding]
    if not layers:
        raise Unsupported("sparse updates need an embedding, and the model has none")
    return [(layer, "call", partial(call, layer)) for layer in layers]
