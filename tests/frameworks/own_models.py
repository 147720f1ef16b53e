"""Small models with parts of their own, which `tuned` honours or refuses; see `tests.frameworks.models`."""

from typing import Any

from tests.frameworks.models import _dense, _rows


def top_accuracies():
    """Top-3 accuracies before and behind the accuracy, with names like its own."""
    import keras

    top = keras.metrics.SparseTopKCategoricalAccuracy
    return _dense(metrics=[top(3, name="acc"), "accuracy", top(2, name="top2_acc")]), *_rows()


def own_metric():
    """A metric with a state of its own, which no mean is."""
    import keras
    from keras import ops

    class Largest(keras.metrics.Metric):
        def __init__(self):
            super().__init__(name="largest")
            self.seen = self.add_variable((), "zeros", name="seen")

        def update_state(self, y_true, y_pred, sample_weight=None):
            self.seen.assign(ops.maximum(self.seen, ops.max(y_pred)))

        def result(self):
            return self.seen + 0.0  # a variable itself would go on changing in the logs

    return _dense(metrics=[Largest(), "acc"]), *_rows()


def own_layer():
    """A layer that counts its batches, in validation too, and adds a loss."""
    import keras
    from keras import ops

    class Counter(keras.layers.Layer):
        def build(self, shape):
            self.batches = self.add_weight(shape=(), initializer="zeros", trainable=False)

        def call(self, inputs):
            self.batches.assign(self.batches + 1)
            self.add_loss(0.01 * ops.mean(ops.square(inputs)))
            return inputs / (1 + 0.1 * self.batches)

    model = keras.Sequential([keras.Input((6,)), keras.layers.Dense(8), Counter(), keras.layers.Dense(5, "softmax")])
    model.compile("sgd", "sparse_categorical_crossentropy", metrics=["acc"])
    return model, *_rows()


def own_loss():
    """Its own `compute_loss` and `compute_metrics`, and a `call` that does not get whether it trains."""
    import keras
    from keras import ops

    class Model(keras.Model):
        def __init__(self):
            super().__init__()
            self.hidden = keras.layers.Dense(8, activation="tanh")
            self.out = keras.layers.Dense(5, activation="softmax")

        def call(self, x):
            return self.out(self.hidden(x))

        def compute_loss(self, x, y, y_pred, sample_weight=None):
            return super().compute_loss(x, y, y_pred, sample_weight) + 0.1 * ops.mean(ops.square(x[:, :5] - y_pred))

        def compute_metrics(self, x, y, y_pred, sample_weight=None):
            return super().compute_metrics(x, y, 1 - y_pred, sample_weight)

    model = Model()
    model.compile("adam", "sparse_categorical_crossentropy", metrics=["acc"])
    return model, *_rows()


def _stepped(logs_of_batch: bool = False, optimizer: Any = "sgd"):
    """Return a model whose own steps train and validate on twice the loss, and log it under a name of its own."""
    import keras

    class Model(keras.Model):
        def __init__(self, *arguments, **options):
            super().__init__(*arguments, **options)
            self.mean = keras.metrics.Mean(name="loss")
            self.hits = keras.metrics.SparseCategoricalAccuracy(name="hits")

        @property
        def metrics(self):
            return [self.mean, self.hits]

        def _logs(self, loss, y, predicted):
            self.mean.update_state(loss)
            self.hits.update_state(y, predicted)
            return {"last": loss} if logs_of_batch else {each.name: each.result() for each in self.metrics}

        def train_step(self, *arguments):
            return getattr(self, f"_{keras.backend.backend()}")(*arguments)

        def test_step(self, *arguments):
            if keras.backend.backend() != "jax":
                (x, y), *_ = arguments
                predicted = self(x, training=False)
                return self._logs(2 * self.compute_loss(x, y, predicted), y, predicted)
            (trained, other, metrics), (x, y) = arguments
            predicted, other = self.stateless_call(trained, other, x, training=False)
            loss, *_ = self.stateless_compute_loss(trained, other, metrics, x, y, predicted, training=False)
            logs, metrics = self._counted(metrics, 2 * loss, y, predicted)
            return logs, (trained, other, metrics)

        def _tensorflow(self, data):
            import tensorflow as tf

            x, y = data
            with tf.GradientTape() as tape:
                predicted = self(x, training=True)
                loss = 2 * self.compute_loss(x, y, predicted)
            self.optimizer.apply(tape.gradient(loss, self.trainable_variables), self.trainable_variables)
            return self._logs(loss, y, predicted)

        def _torch(self, data):
            import torch

            x, y = data
            self.zero_grad()
            predicted = self(x, training=True)
            loss = 2 * self.compute_loss(x, y, predicted)
            loss.backward()
            with torch.no_grad():
                self.optimizer.apply([each.value.grad for each in self.trainable_weights], self.trainable_weights)
            return self._logs(loss, y, predicted)

        def _jax(self, state, data):
            import jax

            trained, other, optimizer, metrics = state
            x, y = data

            def loss_of(trained, other):
                predicted, other = self.stateless_call(trained, other, x, training=True)
                loss, *_ = self.stateless_compute_loss(trained, other, metrics, x, y, predicted)
                return 2 * loss, (predicted, other)

            (loss, (predicted, other)), slopes = jax.value_and_grad(loss_of, has_aux=True)(trained, other)
            trained, optimizer = self.optimizer.stateless_apply(optimizer, slopes, trained)
            logs, metrics = self._counted(metrics, loss, y, predicted)
            return logs, (trained, other, optimizer, metrics)

        def _counted(self, metrics, *batch):
            with keras.StatelessScope(state_mapping=zip(self.metrics_variables, metrics, strict=True)) as scope:
                logs = self._logs(*batch)
            return logs, [scope.get_current_value(each) for each in self.metrics_variables]

    first = keras.Input((6,))
    hidden = keras.layers.Dense(8, activation="relu")(first)
    model = Model(first, keras.layers.Dense(5, activation="softmax")(hidden))
    model.compile(optimizer, "sparse_categorical_crossentropy")
    return model, *_rows()


def own_steps():
    """Its own `train_step` and `test_step`, with metrics of its own."""
    return _stepped(optimizer="adam")


def logs_of_a_batch():
    """A `train_step` that logs a value of the last batch."""
    return _stepped(logs_of_batch=True)


def own_fit():
    """A `fit` of its own."""
    import keras

    class Model(keras.Sequential):
        def fit(self, *arguments, **options):
            return super().fit(*arguments, **options)

    model = Model([keras.Input((6,)), keras.layers.Dense(5)])
    model.compile("sgd", "sparse_categorical_crossentropy")
    return model, *_rows()


def two_optimizers():
    """A second optimizer, as adversaries have."""
    import keras

    model = _dense()
    model.other = keras.optimizers.Adam()
    return model, *_rows()
