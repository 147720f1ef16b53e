"""TensorFlow: thread pools through its configuration, devices by `sync_devices`, a `tf.function` over the epoch."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, partial
from typing import Any

import numpy as np

from scripts.frameworks import ThreadPoolError, Unsupported, UnsupportedDevice

DISTRIBUTIONS = ("tensorflow",)


def environment(cores: int, virtual: int = 1) -> dict[str, str]:
    """Quiet start-up messages; the pools and the virtual devices are made in `start`."""
    return {"TF_CPP_MIN_LOG_LEVEL": "2", "OMP_NUM_THREADS": str(cores)}


def start(cores: int, virtual: int = 1) -> list[str]:
    """Import TensorFlow with pools of `cores` threads and GPU memory taken as needed; return its devices."""
    import tensorflow as tf

    tf.config.threading.set_intra_op_parallelism_threads(cores)
    # A replica that waits for the others in an all-reduce holds its thread.
    tf.config.threading.set_inter_op_parallelism_threads(max(cores, virtual))
    gpus = tf.config.list_physical_devices("GPU")
    for gpu in gpus:
        tf.config.experimental.set_memory_growth(gpu, True)
    if virtual > 1:
        (cpu,) = tf.config.list_physical_devices("CPU")
        tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * virtual)
    threads = tf.config.threading.get_intra_op_parallelism_threads()
    if threads != cores:
        raise ThreadPoolError(f"TensorFlow runs {threads} threads, not {cores}")
    return [device.name for device in gpus or tf.config.list_logical_devices("CPU")]


def synchronise() -> None:
    """Wait for every device."""
    import tensorflow as tf

    tf.test.experimental.sync_devices()


def set_precision(precision: str) -> None:
    """Allow tf32, which TensorFlow does unasked, for `tf32` only."""
    import tensorflow as tf

    if precision == "tf32":
        gpus = tf.config.list_physical_devices("GPU")
        capabilities = [
            tf.config.experimental.get_device_details(gpu).get("compute_capability", (0, 0)) for gpu in gpus
        ]
        if min(capabilities, default=(0, 0)) < (8, 0):
            raise UnsupportedDevice("tf32 needs GPUs of compute capability 8.0 or later")
    tf.config.experimental.enable_tensor_float_32_execution(precision == "tf32")


@contextmanager
def parallel(devices: int) -> Iterator[None]:
    """Mirror what is built inside over `devices` GPUs, or virtual CPUs where there is no GPU."""
    import tensorflow as tf

    if devices == 1:
        yield
        return
    names = [device.name for device in tf.config.list_logical_devices("GPU") or tf.config.list_logical_devices("CPU")]
    if len(names) < devices:
        raise UnsupportedDevice(f"TensorFlow sees {len(names)} devices, not {devices}")
    with _mirrored(tuple(names[:devices])).scope():
        yield


@cache
def _mirrored(names: tuple[str, ...]):
    """Return the strategy for these devices: two of them in one process would mix up their all-reduces."""
    import tensorflow as tf

    return tf.distribute.MirroredStrategy(names)


class Loop:
    """A `tf.function` over the epoch, the samples and their order on the device; see `scripts.frameworks.Loop`."""

    def __init__(
        self,
        model,
        x: np.ndarray,
        y: np.ndarray,
        validation: tuple[np.ndarray, np.ndarray] | None,
        batch_size: int,
        devices: int = 1,
        sparse: bool = False,
    ) -> None:
        import keras
        import tensorflow as tf

        if type(model).train_step is not keras.Model.train_step:
            raise Unsupported("the tuned loop has its own training step, and so has the model")
        self._strategy = model.distribute_strategy
        if self._strategy.num_replicas_in_sync != devices:
            raise ValueError(
                f"the model was built for {self._strategy.num_replicas_in_sync} devices, not for {devices}"
            )
        self._model = model
        self._batch_size = batch_size
        self._devices = devices
        self._samples = len(x)
        self._validation_samples = len(validation[0]) if validation else 0
        with self._strategy.scope():
            model._symbolic_build(data_batch=(x[:batch_size], y[:batch_size]))
            self._order = tf.Variable(np.arange(len(x)), trainable=False)
            self._train_data = self._on_devices(x, y)
            self._validation_data = self._on_devices(*validation) if validation else None
            self._faster = [*_faster_lstms(model), *(_row_reads(model) if sparse else ())]
            self._fused = _fused_update(model, sparse)
        self._xla = _gains_from_xla(model)
        self.settings = {
            "loop": "tf.function over the epoch",
            "input": "gathered on the device",
            "xla": "gradients" if self._xla else "off",
            "optimizer": "fused" if self._fused else "of Keras",
            "embeddings": "rows of the batch" if sparse else "dense",
            "lstm": "gradient by hand" if any(name == "inner_loop" for _, name, _ in self._faster) else "of Keras",
        }
        step = tf.TensorSpec((), tf.int64)
        self._train_whole = tf.function(
            lambda first, last: self._batches(self._train, first, last), input_signature=(step, step), autograph=False
        )
        self._train_odd = tf.function(
            lambda: self._train(self._samples // batch_size * batch_size, self._samples % batch_size),
            input_signature=(),
            autograph=False,
        )
        self._test_all = tf.function(self._test_epoch, input_signature=(), autograph=False)

    def compile(self) -> None:
        import tensorflow as tf

        variables = [variable.value for variable in self._variables()]
        kept = [tf.identity(variable) for variable in variables]
        # XLA compiles when its function first runs.
        if self._samples >= self._batch_size:
            self.steps(0, 1)
        self.rest()
        self.validate()
        for variable, value in zip(variables, kept, strict=True):
            variable.assign(value)
        synchronise()

    def begin(self, order: np.ndarray) -> None:
        self._model.reset_metrics()
        self._order.assign(order)

    def steps(self, first: int, last: int) -> None:
        import tensorflow as tf

        self._train_whole(tf.constant(first, tf.int64), tf.constant(last, tf.int64))

    def rest(self) -> None:
        if self._samples % self._batch_size:
            self._train_odd()

    def state(self) -> list[np.ndarray]:
        return [np.array(variable) for variable in self._variables()]

    def restore(self, state: list[np.ndarray]) -> None:
        for variable, value in zip(self._variables(), state, strict=True):
            variable.assign(value)

    def _variables(self) -> list:
        model = self._model
        known = (*model.variables, *model.optimizer.variables, *model.metrics_variables)
        return list({id(variable): variable for variable in known}.values())

    def finish(self) -> dict[str, float]:
        return {name: float(value) for name, value in self._model.get_metrics_result().items()}

    def validate(self) -> dict[str, float]:
        if self._validation_data is None:
            return {}
        self._model.reset_metrics()
        self._test_all()
        return {f"val_{name}": value for name, value in self.finish().items()}

    def close(self) -> None:
        """Nothing was started that does not end with this process."""

    def _on_devices(self, *arrays: np.ndarray):
        import keras
        import tensorflow as tf

        on_gpu = bool(tf.config.list_logical_devices("GPU"))

        def tensor(array: np.ndarray):
            if np.issubdtype(array.dtype, np.floating):
                array = array.astype(keras.config.floatx(), copy=False)
            # TensorFlow holds int32 in the memory of the host.
            return tf.constant(array.astype(np.int64) if on_gpu and array.dtype == np.int32 else array)

        if self._devices == 1:
            return tuple(tensor(array) for array in arrays)
        return self._strategy.experimental_distribute_values_from_function(
            lambda context: tuple(tensor(array) for array in arrays)
        )

    def _batches(self, step: Callable, first, last) -> None:
        import tensorflow as tf

        def body(batch):
            step(batch * self._batch_size, self._batch_size)
            return (batch + 1,)

        tf.while_loop(lambda batch: batch < last, body, (first,))

    def _train(self, first, samples: int) -> None:
        with _replaced([*self._faster, *self._fused]):
            self._on_each(self._train_step, first, samples, self._train_data, self._order)

    def _test(self, first, samples: int) -> None:
        with _replaced(self._faster):
            self._on_each(self._test_step, first, samples, self._validation_data)

    def _test_epoch(self) -> None:
        import tensorflow as tf

        whole, odd = divmod(self._validation_samples, self._batch_size)
        self._batches(self._test, tf.constant(0, tf.int64), whole)
        if odd:
            self._test(whole * self._batch_size, odd)

    def _on_each(self, step: Callable, first, samples: int, data, order=None) -> None:
        """Run `step` on every device, on its share of the `samples` that follow the one numbered `first`."""
        import tensorflow as tf

        def on_device(x, y):
            replica = tf.distribute.get_replica_context().replica_id_in_sync_group
            replica = int(tf.get_static_value(replica)) if self._devices > 1 else 0
            begin, end = (samples * edge // self._devices for edge in (replica, replica + 1))
            # A device without a sample takes one that counts nothing: the others wait for its gradient.
            rows = first + begin + tf.range(max(end - begin, 1), dtype=tf.int64)
            if order is not None:
                rows = tf.gather(order, rows)
            step(tf.gather(x, rows), tf.gather(y, rows), (end - begin) * self._devices / samples)

        if self._devices == 1:
            on_device(*data)
        else:
            self._strategy.run(on_device, args=data)

    def _train_step(self, x, y, share: float) -> None:
        """Train on one device's part of a batch; `share` is its size relative to an even part."""
        import tensorflow as tf

        model = self._model
        weights = model.trainable_weights

        def gradients(x, y):
            with tf.GradientTape() as tape:
                predicted = model(x, training=True)
                loss = model._compute_loss(x=x, y=y, y_pred=predicted, training=True)
                scaled = model.optimizer.scale_loss(loss if share == 1 else loss * tf.cast(share, loss.dtype))
            return predicted, loss, tape.gradient(scaled, weights)

        if self._xla:
            gradients = tf.function(gradients, jit_compile=True, autograph=False)
        predicted, loss, slopes = gradients(x, y)
        model.optimizer.apply_gradients(zip(slopes, weights, strict=True))
        self._measure(x, y, predicted, loss, share)

    def _test_step(self, x, y, share: float) -> None:
        import tensorflow as tf

        def forward(x, y):
            predicted = self._model(x, training=False)
            return predicted, self._model._compute_loss(x=x, y=y, y_pred=predicted, training=False)

        if self._xla:
            forward = tf.function(forward, jit_compile=True, autograph=False)
        predicted, loss = forward(x, y)
        self._measure(x, y, predicted, loss, share)

    def _measure(self, x, y, predicted, loss, share: float) -> None:
        """Count the batch in the means of the epoch, on the device."""
        if share:
            # Keras has divided the loss by the number of devices.
            self._model._loss_tracker.update_state(loss * self._devices, sample_weight=x.shape[0])
            self._model.compute_metrics(x, y, predicted)


#: What a faster method replaces while a function is traced: object, name of its method, function.
_Replacement = tuple[Any, str, Callable]


@contextmanager
def _replaced(replacements: list[_Replacement]) -> Iterator[None]:
    for owner, name, function in replacements:
        setattr(owner, name, function)
    try:
        yield
    finally:
        for owner, name, _ in replacements:
            delattr(owner, name)


def _gains_from_xla(model) -> bool:
    """Tell whether to compile the gradients.

    On a CPU that makes recurrences faster, and all else slower: convolutions many times. On a GPU it is Keras's
    choice: not with cuDNN's recurrences, nor with layers that XLA has not.
    """
    import keras
    import tensorflow as tf

    layers = model._flatten_layers()
    if tf.config.list_logical_devices("GPU"):
        return all(layer.supports_jit for layer in layers)
    return any(isinstance(layer, keras.layers.RNN) for layer in layers)


def _faster_lstms(model) -> list[_Replacement]:
    """Let plain LSTM layers run `_lstm`, but on a GPU, where cuDNN does."""
    import keras
    import tensorflow as tf

    def inner_loop(layer, sequences, initial_state, mask, training=False):
        if mask is not None:
            return type(layer).inner_loop(layer, sequences, initial_state, mask, training)
        cell = layer.cell
        weights = [tf.cast(weight, sequences.dtype) for weight in (cell.kernel, cell.recurrent_kernel, cell.bias)]
        outputs, carry = _lstm(sequences, initial_state, weights, layer.go_backwards, layer.return_sequences)
        last = outputs[:, -1] if layer.return_sequences else outputs
        return last, outputs, [last, carry]

    def plain(layer) -> bool:
        return (
            isinstance(layer, keras.layers.LSTM)
            and (layer.activation, layer.recurrent_activation) == (keras.activations.tanh, keras.activations.sigmoid)
            and layer.use_bias
            and not layer.dropout
            and not layer.recurrent_dropout
        )

    if tf.config.list_logical_devices("GPU"):
        return []
    return [(layer, "inner_loop", partial(inner_loop, layer)) for layer in model._flatten_layers() if plain(layer)]


def _row_reads(model) -> list[_Replacement]:
    """Let embeddings read rows: once rows were written singly, TensorFlow copies a variable that is read whole."""
    import keras
    import tensorflow as tf

    def call(layer, indices):
        return tf.cast(tf.gather(layer.embeddings.value, tf.cast(indices, tf.int64)), layer.compute_dtype)

    layers = [layer for layer in model._flatten_layers() if type(layer) is keras.layers.Embedding]
    if not layers:
        raise Unsupported("sparse updates need an embedding, and the model has none")
    return [(layer, "call", partial(call, layer)) for layer in layers]


def _fused_update(model, sparse: bool) -> list[_Replacement]:
    """Let the optimiser use TensorFlow's kernels: a pass or three over the memory where Keras's formula takes ten.

    With `sparse`, a gradient that has rows updates these rows only.
    """
    from keras import optimizers

    optimizer = getattr(model.optimizer, "inner_optimizer", model.optimizer)
    own = type(optimizer).update_step
    dense: Callable | None = None
    lazy: Callable | None = None
    if own is optimizers.Adam.update_step and not optimizer.amsgrad:
        dense, lazy = _adam, _adam_rows
    elif own is optimizers.RMSprop.update_step and not optimizer.centered:
        dense, lazy = _rmsprop(optimizer), None if optimizer.momentum else _rmsprop_rows
    elif own is optimizers.Adadelta.update_step:
        dense = _adadelta
    elif own is optimizers.SGD.update_step:
        dense = _sgd
    if sparse and lazy is None:
        raise Unsupported(f"no sparse updates for this {type(optimizer).__name__}")
    if dense is None:
        return []

    def update_step(gradient, variable, rate):
        import tensorflow as tf

        index = optimizer._get_variable_index(variable)
        rate = tf.cast(rate, variable.dtype)
        if lazy and sparse and isinstance(gradient, tf.IndexedSlices):
            rows, places = tf.unique(gradient.indices)
            values = tf.math.unsorted_segment_sum(gradient.values, places, tf.size(rows))
            lazy(optimizer, index, variable, rate, tf.cast(values, variable.dtype), rows)
        else:
            dense(optimizer, index, variable, rate, tf.cast(tf.convert_to_tensor(gradient), variable.dtype))

    return [(optimizer, "update_step", update_step)]


def _adam(optimizer, index: int, variable, rate, gradient) -> None:
    import tensorflow as tf

    step = tf.cast(optimizer.iterations + 1, variable.dtype)
    tf.raw_ops.ResourceApplyAdam(
        var=variable.handle,
        m=optimizer._momentums[index].value.handle,
        v=optimizer._velocities[index].value.handle,
        beta1_power=tf.cast(optimizer.beta_1, variable.dtype) ** step,
        beta2_power=tf.cast(optimizer.beta_2, variable.dtype) ** step,
        lr=rate,
        beta1=optimizer.beta_1,
        beta2=optimizer.beta_2,
        epsilon=optimizer.epsilon,
        grad=gradient,
    )


def _adam_rows(optimizer, index: int, variable, rate, gradient, rows) -> None:
    import tensorflow as tf

    step = tf.cast(optimizer.iterations + 1, variable.dtype)
    momentum, velocity = (slot[index].value.handle for slot in (optimizer._momentums, optimizer._velocities))
    m, v = (
        tf.raw_ops.ResourceGather(resource=slot, indices=rows, dtype=variable.dtype) for slot in (momentum, velocity)
    )
    m += (gradient - m) * (1 - optimizer.beta_1)
    v += (gradient * gradient - v) * (1 - optimizer.beta_2)
    rate *= tf.sqrt(1 - optimizer.beta_2**step) / (1 - optimizer.beta_1**step)
    tf.raw_ops.ResourceScatterUpdate(resource=momentum, indices=rows, updates=m)
    tf.raw_ops.ResourceScatterUpdate(resource=velocity, indices=rows, updates=v)
    update = rate * m / (tf.sqrt(v) + optimizer.epsilon)
    tf.raw_ops.ResourceScatterSub(resource=variable.handle, indices=rows, updates=update)


def _rmsprop(optimizer) -> Callable:
    import tensorflow as tf

    # The kernel writes a momentum even where there is none.
    momentums = [slot.value for slot in optimizer._momentums] or [
        tf.Variable(tf.zeros(weight.shape, weight.dtype), trainable=False) for weight in optimizer._trainable_variables
    ]

    def update(optimizer, index: int, variable, rate, gradient) -> None:
        tf.raw_ops.ResourceApplyRMSProp(
            var=variable.handle,
            ms=optimizer._velocities[index].value.handle,
            mom=momentums[index].handle,
            lr=rate,
            rho=optimizer.rho,
            momentum=optimizer.momentum,
            epsilon=optimizer.epsilon,
            grad=gradient,
        )

    return update


def _rmsprop_rows(optimizer, index: int, variable, rate, gradient, rows) -> None:
    import tensorflow as tf

    velocity = optimizer._velocities[index].value.handle
    v = tf.raw_ops.ResourceGather(resource=velocity, indices=rows, dtype=variable.dtype)
    v = optimizer.rho * v + (1 - optimizer.rho) * gradient * gradient
    tf.raw_ops.ResourceScatterUpdate(resource=velocity, indices=rows, updates=v)
    update = rate * gradient / tf.sqrt(v + optimizer.epsilon)
    tf.raw_ops.ResourceScatterSub(resource=variable.handle, indices=rows, updates=update)


def _adadelta(optimizer, index: int, variable, rate, gradient) -> None:
    import tensorflow as tf

    tf.raw_ops.ResourceApplyAdadelta(
        var=variable.handle,
        accum=optimizer._accumulated_grads[index].value.handle,
        accum_update=optimizer._accumulated_delta_vars[index].value.handle,
        lr=rate,
        rho=optimizer.rho,
        epsilon=optimizer.epsilon,
        grad=gradient,
    )


def _sgd(optimizer, index: int, variable, rate, gradient) -> None:
    import tensorflow as tf

    if optimizer.momentum:
        tf.raw_ops.ResourceApplyKerasMomentum(
            var=variable.handle,
            accum=optimizer.momentums[index].value.handle,
            lr=rate,
            grad=gradient,
            momentum=optimizer.momentum,
            use_nesterov=optimizer.nesterov,
        )
    else:
        tf.raw_ops.ResourceApplyGradientDescent(var=variable.handle, alpha=rate, delta=gradient)


def _lstm(x, states: list, weights: list, backwards: bool, sequences: bool):
    """Return the outputs (all, or the last) and the last carry of an LSTM: one product for all steps where one can.

    Only what depends on the step before stays in the loops. What TensorFlow makes of a loop that it
    differentiates itself sums the gradients of the weights step by step.
    """
    import tensorflow as tf

    batch, length, inputs = x.shape
    units = states[0].shape[-1]

    def loop(body: Callable, start: tuple, width: int, stored: int, reverse: bool = False):
        """Return the last state of `body` and, stacked in the order of time, what it stored at each step."""
        arrays = [tf.TensorArray(x.dtype, length, element_shape=(batch, width), clear_after_read=False)] * stored

        def step(count, state, arrays):
            time = length - 1 - count if reverse else count
            state, values = body(time, *state)
            return count + 1, state, [array.write(time, value) for array, value in zip(arrays, values, strict=True)]

        _, state, arrays = tf.while_loop(
            lambda count, *_: count < length, step, (0, start, arrays), maximum_iterations=length
        )
        return state, [array.stack() for array in arrays]

    @tf.custom_gradient
    def run(x, hidden, carry, kernel, recurrent, bias):
        x = tf.reshape(tf.transpose(x[:, ::-1] if backwards else x, (1, 0, 2)), (-1, inputs))
        projected = tf.reshape(tf.matmul(x, kernel) + bias, (length, batch, 4 * units))

        def forward(time, hidden, carry):
            i, f, g, o = tf.split(projected[time] + tf.matmul(hidden, recurrent), 4, 1)
            i, f, g, o = tf.sigmoid(i), tf.sigmoid(f), tf.tanh(g), tf.sigmoid(o)
            after = f * carry + i * g
            return (o * tf.tanh(after), after), (hidden, carry, i, f, g, o)

        (last, last_carry), (hiddens, carries, *gates) = loop(forward, (hidden, carry), units, 6)

        def gradient(d_outputs, d_carry):
            if sequences:
                d_outputs = tf.transpose(d_outputs, (1, 0, 2))
            transposed = tf.transpose(recurrent)

            def backward(time, d_hidden, d_carry, after):
                i, f, g, o = (gate[time] for gate in gates)
                before, squashed = carries[time], tf.tanh(after)
                if sequences:
                    d_hidden = d_hidden + d_outputs[time]
                d_carry = d_carry + d_hidden * o * (1 - squashed * squashed)
                d_sums = tf.concat(
                    [
                        d_carry * g * i * (1 - i),
                        d_carry * before * f * (1 - f),
                        d_carry * i * (1 - g * g),
                        d_hidden * squashed * o * (1 - o),
                    ],
                    1,
                )
                return (tf.matmul(d_sums, transposed), d_carry * f, before), (d_sums,)

            start = (tf.zeros_like(hidden) if sequences else d_outputs, d_carry, last_carry)
            (d_hidden, d_carry, _), (d_sums,) = loop(backward, start, 4 * units, 1, reverse=True)
            d_sums = tf.reshape(d_sums, (-1, 4 * units))
            d_x = tf.reshape(tf.matmul(d_sums, kernel, transpose_b=True), (length, batch, inputs))
            d_x = tf.transpose(d_x, (1, 0, 2))
            return (
                d_x[:, ::-1] if backwards else d_x,
                d_hidden,
                d_carry,
                tf.matmul(x, d_sums, transpose_a=True),
                tf.matmul(tf.reshape(hiddens, (-1, units)), d_sums, transpose_a=True),
                tf.reduce_sum(d_sums, 0),
            )

        outputs = tf.transpose(tf.concat([hiddens[1:], last[None]], 0), (1, 0, 2)) if sequences else last
        return (outputs, last_carry), gradient

    return run(x, *states, *weights)
