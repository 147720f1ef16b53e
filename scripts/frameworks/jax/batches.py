"""A step over batches of samples that stay on the device: in a loop of XLA, or a call for each."""

from collections.abc import Callable
from typing import Any

import numpy as np

from scripts.frameworks.jax.kernels import fast_kernels
from scripts.workloads import Samples, count


class Batches:
    """`step(state, (x, y)) -> state` over the batches of samples that stay on the device.

    Args:
        step: what is traced; x and y hold a batch, the state is lists of arrays.
        samples: all x and y, arrays or trees of arrays, the first axis is the samples.
        size: samples of a batch, over all devices of the mesh.
        mesh: devices with one axis, `batch`.
    """

    def __init__(self, step: Callable, samples: tuple[Samples, Samples], size: int, mesh: Any) -> None:
        import jax
        from jax.sharding import NamedSharding, PartitionSpec

        self._step = step
        self._size = size
        self._copied = NamedSharding(mesh, PartitionSpec())
        self._shared = NamedSharding(mesh, PartitionSpec("batch"))
        self._data = jax.device_put(samples, self._copied)
        self.count = count(samples)
        self.whole, self.odd = divmod(self.count, size)

    def compile(self, state: Any, patches: bool) -> None:
        """Compile for a state of this form, convolutions of XLA or as products of patches."""
        import jax

        order = jax.ShapeDtypeStruct((self.count,), "int32", sharding=self._copied)
        self.patches, self.convolutions, self.looped = patches, 0, False
        with fast_kernels(patches):
            if self.whole:
                loop = jax.jit(self._loop, donate_argnums=0).lower(state, self._data, order, 0, 1)
                self.convolutions = loop.as_text().count("stablehlo.convolution")
                # XLA for CPUs runs a convolution in a loop 17 x slower than outside (jaxlib 0.10.2, MNIST CNN).
                self.looped = jax.default_backend() != "cpu" or not self.convolutions
                self._run = loop.compile() if self.looped else self._compiled(self._batch, state, order, 0)
            self._run_odd = self._compiled(self._odd_batch, state, order) if self.odd else None

    def _compiled(self, function: Callable, state: Any, *arguments: Any) -> Callable:
        import jax

        return jax.jit(function, donate_argnums=0).lower(state, self._data, *arguments).compile()

    def place(self, order: np.ndarray) -> Any:
        """Return the order as the calls below take it."""
        import jax

        return jax.device_put(order.astype(np.int32), self._copied)

    def run(self, state: Any, order: Any, first: int, last: int) -> Any:
        """Step through the whole batches `first` to `last` - 1 of the order; `state` is used up."""
        if self.looped:
            return self._run(state, self._data, order, first, last)
        for batch in range(first, last):
            state = self._run(state, self._data, order, batch)
        return state

    def rest(self, state: Any, order: Any) -> Any:
        """Step through the odd last batch, if there is one; `state` is used up."""
        return self._run_odd(state, self._data, order) if self._run_odd else state

    def _loop(self, state: Any, samples: Any, order: Any, first: Any, last: Any) -> Any:
        import jax

        return jax.lax.fori_loop(first, last, lambda batch, state: self._batch(state, samples, order, batch), state)

    def _batch(self, state: Any, samples: Any, order: Any, batch: Any) -> Any:
        import jax

        return self._taken(state, samples, jax.lax.dynamic_slice(order, (batch * self._size,), (self._size,)))

    def _odd_batch(self, state: Any, samples: Any, order: Any) -> Any:
        return self._taken(state, samples, order[-self.odd :])

    def _taken(self, state: Any, samples: Any, places: Any) -> Any:
        import jax

        places = jax.lax.with_sharding_constraint(places, self._shared)
        batch = jax.tree.map(lambda array: array.at[places].get(mode="promise_in_bounds"), samples)
        return self._step(state, batch)
