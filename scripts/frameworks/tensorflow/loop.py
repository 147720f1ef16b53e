"""The tuned loop: a `tf.function` over the epoch, the samples and their order on the device."""

from collections.abc import Callable

import numpy as np

from scripts.frameworks._model import as_fitted, check_logs, named, own_steps, states
from scripts.frameworks.tensorflow.device import synchronise
from scripts.frameworks.tensorflow.lstm import fast_lstms
from scripts.frameworks.tensorflow.optimizers import fused_update
from scripts.frameworks.tensorflow.replace import replaced, row_reads
from scripts.workloads import Samples, count, mapped


class Loop:
    """A `tf.function` over the epoch, the samples and their order on the device; see `scripts.frameworks.Loop`."""

    def __init__(
        self,
        model,
        x: Samples,
        y: Samples,
        validation: tuple[Samples, Samples] | None,
        batch_size: int,
        devices: int = 1,
        sparse: bool = False,
    ) -> None:
        import tensorflow as tf

        self._own = own_steps(model, devices, sparse)
        self._strategy = model.distribute_strategy
        if self._strategy.num_replicas_in_sync != devices:
            raise ValueError(
                f"the model was built for {self._strategy.num_replicas_in_sync} devices, not for {devices}"
            )
        self._model = model
        self._batch_size = batch_size
        self._devices = devices
        self._samples = count(x)
        self._validation_samples = count(validation[0]) if validation else 0
        with self._strategy.scope():
            model._symbolic_build(data_batch=mapped(lambda array: array[:batch_size], (x, y)))
            self._order = tf.Variable(np.arange(self._samples), trainable=False)
            self._train_data = self._on_devices(x, y)
            self._validation_data = self._on_devices(*validation) if validation else None
            self._faster = [*fast_lstms(model), *(row_reads(model) if sparse else ())]
            self._fused = fused_update(model, sparse)
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
        known = (*model.variables, *states(model), *model.optimizer.variables, *model.metrics_variables)
        return list({id(variable): variable for variable in known}.values())

    def finish(self) -> dict[str, float]:
        return named(self._model, self._model.get_metrics_result())

    def validate(self) -> dict[str, float]:
        if self._validation_data is None:
            return {}
        self._model.reset_metrics()
        self._test_all()
        return {f"val_{name}": value for name, value in self.finish().items()}

    def close(self) -> None:
        """Nothing was started that does not end with this process."""

    def _on_devices(self, *samples: Samples):
        import tensorflow as tf

        on_gpu = bool(tf.config.list_logical_devices("GPU"))

        def tensor(array: np.ndarray):
            # TensorFlow holds int32 in the memory of the host.
            return tf.constant(array.astype(np.int64) if on_gpu and array.dtype == np.int32 else array)

        samples = as_fitted(samples)
        if self._devices == 1:
            return mapped(tensor, samples)
        return self._strategy.experimental_distribute_values_from_function(lambda context: mapped(tensor, samples))

    def _batches(self, step: Callable, first, last) -> None:
        import tensorflow as tf

        def body(batch):
            step(batch * self._batch_size, self._batch_size)
            return (batch + 1,)

        tf.while_loop(lambda batch: batch < last, body, (first,))

    def _train(self, first, samples: int) -> None:
        with replaced([*self._faster, *self._fused]):
            self._on_each(self._train_step, first, samples, self._train_data, self._order)

    def _test(self, first, samples: int) -> None:
        with replaced(self._faster):
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
            x, y = tf.nest.map_structure(lambda array: tf.gather(array, rows), (x, y))
            step(x, y, (end - begin) * self._devices / samples)

        if self._devices == 1:
            on_device(*data)
        else:
            self._strategy.run(on_device, args=data)

    def _train_step(self, x, y, share: float) -> None:
        """Train on one device's part of a batch; `share` is its size relative to an even part."""
        import tensorflow as tf

        model = self._model
        if "train_step" in self._own:
            check_logs(model, model.train_step((x, y)))
            return
        weights = model.trainable_weights

        def gradients(x, y):
            with tf.GradientTape() as tape:
                predicted, loss = self._forward(x, y, training=True)
                scaled = model.optimizer.scale_loss(loss if share == 1 else loss * tf.cast(share, loss.dtype))
            return predicted, _masks(predicted), loss, tape.gradient(scaled, weights)

        if self._xla:
            gradients = tf.function(gradients, jit_compile=True, autograph=False)
        predicted, masks, loss, slopes = gradients(x, y)
        model.optimizer.apply_gradients(zip(slopes, weights, strict=True))
        self._measure(x, y, predicted, masks, loss, share)

    def _test_step(self, x, y, share: float) -> None:
        import tensorflow as tf

        if "test_step" in self._own:
            check_logs(self._model, self._model.test_step((x, y)))
            return

        def forward(x, y):
            predicted, loss = self._forward(x, y, training=False)
            return predicted, _masks(predicted), loss

        if self._xla:
            forward = tf.function(forward, jit_compile=True, autograph=False)
        predicted, masks, loss = forward(x, y)
        self._measure(x, y, predicted, masks, loss, share)

    def _forward(self, x, y, training: bool):
        model = self._model
        predicted = model(x, training=training) if model._call_has_training_arg else model(x)
        return predicted, model._compute_loss(x=x, y=y, y_pred=predicted, training=training)

    def _measure(self, x, y, predicted, masks: list, loss, share: float) -> None:
        """Count the batch in the means of the epoch, on the device."""
        import tensorflow as tf
        from keras.src.backend import set_keras_mask

        if share:
            # A compiled function returns its tensors without their masks.
            for tensor, mask in zip(tf.nest.flatten(predicted), masks, strict=True):
                if mask is not None:
                    set_keras_mask(tensor, mask)
            samples = tf.nest.flatten(x)[0].shape[0]
            # Keras has divided the loss by the number of devices.
            self._model._loss_tracker.update_state(loss * self._devices, sample_weight=samples)
            self._model.compute_metrics(x, y, predicted)


def _masks(predicted) -> list:
    import tensorflow as tf
    from keras.src.backend import get_keras_mask

    return [get_keras_mask(tensor) for tensor in tf.nest.flatten(predicted)]


def _gains_from_xla(model) -> bool:
    """Return whether to compile the gradients.

    On a CPU that makes recurrences faster, and all else slower: convolutions many times. On a GPU it is Keras's
    choice: not with cuDNN's recurrences, nor with layers that XLA has not.
    """
    import keras
    import tensorflow as tf

    layers = model._flatten_layers()
    gains = bool(tf.config.list_logical_devices("GPU")) or any(isinstance(layer, keras.layers.RNN) for layer in layers)
    return gains and all(layer.supports_jit for layer in layers)
