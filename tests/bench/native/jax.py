"""The six classic models trained by plain JAX as one writes it by hand for speed: no Keras, the same mathematics."""

import math
from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax, random

from tests.bench.native.jax_lstm import last_output

Run = Callable[[np.ndarray, int, int], float]


def build(workload: str, x: np.ndarray, y: np.ndarray, batch_size: int, classes: int | None) -> Run:
    """Return `run(order, first, last)`, which trains these batches of the order and returns their mean loss."""
    initialise, loss, optimiser = MODELS[workload]
    parameters = initialise(Glorot(), x.shape[1:], classes)
    state = (parameters, optimiser.start(parameters), random.key(1), 0, 0.0)
    samples = jax.device_put((x, y))

    def step(state, samples, order, batch):
        parameters, moments, key, steps, total = state
        key, part = random.split(key)
        places = lax.dynamic_slice(order, (batch * batch_size,), (batch_size,))
        data = [array.at[places].get(mode="promise_in_bounds") for array in samples]
        value, gradients = jax.value_and_grad(loss)(parameters, *data, part)
        leaves, tree = jax.tree.flatten(parameters)
        updated = [
            optimiser.update(leaf, gradient, moment, steps + 1)
            for leaf, gradient, moment in zip(leaves, tree.flatten_up_to(gradients), moments, strict=True)
        ]
        parameters = tree.unflatten([leaf for leaf, _ in updated])
        return parameters, [moment for _, moment in updated], key, steps + 1, total + value

    def loop(state, samples, order, first, last):
        return lax.fori_loop(first, last, lambda batch, state: step(state, samples, order, batch), state)

    looped = jax.jit(loop, donate_argnums=0)
    stepped = jax.jit(step, donate_argnums=0)
    # XLA's convolution runs 17 x slower in a loop on a CPU.
    whole = workload != "cifar10_cnn" or jax.default_backend() != "cpu"

    def run(order: np.ndarray, first: int, last: int) -> float:
        nonlocal state
        state = (*state[:-1], jnp.float32(0))
        places = jnp.asarray(order, jnp.int32)
        if whole:
            state = looped(state, samples, places, first, last)
        else:
            for batch in range(first, last):
                state = stepped(state, samples, places, batch)
        return float(jax.block_until_ready(state)[-1]) / (last - first)

    return run


class Glorot:
    """Draws initial weights."""

    def __init__(self) -> None:
        self.random = np.random.default_rng(1)

    def __call__(self, *shape: int) -> jax.Array:
        field = math.prod(shape[:-2])
        limit = math.sqrt(6 / (field * (shape[-2] + shape[-1])))
        return self.uniform(*shape, limit=limit)

    def uniform(self, *shape: int, limit: float = 0.05) -> jax.Array:
        return jnp.asarray(self.random.uniform(-limit, limit, shape), jnp.float32)

    def orthogonal(self, rows: int, columns: int) -> jax.Array:
        q, r = np.linalg.qr(self.random.standard_normal((columns, rows)))
        return jnp.asarray((q * np.sign(np.diag(r))).T, jnp.float32)

    def dense(self, inputs: int, outputs: int) -> dict:
        return {"w": self(inputs, outputs), "b": jnp.zeros(outputs)}

    def convolution(self, inputs: int, outputs: int) -> dict:
        return {"w": self(3, 3, inputs, outputs), "b": jnp.zeros(outputs)}

    def lstm(self, inputs: int, cells: int) -> dict:
        bias = jnp.zeros(4 * cells).at[cells : 2 * cells].set(1)
        return {"w": self(inputs, 4 * cells), "u": self.orthogonal(cells, 4 * cells), "b": bias}


class RMSprop:
    def __init__(self, rate: float) -> None:
        self.rate = rate

    def start(self, parameters):
        return [jnp.zeros_like(leaf) for leaf in jax.tree.leaves(parameters)]

    def update(self, leaf, gradient, velocity, step):
        velocity = 0.9 * velocity + 0.1 * gradient**2
        return leaf - self.rate * gradient * lax.rsqrt(velocity + 1e-7), velocity


class Adam:
    def start(self, parameters):
        return [(jnp.zeros_like(leaf), jnp.zeros_like(leaf)) for leaf in jax.tree.leaves(parameters)]

    def update(self, leaf, gradient, moments, step):
        m, v = moments
        m = m + 0.1 * (gradient - m)
        v = v + 0.001 * (gradient**2 - v)
        rate = 0.001 * jnp.sqrt(1 - 0.999**step) / (1 - 0.9**step)
        return leaf - rate * m / (jnp.sqrt(v) + 1e-7), (m, v)


class Adadelta:
    def start(self, parameters):
        return [(jnp.zeros_like(leaf), jnp.zeros_like(leaf)) for leaf in jax.tree.leaves(parameters)]

    def update(self, leaf, gradient, averages, step):
        squares, steps = averages
        squares = 0.95 * squares + 0.05 * gradient**2
        change = gradient * jnp.sqrt((steps + 1e-7) / (squares + 1e-7))
        return leaf - change, (squares, 0.95 * steps + 0.05 * change**2)


def dense(layer, x):
    return x @ layer["w"] + layer["b"]


def convolution(layer, x, padding):
    axes = ("NHWC", "HWIO", "NHWC")
    return lax.conv_general_dilated(x, layer["w"], (1, 1), padding, dimension_numbers=axes) + layer["b"]


def convolution_as_product(layer, x):
    """Multiply patches and kernels: twice as fast as XLA's convolution on MNIST, and slower on CIFAR-10 (one core)."""
    height, width, inputs, outputs = layer["w"].shape
    count, rows, columns = x.shape[0], x.shape[1] - height + 1, x.shape[2] - width + 1
    shifts = [x[:, i : i + rows, j : j + columns] for i in range(height) for j in range(width)]
    patches = jnp.concatenate(shifts, axis=-1).reshape(-1, height * width * inputs)
    return (patches @ layer["w"].reshape(-1, outputs)).reshape(count, rows, columns, outputs) + layer["b"]


def pooled(x):
    """As the maximum over an axis: XLA's gradient of a window's maximum is slow on a CPU."""
    count, rows, columns, channels = x.shape
    return x[:, : rows // 2 * 2, : columns // 2 * 2].reshape(count, rows // 2, 2, columns // 2, 2, channels).max((2, 4))


def dropped(x, rate, key):
    return jnp.where(random.bernoulli(key, 1 - rate, x.shape), x / (1 - rate), 0)


def lstm(layer, x, reverse=False):
    """Return the last output."""
    x = jnp.swapaxes(x, 0, 1)
    return last_output(x[::-1] if reverse else x, layer["w"], layer["u"], layer["b"])


def cross_entropy(logits, y):
    return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(logits), y[:, None].astype(jnp.int32), axis=1))


def binary_cross_entropy(logits, y):
    logits = logits[:, 0]
    return jnp.mean(jnp.maximum(logits, 0) - logits * y + jnp.log1p(jnp.exp(-jnp.abs(logits))))


def mlp(glorot, shape, classes):
    return [glorot.dense(784, 512), glorot.dense(512, 512), glorot.dense(512, 10)]


def mlp_loss(layers, x, y, key):
    keys = random.split(key)
    x = dropped(jax.nn.relu(dense(layers[0], x)), 0.2, keys[0])
    x = dropped(jax.nn.relu(dense(layers[1], x)), 0.2, keys[1])
    return cross_entropy(dense(layers[2], x), y)


def mnist_cnn(glorot, shape, classes):
    return [
        glorot.convolution(1, 32),
        glorot.convolution(32, 64),
        glorot.dense(9216, 128),
        glorot.dense(128, 10),
    ]


def mnist_cnn_loss(layers, x, y, key):
    keys = random.split(key)
    x = jax.nn.relu(convolution_as_product(layers[0], x))
    x = pooled(jax.nn.relu(convolution_as_product(layers[1], x)))
    x = dropped(x, 0.25, keys[0]).reshape(len(x), -1)
    x = dropped(jax.nn.relu(dense(layers[2], x)), 0.5, keys[1])
    return cross_entropy(dense(layers[3], x), y)


def cifar10_cnn(glorot, shape, classes):
    return [
        glorot.convolution(3, 32),
        glorot.convolution(32, 32),
        glorot.convolution(32, 64),
        glorot.convolution(64, 64),
        glorot.dense(2304, 512),
        glorot.dense(512, 10),
    ]


def moved(x, key):
    """Shift each image by up to a tenth, edges repeated, and flip every other one."""
    keys = random.split(key, 3)
    size = x.shape[1]

    def shifted(image, shift, axis):
        position = jnp.clip(jnp.arange(size) - shift, 0, size - 1)
        low = jnp.floor(position).astype(jnp.int32)
        high = jnp.minimum(low + 1, size - 1)
        weight = jnp.expand_dims(position - low, [1 - axis, 2])
        return jnp.take(image, low, axis) * (1 - weight) + jnp.take(image, high, axis) * weight

    down, across = (random.uniform(key, (len(x),), minval=-0.1, maxval=0.1) * size for key in keys[:2])
    x = jax.vmap(lambda image, a, b: shifted(shifted(image, a, 0), b, 1))(x, down, across)
    return jnp.where(random.bernoulli(keys[2], 0.5, (len(x), 1, 1, 1)), x[:, :, ::-1], x)


def cifar10_cnn_loss(layers, x, y, key):
    keys = random.split(key, 4)
    x = moved(x, keys[0])
    x = jax.nn.relu(convolution(layers[0], x, "SAME"))
    x = pooled(jax.nn.relu(convolution(layers[1], x, "VALID")))
    x = dropped(x, 0.25, keys[1])
    x = jax.nn.relu(convolution(layers[2], x, "SAME"))
    x = pooled(jax.nn.relu(convolution(layers[3], x, "VALID")))
    x = dropped(x, 0.25, keys[2]).reshape(len(x), -1)
    x = dropped(jax.nn.relu(dense(layers[4], x)), 0.5, keys[3])
    return cross_entropy(dense(layers[5], x), y)


def bidirectional(glorot, shape, classes):
    return {
        "words": glorot.uniform(20_000, 128),
        "forward": glorot.lstm(128, 64),
        "backward": glorot.lstm(128, 64),
        "out": glorot.dense(128, 1),
    }


def bidirectional_loss(layers, x, y, key):
    x = layers["words"][x]
    x = jnp.concatenate([lstm(layers["forward"], x), lstm(layers["backward"], x, reverse=True)], axis=-1)
    return binary_cross_entropy(dense(layers["out"], dropped(x, 0.5, key)), y)


def fasttext(glorot, shape, classes):
    return {"words": glorot.uniform(classes, 50), "out": glorot.dense(50, 1)}


def fasttext_loss(layers, x, y, key):
    return binary_cross_entropy(dense(layers["out"], jnp.mean(layers["words"][x], axis=1)), y)


def characters(glorot, shape, classes):
    return {"lstm": glorot.lstm(classes, 128), "out": glorot.dense(128, classes)}


def characters_loss(layers, x, y, key):
    return cross_entropy(dense(layers["out"], lstm(layers["lstm"], x.astype(jnp.float32))), y)


#: Initial weights, loss and optimiser of each workload.
MODELS = {
    "mnist_mlp": (mlp, mlp_loss, RMSprop(0.001)),
    "mnist_cnn": (mnist_cnn, mnist_cnn_loss, Adadelta()),
    "cifar10_cnn": (cifar10_cnn, cifar10_cnn_loss, RMSprop(0.0001)),
    "imdb_bidirectional_lstm": (bidirectional, bidirectional_loss, Adam()),
    "imdb_fasttext": (fasttext, fasttext_loss, Adam()),
    "lstm_text_generation": (characters, characters_loss, RMSprop(0.01)),
}
