"""JAX: one pool, sized by `NPROC` when its CPU client starts, devices by waiting for every live array."""

import itertools
import math
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from copy import copy
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from scripts.frameworks import ThreadPoolError, Unsupported, UnsupportedDevice

DISTRIBUTIONS = ("jax", "jaxlib")

#: Patches hold a convolution's input as many times as its kernel has elements: this much of a batch at most.
_PATCHES_BYTES = 256 * 2**20
#: Forms of a step train so long in turns before the fastest is taken.
_TRIED_SECONDS = 2


def environment(cores: int, virtual: int) -> dict[str, str]:
    """XLA reads the number of threads of its CPU client from `NPROC`, that of its CPU devices from `XLA_FLAGS`."""
    variables = {
        "NPROC": str(cores),
        "OMP_NUM_THREADS": str(cores),
        "XLA_PYTHON_CLIENT_PREALLOCATE": "false",
    }
    if virtual > 1:
        flags = f"{os.environ.get('XLA_FLAGS', '')} --xla_force_host_platform_device_count={virtual}"
        variables["XLA_FLAGS"] = flags.strip()
    return variables


def _pool_threads() -> int:
    """Count the threads of XLA's Eigen pool by their names in /proc."""
    names = []
    for path in Path("/proc/self/task").glob("*/comm"):
        with suppress(FileNotFoundError, ProcessLookupError):  # a thread of another pool that has just ended
            names.append(path.read_text())
    return sum("XLAEigen" in name for name in names)


def start(cores: int, virtual: int) -> list[str]:
    """Import JAX, start its client and return its devices."""
    import jax

    devices = jax.devices()
    threads = _pool_threads()
    # Each part of a CPU has a thread of its own, even where they are more than the cores.
    expected = max(cores, virtual)
    if devices[0].platform == "cpu" and threads != expected:
        raise ThreadPoolError(f"JAX runs {threads} threads, not {expected}")
    return [str(device) for device in devices]


def synchronise() -> None:
    """Wait until every array that is still alive has been computed."""
    import jax

    jax.block_until_ready(jax.live_arrays())


def set_precision(precision: str) -> None:
    """Allow tf32 products of float32 for `tf32`, else forbid them."""
    import jax

    if precision != "tf32":
        jax.config.update("jax_default_matmul_precision", "highest")
        return
    device = jax.devices()[0]
    # tf32 came with compute capability 8.0.
    if device.platform != "gpu" or float(getattr(device, "compute_capability", "0")) < 8:
        raise UnsupportedDevice(f"{device.device_kind} has no tf32")
    jax.config.update("jax_default_matmul_precision", "tensorfloat32")


def _first(devices: int) -> list:
    import jax

    found = jax.devices()[:devices]
    if len(found) < devices:
        raise UnsupportedDevice(f"JAX has {len(found)} devices, not {devices}")
    return found


@contextmanager
def parallel(devices: int) -> Iterator[None]:
    """Build and fit on the first `devices` devices, each with an equal share of every batch."""
    import keras

    # Keras would send even one device's batches through its sharding, which takes time.
    if devices == 1:
        yield
        return
    names = [f"{device.platform}:{device.id}" for device in _first(devices)]
    before = keras.distribution.distribution()
    keras.distribution.set_distribution(keras.distribution.DataParallel(devices=names, auto_shard_dataset=False))
    try:
        yield
    finally:
        keras.distribution.set_distribution(before)


def _last(data_format: str | None) -> bool:
    import keras

    return (data_format or keras.config.image_data_format()) == "channels_last"


def _max_pool(stock: Callable) -> Callable:
    """Return Keras's maximum of windows, where they tile the input as one over their elements.

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


def _conv(stock: Callable) -> Callable:
    """Return Keras's convolution, where it is a plain one as a product of patches and kernel."""

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
def _twins(patches: bool) -> Iterator[None]:
    """On a CPU, replace Keras's pooling and, for `patches`, its convolution by twins with the same mathematics."""
    import jax
    from keras.src.backend.jax import nn

    stock = nn.max_pool, nn.conv
    try:
        if jax.default_backend() == "cpu":
            nn.max_pool = _max_pool(nn.max_pool)
            nn.conv = _conv(nn.conv) if patches else nn.conv
        yield
    finally:
        nn.max_pool, nn.conv = stock


class _Batches:
    """`step(state, (x, y)) -> state` over the batches of samples that stay on the device."""

    def __init__(self, step: Callable, samples: tuple[np.ndarray, np.ndarray], size: int, mesh: Any) -> None:
        import jax
        from jax.sharding import NamedSharding, PartitionSpec

        self._step = step
        self._size = size
        self._copied = NamedSharding(mesh, PartitionSpec())
        self._shared = NamedSharding(mesh, PartitionSpec("batch"))
        self._data = jax.device_put(samples, self._copied)
        self.count = len(samples[0])
        self.whole, self.odd = divmod(self.count, size)

    def compile(self, state: Any, patches: bool) -> None:
        """Compile for a state of this form, convolutions of XLA or as products of patches."""
        import jax

        order = jax.ShapeDtypeStruct((self.count,), "int32", sharding=self._copied)
        self.patches, self.convolutions, self.looped = patches, 0, False
        with _twins(patches):
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
        x, y = (array.at[places].get(mode="promise_in_bounds") for array in samples)
        return self._step(state, (x, y))


def _lazy_adam(optimizer: Any, step: Any, gradient: Any, row: Any, m: Any, v: Any) -> tuple:
    m += (1 - optimizer.beta_1) * (gradient - m)
    v += (1 - optimizer.beta_2) * (gradient**2 - v)
    rate = optimizer.learning_rate.value * (1 - optimizer.beta_2**step) ** 0.5 / (1 - optimizer.beta_1**step)
    return row - rate * m / (v**0.5 + optimizer.epsilon), m, v


def _lazy_rmsprop(optimizer: Any, step: Any, gradient: Any, row: Any, v: Any) -> tuple:
    v = optimizer.rho * v + (1 - optimizer.rho) * gradient**2
    return row - optimizer.learning_rate.value * gradient / (v + optimizer.epsilon) ** 0.5, v


class _SparseStep:
    """A training step that moves only those rows of the embeddings that the batch holds, and their moments."""

    def __init__(self, model: Any) -> None:
        import keras

        self._model = model
        self._optimizer = optimizer = model.optimizer
        layers = [layer for layer in model._flatten_layers() if type(layer) is keras.layers.Embedding]
        variables = list(map(id, model.trainable_variables))
        #: Each embedding by the place of its table among the trainable variables.
        self._layers = {
            variables.index(id(part.embeddings)): part for part in layers if id(part.embeddings) in variables
        }
        if not self._layers:
            raise Unsupported("mode sparse: the model trains no embedding")
        rule: Callable
        if type(optimizer) is keras.optimizers.Adam and not optimizer.amsgrad:
            rule, moments = _lazy_adam, [optimizer._momentums, optimizer._velocities]
        elif type(optimizer) is keras.optimizers.RMSprop and not optimizer.momentum and not optimizer.centered:
            rule, moments = _lazy_rmsprop, [optimizer._velocities]
        else:
            raise Unsupported(f"mode sparse: no such form of {type(optimizer).__name__} with these settings")
        self._rule = rule
        extras = ("clipnorm", "clipvalue", "global_clipnorm", "weight_decay", "use_ema", "gradient_accumulation_steps")
        for extra in extras:
            if getattr(optimizer, extra):
                raise Unsupported(f"mode sparse: the optimizer has {extra}")
        kept = list(map(id, optimizer.variables))
        #: The places of a table's moments among the optimizer's variables.
        self._moments = {
            place: [kept.index(id(moment[optimizer._get_variable_index(layer.embeddings)])) for moment in moments]
            for place, layer in self._layers.items()
        }

    def __call__(self, state: Any, data: Any) -> Any:
        import jax
        import jax.numpy as jnp
        from keras import StatelessScope

        model, optimizer = self._model, self._optimizer
        values, other, optimizer_values, metrics = state
        dense = [place for place in range(len(values)) if place not in self._layers]
        looked_up: list[int] = []

        def loss(learned: list, nudges: list | None) -> Any:
            """Return the loss where each row that is looked up is nudged: its gradient is that of the row."""
            found: list = []

            def lookup(place: int, layer: Any) -> Callable:
                def call(inputs: Any) -> Any:
                    rows = values[place][inputs.astype("int32")]
                    if nudges is not None:
                        rows += nudges[len(found)]
                    found.append((place, inputs, rows))
                    return rows.astype(layer.compute_dtype)

                return call

            merged = list(values)
            for place, value in zip(dense, learned, strict=True):
                merged[place] = value
            try:
                for place, layer in self._layers.items():
                    layer.call = lookup(place, layer)
                value, aux = model.compute_loss_and_updates(
                    merged, other, metrics, *data, None, training=True, optimizer_variables=optimizer_values
                )
            finally:
                for layer in self._layers.values():
                    del layer.call
            looked_up[:] = [place for place, _, _ in found]
            return value, (aux, [inputs for _, inputs, _ in found], [rows for _, _, rows in found])

        learned = [values[place] for place in dense]
        _, (_, _, rows) = jax.eval_shape(lambda learned: loss(learned, None), learned)
        nudges = [jnp.zeros(row.shape, row.dtype) for row in rows]
        gradients, (aux, inputs, _) = jax.grad(loss, argnums=(0, 1), has_aux=True)(learned, nudges)
        unscaled, predicted, other, metrics = aux

        pairs = [*zip(model.trainable_variables, values, strict=True)]
        pairs += zip(optimizer.variables, optimizer_values, strict=True)
        with StatelessScope(state_mapping=pairs) as scope:
            optimizer.apply(gradients[0], [model.trainable_variables[place] for place in dense])
            for place in self._layers:
                calls = [call for call, table in enumerate(looked_up) if table == place]
                table = [model.trainable_variables[place], *(optimizer.variables[at] for at in self._moments[place])]
                width = table[0].shape[1]
                indices = jnp.concatenate([inputs[call].ravel() for call in calls])
                sums = jnp.concatenate([gradients[1][call].reshape(-1, width) for call in calls])
                # Places that are left over lie behind the last row, where nothing is written.
                indices, inverse = jnp.unique(
                    indices, return_inverse=True, size=len(indices), fill_value=table[0].shape[0]
                )
                sums = jax.ops.segment_sum(sums, inverse, len(indices))
                old = [variable.value.at[indices].get(mode="clip") for variable in table]
                new = self._rule(optimizer, optimizer.iterations.value.astype("float32"), sums, *old)
                for variable, rows in zip(table, new, strict=True):
                    variable.assign(variable.value.at[indices].set(rows, mode="drop", indices_are_sorted=True))
        _, metrics = model._update_metrics_variables(metrics, unscaled, *data, predicted, None)
        trainable = [scope.get_current_value(variable) for variable in model.trainable_variables]
        return [
            trainable,
            list(other),
            [scope.get_current_value(variable) for variable in optimizer.variables],
            metrics,
        ]


class Loop:
    """Keras's own training step, compiled over samples that stay on the device."""

    def __init__(
        self,
        model: Any,
        x: np.ndarray,
        y: np.ndarray,
        validation: tuple[np.ndarray, np.ndarray] | None,
        batch_size: int,
        devices: int,
        sparse: bool,
    ) -> None:
        import jax

        self._model = model
        model._symbolic_build(data_batch=(x[:batch_size], y[:batch_size]))
        mesh = jax.sharding.Mesh(_first(devices), ("batch",))
        self._everywhere = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec())
        train_step = _SparseStep(model) if sparse else self._train_step
        self._train = _Batches(train_step, (x, y), batch_size, mesh)
        self._test = None if validation is None else _Batches(self._test_step, validation, batch_size, mesh)
        self._state: Any = None
        self.settings = {"samples": "on the device"}

    def compile(self) -> None:
        """Compile the training and the validation."""
        import jax

        state = [
            [jax.ShapeDtypeStruct(variable.shape, variable.dtype, sharding=self._everywhere) for variable in group]
            for group in self._variables()
        ]
        self._train.compile(state, patches=False)
        # Each convolution of a step comes with two gradients: of more than eight layers, XLA's are taken untried.
        if jax.default_backend() == "cpu" and 0 < self._train.convolutions <= 3 * 8:
            # A copy, as JAX would find what it has traced for the same object again.
            other = copy(self._train)
            other.compile(state, patches=True)
            candidates = {"of XLA": self._train, "product of patches": other}
            # A training that is taken up again goes on as it began.
            chosen = candidates.get(self.settings.get("convolution", ""))
            self._train = chosen or self._fastest(*candidates.values())
            self.settings["convolution"] = "product of patches" if self._train.patches else "of XLA"
        self.settings["loop"] = "lax.fori_loop over the batches" if self._train.looped else "one call per batch"
        if self._test is not None:
            self._test.compile(state, self._train.patches)

    def _fastest(self, *candidates: _Batches) -> _Batches:
        """Let the candidates train a copy of the state in turns, for some seconds, and return the fastest."""
        import jax

        values = [[variable.value for variable in group] for group in self._variables()]
        state = jax.device_put(values, self._everywhere, may_alias=False)
        order = self._train.place(np.arange(self._train.count))
        seconds: list[list[float]] = [[] for _ in candidates]
        while sum(map(sum, seconds)) < _TRIED_SECONDS:
            for candidate, taken in zip(candidates, seconds, strict=True):
                start = perf_counter()
                state = jax.block_until_ready(candidate.run(state, order, 0, min(2, candidate.whole)))
                taken.append(perf_counter() - start)
        return candidates[np.argmin([min(taken) for taken in seconds])]

    def begin(self, order: np.ndarray) -> None:
        """Take the state from the model, which has none until `finish`."""
        self._order = self._train.place(order)
        self._take()

    def steps(self, first: int, last: int) -> None:
        """Train the whole batches `first` to `last` - 1 of the order."""
        self._state = self._train.run(self._state, self._order, first, last)

    def rest(self) -> None:
        """Train the odd last batch, if there is one."""
        self._state = self._train.rest(self._state, self._order)

    def state(self) -> list[np.ndarray]:
        """Return the values of all variables, random ones too."""
        import jax

        return [np.asarray(value) for group in jax.device_get(self._state) for value in group]

    def restore(self, state: list[np.ndarray]) -> None:
        """Take the values of all variables."""
        import jax

        values = iter(state)
        groups = [[next(values) for _ in group] for group in self._variables()]
        self._state = jax.device_put(groups, self._everywhere)

    def finish(self) -> dict[str, float]:
        """Give the state back to the model and return the epoch's means."""
        return self._give()

    def validate(self) -> dict[str, float]:
        """Return the means over the validation samples."""
        if self._test is None:
            return {}
        order = self._test.place(np.arange(self._test.count))
        self._take()
        self._state = self._test.run(self._state, order, 0, self._test.whole)
        self._state = self._test.rest(self._state, order)
        return {f"val_{name}": value for name, value in self._give().items()}

    def close(self) -> None:
        """Nothing was started that does not end with this process."""

    def _train_step(self, state: Any, data: Any) -> Any:
        return [list(group) for group in self._model.train_step(state, data)[1]]

    def _test_step(self, state: Any, data: Any) -> Any:
        trainable, other, optimizer, metrics = state
        *_, metrics = self._model.test_step((trainable, other, metrics), data)[1]
        return [trainable, other, optimizer, list(metrics)]

    def _variables(self) -> list[list]:
        model = self._model
        groups = model.trainable_variables, model.non_trainable_variables, model.optimizer.variables
        return [*groups, model.metrics_variables]

    def _take(self) -> None:
        import jax

        self._model.reset_metrics()
        values = [[variable.value for variable in group] for group in self._variables()]
        self._homes = [[value.sharding for value in group] for group in values]
        self._state = jax.device_put(values, self._everywhere)

    def _give(self) -> dict[str, float]:
        import jax

        state = jax.device_put(self._state, self._homes)
        self._state = None
        for variables, values in zip(self._variables(), state, strict=True):
            for variable, value in zip(variables, values, strict=True):
                variable.assign(value)
        return {name: float(value) for name, value in self._model.get_metrics_result().items()}
