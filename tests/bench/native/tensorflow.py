"""The six classic workloads in plain TensorFlow, each in the fastest form that was found; no Keras.

Tried on one CPU core: XLA for the whole epoch, for a step, for the gradients, for the update or for nothing; fused
optimiser kernels against formulas; recurrences differentiated by TensorFlow, by hand, unrolled, and as `BlockLSTM`.
`FORMS` holds the winners.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

Tensor = Any


class Form(NamedTuple):
    """How a workload is trained: its network, its optimiser, and whether XLA compiles the gradients."""

    network: Callable[["Weights", Tensor, int | None], Tensor]
    optimizer: Callable[[list[tf.Variable]], Callable[[list[Tensor]], None]]
    xla: bool = False


class Weights:
    """The variables of a network, made when it first asks for them."""

    def __init__(self) -> None:
        self.variables: dict[str, tf.Variable] = {}
        self._rng = np.random.default_rng(1)

    def glorot(self, name: str, *shape: int) -> tf.Variable:
        receptive = int(np.prod(shape[:-2]))
        limit = np.sqrt(6 / (receptive * (shape[-2] + shape[-1])))
        return self._variable(name, lambda: self._rng.uniform(-limit, limit, shape))

    def uniform(self, name: str, *shape: int) -> tf.Variable:
        return self._variable(name, lambda: self._rng.uniform(-0.05, 0.05, shape))

    def zeros(self, name: str, *shape: int) -> tf.Variable:
        return self._variable(name, lambda: np.zeros(shape))

    def _variable(self, name: str, values: Callable[[], np.ndarray]) -> tf.Variable:
        if name not in self.variables:
            with tf.init_scope():
                self.variables[name] = tf.Variable(values().astype(np.float32), name=name)
        return self.variables[name]


def build(
    workload: str, x: np.ndarray, y: np.ndarray, batch_size: int, classes: int | None
) -> Callable[[np.ndarray, int, int], float]:
    """Return `run(order, first, last)`: train these whole batches of the order and return their mean loss."""
    form = FORMS[workload]
    weights = Weights()
    images, labels = tf.constant(x), tf.constant(y)
    form.network(weights, images[:1], classes)
    variables = list(weights.variables.values())
    apply = form.optimizer(variables)

    def gradients(inputs: Tensor, targets: Tensor) -> tuple[Tensor, list[Tensor]]:
        with tf.GradientTape() as tape:
            scores = form.network(weights, inputs, classes)
            if scores.shape[-1] == 1:
                losses = tf.nn.sigmoid_cross_entropy_with_logits(targets[:, None], scores)
            else:
                losses = tf.nn.sparse_softmax_cross_entropy_with_logits(tf.cast(targets, tf.int32), scores)
            loss = tf.reduce_mean(losses)
        return loss, tape.gradient(loss, variables)

    if form.xla:
        gradients = tf.function(gradients, jit_compile=True, autograph=False)

    @tf.function(autograph=False)
    def train(order: Tensor, first: Tensor, last: Tensor) -> Tensor:
        def step(batch: Tensor, total: Tensor) -> tuple[Tensor, Tensor]:
            rows = tf.slice(order, [batch * batch_size], [batch_size])
            loss, slopes = gradients(tf.gather(images, rows), tf.gather(labels, rows))
            apply(slopes)
            return batch + 1, total + loss

        _, total = tf.while_loop(lambda batch, total: batch < last, step, (first, 0.0))
        return total / tf.cast(last - first, tf.float32)

    def run(order: np.ndarray, first: int, last: int) -> float:
        return float(train(tf.constant(order), tf.constant(first), tf.constant(last)))

    return run


def mnist_mlp(weights: Weights, x: Tensor, classes: int | None) -> Tensor:
    for layer, (inputs, units) in enumerate([(784, 512), (512, 512)]):
        x = tf.nn.relu(_dense(weights, f"dense{layer}", x, inputs, units))
        x = tf.nn.dropout(x, 0.2)
    return _dense(weights, "out", x, 512, 10)


def mnist_cnn(weights: Weights, x: Tensor, classes: int | None) -> Tensor:
    x = _convolution(weights, "conv0", x, 1, 32)
    x = _convolution(weights, "conv1", x, 32, 64)
    x = tf.nn.dropout(tf.nn.max_pool2d(x, 2, 2, "VALID"), 0.25)
    x = tf.nn.relu(_dense(weights, "dense", tf.reshape(x, (-1, 9216)), 9216, 128))
    return _dense(weights, "out", tf.nn.dropout(x, 0.5), 128, 10)


def cifar10_cnn(weights: Weights, x: Tensor, classes: int | None) -> Tensor:
    x = _moved(x)
    for block, (inputs, filters) in enumerate([(3, 32), (32, 64)]):
        x = _convolution(weights, f"conv{block}a", x, inputs, filters, "SAME")
        x = _convolution(weights, f"conv{block}b", x, filters, filters)
        x = tf.nn.dropout(tf.nn.max_pool2d(x, 2, 2, "VALID"), 0.25)
    x = tf.nn.relu(_dense(weights, "dense", tf.reshape(x, (-1, 2304)), 2304, 512))
    return _dense(weights, "out", tf.nn.dropout(x, 0.5), 512, 10)


def imdb_bidirectional_lstm(weights: Weights, x: Tensor, classes: int | None) -> Tensor:
    x = tf.gather(weights.uniform("embedding", 20_000, 128), x)
    both = [_lstm(weights, "forward", x, 64), _lstm(weights, "backward", x[:, ::-1], 64)]
    return _dense(weights, "out", tf.nn.dropout(tf.concat(both, 1), 0.5), 128, 1)


def imdb_fasttext(weights: Weights, x: Tensor, classes: int | None) -> Tensor:
    x = tf.reduce_mean(tf.gather(weights.uniform("embedding", classes, 50), x), 1)
    return _dense(weights, "out", x, 50, 1)


def lstm_text_generation(weights: Weights, x: Tensor, classes: int | None) -> Tensor:
    x = _lstm(weights, "lstm", tf.cast(x, tf.float32), 128)
    return _dense(weights, "out", x, 128, classes)


def _dense(weights: Weights, name: str, x: Tensor, inputs: int, units: int) -> Tensor:
    return tf.nn.bias_add(tf.matmul(x, weights.glorot(f"{name}/kernel", inputs, units)), weights.zeros(name, units))


def _convolution(weights: Weights, name: str, x: Tensor, inputs: int, filters: int, padding: str = "VALID") -> Tensor:
    x = tf.nn.conv2d(x, weights.glorot(f"{name}/kernel", 3, 3, inputs, filters), 1, padding)
    return tf.nn.relu(tf.nn.bias_add(x, weights.zeros(name, filters)))


def _moved(images: Tensor) -> Tensor:
    """Shift each image by up to a tenth, and flip every second one."""
    batch, height, width = images.shape[:3]
    shift_x, shift_y = (tf.random.uniform((batch,), -0.1, 0.1) * size for size in (width, height))
    one, zero = tf.ones((batch,)), tf.zeros((batch,))
    flip = tf.cast(tf.random.uniform((batch,)) < 0.5, tf.float32)
    # Flip and shift are one affine map.
    transforms = tf.stack([1 - 2 * flip, zero, flip * (width - 1) + shift_x, zero, one, shift_y, zero, zero], axis=1)
    return tf.raw_ops.ImageProjectiveTransformV3(
        images=images,
        transforms=transforms,
        output_shape=(height, width),
        fill_value=0.0,
        interpolation="BILINEAR",
        fill_mode="NEAREST",
    )


def _lstm(weights: Weights, name: str, x: Tensor, units: int) -> Tensor:
    """Return the last output; the gradients of all steps' weights are one product, after the loop."""
    batch, length, inputs = x.shape
    kernel, recurrent = (
        weights.glorot(f"{name}/{part}", rows, 4 * units) for part, rows in (("x", inputs), ("h", units))
    )
    bias = weights._variable(f"{name}/bias", lambda: np.repeat([0.0, 1.0, 0.0, 0.0], units))

    def store(width: int) -> tf.TensorArray:
        return tf.TensorArray(tf.float32, length, element_shape=(batch, width), clear_after_read=False)

    @tf.custom_gradient
    def run(x: Tensor, kernel: Tensor, recurrent: Tensor, bias: Tensor) -> tuple[Tensor, Callable]:
        x = tf.reshape(tf.transpose(x, (1, 0, 2)), (-1, inputs))
        z = tf.reshape(tf.matmul(x, kernel) + bias, (length, batch, 4 * units))

        def forward(t, h, c, *stores):
            i, f, g, o = tf.split(z[t] + tf.matmul(h, recurrent), 4, 1)
            i, f, g, o = tf.sigmoid(i), tf.sigmoid(f), tf.tanh(g), tf.sigmoid(o)
            stores = [array.write(t, value) for array, value in zip(stores, (h, c, i, f, g, o), strict=True)]
            c = f * c + i * g
            return t + 1, o * tf.tanh(c), c, *stores

        start = tf.zeros((batch, units))
        _, last, c, *stores = tf.while_loop(
            lambda t, *_: t < length,
            forward,
            (0, start, start, *(store(units) for _ in range(6))),
            maximum_iterations=length,
        )
        hs, cs, *gates = (array.stack() for array in stores)

        def gradient(dh):
            transposed = tf.transpose(recurrent)

            def backward(t, dh, dc, after, dzs):
                (i, f, g, o), before, squashed = (gate[t] for gate in gates), cs[t], tf.tanh(after)
                dc += dh * o * (1 - squashed * squashed)
                slopes = (
                    dc * g * i * (1 - i),
                    dc * before * f * (1 - f),
                    dc * i * (1 - g * g),
                    dh * squashed * o * (1 - o),
                )
                dz = tf.concat(slopes, 1)
                return t - 1, tf.matmul(dz, transposed), dc * f, before, dzs.write(t, dz)

            *_, dzs = tf.while_loop(
                lambda t, *_: t >= 0,
                backward,
                (length - 1, dh, tf.zeros_like(dh), c, store(4 * units)),
                maximum_iterations=length,
            )
            dz = tf.reshape(dzs.stack(), (-1, 4 * units))
            dx = tf.reshape(tf.matmul(dz, kernel, transpose_b=True), (length, batch, inputs))
            return (
                tf.transpose(dx, (1, 0, 2)),
                tf.matmul(x, dz, transpose_a=True),
                tf.matmul(tf.reshape(hs, (-1, units)), dz, transpose_a=True),
                tf.reduce_sum(dz, 0),
            )

        return last, gradient

    return run(x, *(tf.convert_to_tensor(weight) for weight in (kernel, recurrent, bias)))


def _zeros(variables: list[tf.Variable]) -> list[tf.Variable]:
    return [tf.Variable(tf.zeros_like(variable)) for variable in variables]


def adam(variables: list[tf.Variable]) -> Callable[[list[Tensor]], None]:
    momentums, velocities = _zeros(variables), _zeros(variables)
    steps = tf.Variable(0.0)

    def apply(gradients: list[Tensor]) -> None:
        step = steps.assign_add(1.0)
        for variable, m, v, gradient in zip(variables, momentums, velocities, gradients, strict=True):
            tf.raw_ops.ResourceApplyAdam(
                var=variable.handle,
                m=m.handle,
                v=v.handle,
                beta1_power=0.9**step,
                beta2_power=0.999**step,
                lr=0.001,
                beta1=0.9,
                beta2=0.999,
                epsilon=1e-7,
                grad=tf.convert_to_tensor(gradient),
            )

    return apply


def rmsprop(rate: float) -> Callable[[list[tf.Variable]], Callable[[list[Tensor]], None]]:
    def make(variables: list[tf.Variable]) -> Callable[[list[Tensor]], None]:
        velocities, momentums = _zeros(variables), _zeros(variables)

        def apply(gradients: list[Tensor]) -> None:
            for variable, v, m, gradient in zip(variables, velocities, momentums, gradients, strict=True):
                tf.raw_ops.ResourceApplyRMSProp(
                    var=variable.handle,
                    ms=v.handle,
                    mom=m.handle,
                    lr=rate,
                    rho=0.9,
                    momentum=0.0,
                    epsilon=1e-7,
                    grad=gradient,
                )

        return apply

    return make


def adadelta(variables: list[tf.Variable]) -> Callable[[list[Tensor]], None]:
    gradients_squared, updates_squared = _zeros(variables), _zeros(variables)

    def apply(gradients: list[Tensor]) -> None:
        for variable, a, u, gradient in zip(variables, gradients_squared, updates_squared, gradients, strict=True):
            tf.raw_ops.ResourceApplyAdadelta(
                var=variable.handle,
                accum=a.handle,
                accum_update=u.handle,
                lr=1.0,
                rho=0.95,
                epsilon=1e-7,
                grad=gradient,
            )

    return apply


FORMS = {
    "mnist_mlp": Form(mnist_mlp, rmsprop(0.001)),
    "mnist_cnn": Form(mnist_cnn, adadelta),
    "cifar10_cnn": Form(cifar10_cnn, rmsprop(1e-4)),
    "imdb_bidirectional_lstm": Form(imdb_bidirectional_lstm, adam, xla=True),
    "imdb_fasttext": Form(imdb_fasttext, adam),
    "lstm_text_generation": Form(lstm_text_generation, rmsprop(0.01), xla=True),
}
