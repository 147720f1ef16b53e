"""What XLA computes slowly on a CPU, by other operations with the same result: pooling, convolution, the LSTM."""

import itertools
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from scripts.frameworks.jax.lstm import fast_lstm

#: Patches hold a convolution's input as many times as its kernel has elements: this much of a batch at most.
_PATCHES_BYTES = 256 * 2**20


def _last(data_format: str | None) -> bool:
    import keras

    return (data_format or keras.config.image_data_format()) == "channels_last"


def fast_max_pool(stock: Callable) -> Callable:
    """Return Keras's maximum of windows, where they tile the input as one over their elements.

    `stock` is Keras's function, and what is returned takes its arguments: inputs (samples, *lengths, channels).
    Its gradient is Keras's too, at ties all to the first element; XLA's gradient of a window is slow on a CPU.
    """

    def max_pool(
        inputs: Any, pool_size: Any, strides: Any = None, padding: str = "valid", data_format: str | None = None
    ) -> Any:
        import jax.numpy as jnp

        sizes = np.broadcast_to(pool_size, inputs.ndim - 2).tolist()
        tiling = padding == "valid" and np.broadcast_to(strides, len(sizes)).tolist() == sizes
        if not (tiling and _last(data_format)):
            return stock(inputs, pool_size, strides, padding, data_format)
        counts = [length // size for length, size in zip(inputs.shape[1:-1], sizes, strict=True)]
        whole = [slice(count * size) for count, size in zip(counts, sizes, strict=True)]
        split = itertools.chain(*zip(counts, sizes, strict=True))
        windows = inputs[:, *whole].reshape(len(inputs), *split, inputs.shape[-1])
        largest, *others = (
            windows[:, *itertools.chain(*((slice(None), place) for place in places))]
            for places in itertools.product(*map(range, sizes))
        )
        for other in others:
            largest = jnp.where((other > largest) | jnp.isnan(other), other, largest)
        return largest

    return max_pool


def fast_conv(stock: Callable) -> Callable:
    """Return Keras's convolution, where it is a plain one as a product of patches and kernel.

    `stock` is Keras's function, and what is returned takes its arguments: inputs (samples, *lengths, channels) and a
    kernel (*sizes, channels, outputs).
    """

    def conv(
        inputs: Any,
        kernel: Any,
        strides: Any = 1,
        padding: str = "valid",
        data_format: str | None = None,
        dilation_rate: Any = 1,
    ) -> Any:
        import jax.numpy as jnp
        import keras

        *sizes, channels, outputs = kernel.shape
        plain = np.all(np.equal(strides, 1)) and np.all(np.equal(dilation_rate, 1)) and _last(data_format)
        if not plain or channels != inputs.shape[-1] or math.prod(sizes) == 1:
            return stock(inputs, kernel, strides, padding, data_format, dilation_rate)
        kernel = keras.ops.convert_to_tensor(kernel)
        padded = keras.ops.convert_to_tensor(inputs, dtype=kernel.dtype)
        if padding == "same":
            padded = jnp.pad(padded, [(0, 0), *(((size - 1) // 2, size // 2) for size in sizes), (0, 0)])
        lengths = [length - size + 1 for length, size in zip(padded.shape[1:-1], sizes, strict=True)]
        if len(inputs) * math.prod(lengths) * math.prod(sizes) * channels * kernel.dtype.itemsize > _PATCHES_BYTES:
            return stock(inputs, kernel, strides, padding, data_format, dilation_rate)
        shifts = [
            padded[:, *(slice(start, start + length) for start, length in zip(starts, lengths, strict=True))]
            for starts in itertools.product(*map(range, sizes))
        ]
        kernel = kernel.reshape(-1, outputs)
        # Of two axes: XLA takes a tenth longer for the product of more.
        product = jnp.concatenate(shifts, axis=-1).reshape(-1, len(kernel)) @ kernel
        return product.reshape(len(inputs), *lengths, outputs)

    return conv


@contextmanager
def fast_kernels(patches: bool) -> Iterator[None]:
    """On a CPU, replace Keras's pooling, its LSTM and, for `patches`, its convolution: the same mathematics."""
    import jax
    from keras.src import backend
    from keras.src.backend.jax import nn

    stock = nn.max_pool, nn.conv, backend.lstm
    try:
        if jax.default_backend() == "cpu":
            nn.max_pool = fast_max_pool(nn.max_pool)
            nn.conv = fast_conv(nn.conv) if patches else nn.conv
            backend.lstm = fast_lstm(backend.lstm)
        yield
    finally:
        nn.max_pool, nn.conv, backend.lstm = stock
