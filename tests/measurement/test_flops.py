"""Model FLOPs against counts by hand and published ones; in a process of its own, as Keras takes one framework."""

import os
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any

import pytest

from scripts.measurement import flops
from tests.conftest import frameworks_here

pytestmark = pytest.mark.slow


def started(framework: str) -> None:
    os.environ |= {"KERAS_BACKEND": framework, "CUDA_VISIBLE_DEVICES": "-1"}


@pytest.fixture(scope="module")
def keras_process() -> Iterator[ProcessPoolExecutor]:
    framework = ("jax" in frameworks_here() and "jax") or frameworks_here()[0]
    with ProcessPoolExecutor(1, get_context("spawn"), initializer=started, initargs=(framework,)) as pool:
        yield pool


def counted(kind: str) -> tuple[int | None, int]:
    """Return the count of a small model, and what it is by hand: 2 x products, three times."""
    import keras
    from keras import layers

    class Own(layers.Layer):
        def build(self, shape: tuple) -> None:
            self.weight = self.add_weight((3,))

        def call(self, x: Any) -> Any:
            return x

    shape, stack, products = {
        "dense": ((10,), [layers.Dense(7), layers.Dropout(0.5), layers.Dense(3)], 10 * 7 + 7 * 3),
        "dense of positions": ((5, 10), [layers.Dense(7)], 5 * 10 * 7),
        "convolution": (
            (8, 9, 3),
            [layers.Conv2D(4, (3, 2)), layers.BatchNormalization(), layers.MaxPooling2D()],
            6 * 8 * 4 * (3 * 2 * 3),
        ),
        "groups": ((8, 6), [layers.Conv1D(4, 3, padding="same", groups=2)], 8 * 4 * 3 * 3),
        "recurrence": ((5, 6), [layers.Bidirectional(layers.LSTM(4))], 2 * 5 * 4 * 4 * (6 + 4)),
        "words": ((5,), [layers.Embedding(100, 6), layers.GRU(4)], 5 * 3 * 4 * (6 + 4)),
        "not known": ((3,), [Own()], -1),
        "of any length": ((None,), [layers.Embedding(100, 6), layers.GRU(4)], -1),
    }[kind]
    return flops.per_trained_sample(keras.Sequential([keras.Input(shape), *stack])), 3 * 2 * products


@pytest.mark.parametrize("kind", ["dense", "dense of positions", "convolution", "groups", "recurrence", "words"])
def test_products_are_counted(keras_process: ProcessPoolExecutor, kind: str) -> None:
    found, by_hand = keras_process.submit(counted, kind).result()
    assert found == by_hand


@pytest.mark.parametrize("kind", ["not known", "of any length"])
def test_what_is_not_known_is_not_guessed(keras_process: ProcessPoolExecutor, kind: str) -> None:
    assert keras_process.submit(counted, kind).result()[0] is None


def published(name: str) -> float:
    """Return 10^9 multiply-adds of a forward pass through a network of keras.applications, inside another model."""
    import keras

    size = 299 if name == "InceptionV3" else 224
    image = keras.Input((size, size, 3), dtype="uint8")
    network = getattr(keras.applications, name)(weights=None)
    return flops.per_trained_sample(keras.Model(image, network(keras.layers.Rescaling(1 / 255)(image)))) / 6e9


@pytest.mark.nightly
@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "multiply_adds"),
    # He et al. 2016, table 1 (3.8, strides in another place: 3.9); VGG: He et al. (15.3 convolutions) and its dense
    # layers, 15.5; Szegedy et al. 2016, section 9 (5 billion), torchvision's tables 5.7.
    [("ResNet50", 3.9), ("VGG16", 15.5), ("InceptionV3", 5.7)],
)
def test_networks_have_the_published_count(keras_process: ProcessPoolExecutor, name: str, multiply_adds: float) -> None:
    assert keras_process.submit(published, name).result() == pytest.approx(multiply_adds, rel=0.02)


def attention() -> int | None:
    import keras

    x = keras.Input((16, 12))
    return flops.per_trained_sample(keras.Model(x, keras.layers.MultiHeadAttention(3, 4, use_bias=False)(x, x)))


def test_attention_is_its_projections_and_its_scores(keras_process: ProcessPoolExecutor) -> None:
    projections, scores = 4 * 16 * 12 * 12, 2 * 16 * 16 * 12
    assert keras_process.submit(attention).result() == 6 * (projections + scores)
