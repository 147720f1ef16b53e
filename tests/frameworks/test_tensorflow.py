"""TensorFlow in processes of its own: Keras takes one framework per process, and the CPU is split before it starts."""

import multiprocessing
import os
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from scripts.frameworks import Unsupported, tensorflow
from scripts.workloads import Split, workload
from tests.frameworks.samples import samples

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        find_spec("tensorflow") is None,
        reason="TensorFlow is not installed: make test FRAMEWORKS='tensorflow jax torch'",
    ),
]

ROOT = Path(__file__).resolve().parents[2]
SAMPLES, VALIDATION, BATCH_SIZE = 21, 11, 8


def started(virtual: int) -> None:
    """Start TensorFlow and Keras on one core, split into `virtual` devices."""
    os.environ |= tensorflow.environment(1, virtual)
    os.environ |= {"KERAS_BACKEND": "tensorflow", "KERAS_HOME": str(ROOT / ".cache" / "keras")}
    os.environ["CUDA_VISIBLE_DEVICES"] = "-1"
    assert len(tensorflow.start(1, virtual)) == virtual


def process(virtual: int) -> ProcessPoolExecutor:
    return ProcessPoolExecutor(1, multiprocessing.get_context("spawn"), initializer=started, initargs=(virtual,))


@pytest.fixture(scope="module")
def one() -> Iterator[ProcessPoolExecutor]:
    """A process with one device."""
    with process(1) as pool:
        yield pool


@pytest.fixture(scope="module")
def two() -> Iterator[ProcessPoolExecutor]:
    """A process with two devices."""
    with process(2) as pool:
        yield pool


def tiny(name: str, size: int = SAMPLES) -> Split:
    # No word twice: Keras on TensorFlow squares the parts of a row's gradient, not their sum, in Adam and RMSprop.
    return samples(name, size, VALIDATION, repeated=False)


def built(name: str, split: Split, policy: str) -> Any:
    """Return the model, without what draws random numbers: XLA draws others."""
    import keras

    keras.config.set_dtype_policy(policy)
    keras.utils.set_random_seed(3)
    model = workload(name).build(split)
    for layer in model._flatten_layers():
        if isinstance(layer, keras.layers.Dropout):
            layer.rate = 0.0
        if isinstance(layer, keras.layers.RandomTranslation):
            layer.height_lower = layer.height_upper = layer.width_lower = layer.width_upper = 0.0
        if isinstance(layer, keras.layers.RandomFlip):
            layer.call = lambda images, training=False: images
    return model


def orders(size: int) -> list[np.ndarray]:
    rng = np.random.default_rng(5)
    return [rng.permutation(size) for _ in range(2)]


def fitted(name: str, policy: str = "float32", devices: int = 1, size: int = SAMPLES) -> list[dict[str, float]]:
    """Return what `model.fit` logs in each epoch."""
    split = tiny(name, size)
    with tensorflow.parallel(devices):
        model = built(name, split, policy)
    logs = []
    for order in orders(size):
        history = model.fit(
            split.x_train[order],
            split.y_train[order],
            batch_size=BATCH_SIZE,
            shuffle=False,
            verbose=0,
            validation_data=(split.x_val, split.y_val),
        )
        logs.append({key: values[0] for key, values in history.history.items()})
    return logs


def looped(name: str, policy: str = "float32", devices: int = 1, size: int = SAMPLES) -> list[dict[str, float]]:
    """Return what the tuned loop says of each epoch; its steps come in two portions."""
    split = tiny(name, size)
    with tensorflow.parallel(devices):
        model = built(name, split, policy)
    loop = tensorflow.Loop(model, split.x_train, split.y_train, (split.x_val, split.y_val), BATCH_SIZE, devices, False)
    state = state_of(model)
    loop.compile()
    for before, after in zip(state, state_of(model), strict=True):
        np.testing.assert_array_equal(before, after)
    logs = []
    for order in orders(size):
        loop.begin(order)
        loop.steps(0, 1)
        loop.steps(1, size // BATCH_SIZE)
        loop.rest()
        logs.append(loop.finish() | loop.validate())
    return logs


def state_of(model: Any) -> list[np.ndarray]:
    return [np.array(variable) for variable in (*model.variables, *model.optimizer.variables)]


def assert_same(some: list[dict[str, float]], others: list[dict[str, float]], rtol: float = 1e-3) -> None:
    for one, other in zip(some, others, strict=True):
        assert one.keys() == other.keys() >= {"loss", "val_loss"}
        assert one == pytest.approx(other, rel=rtol)
    assert some[0]["loss"] != pytest.approx(some[1]["loss"], rel=1e-3), "nothing was learned"


@pytest.mark.represented_by("mnist_mlp", "imdb_fasttext")
@pytest.mark.parametrize(
    "name",
    [
        "mnist_mlp",
        "mnist_cnn",
        "cifar10_cnn",
        "imdb_bidirectional_lstm",
        "imdb_fasttext",
        "lstm_text_generation",
    ],
)
def test_the_loop_learns_what_fit_learns(one: ProcessPoolExecutor, name: str) -> None:
    assert_same(one.submit(looped, name).result(), one.submit(fitted, name).result())


@pytest.mark.represented_by("mnist_mlp-mixed_float16")
@pytest.mark.parametrize(
    ("name", "policy"),
    [
        ("mnist_mlp", "mixed_bfloat16"),
        ("mnist_mlp", "mixed_float16"),
        ("lstm_text_generation", "mixed_float16"),
    ],
)
def test_mixed_precision(one: ProcessPoolExecutor, name: str, policy: str) -> None:
    assert_same(one.submit(looped, name, policy).result(), one.submit(fitted, name, policy).result(), rtol=0.02)


@pytest.mark.nightly
@pytest.mark.parametrize("name", ["mnist_mlp", "imdb_fasttext"])
def test_two_devices_learn_what_one_learns(one: ProcessPoolExecutor, two: ProcessPoolExecutor, name: str) -> None:
    # 21 samples leave 5 for the last batch, 3 and 2; 17 leave 1 for one device and none for the other.
    for size in (21, 17):
        alone = one.submit(looped, name, size=size).result()
        assert_same(two.submit(looped, name, devices=2, size=size).result(), alone)


@pytest.mark.nightly
def test_fit_on_two_devices_learns_what_fit_on_one_learns(one: ProcessPoolExecutor, two: ProcessPoolExecutor) -> None:
    alone = one.submit(fitted, "mnist_mlp", size=16).result()
    both = two.submit(fitted, "mnist_mlp", devices=2, size=16).result()
    for one_epoch, other in zip(alone, both, strict=True):
        assert one_epoch["loss"] == pytest.approx(other["loss"], rel=1e-3)


def moved_rows(devices: int, optimizer: str) -> tuple[np.ndarray, np.ndarray]:
    """Return which rows of an embedding moved in the second step with sparse updates, and which are in its batch."""
    import keras

    split = tiny("imdb_fasttext", 16)
    keras.config.set_dtype_policy("float32")
    with tensorflow.parallel(devices):
        model = workload("imdb_fasttext").build(split)
        model.compile(optimizer, loss="binary_crossentropy")
    x = split.x_train
    x[8:] = 7
    loop = tensorflow.Loop(model, x, split.y_train, None, BATCH_SIZE, devices, sparse=True)
    loop.compile()
    loop.begin(np.arange(16))
    loop.steps(0, 1)
    before = np.array(model.layers[0].embeddings)
    loop.steps(1, 2)
    return (np.array(model.layers[0].embeddings) != before).any(axis=1), np.isin(np.arange(len(before)), x[8:])


@pytest.mark.represented_by("adam")
@pytest.mark.parametrize("optimizer", ["adam", "rmsprop"])
def test_sparse_updates_move_only_the_rows_of_the_batch(one: ProcessPoolExecutor, optimizer: str) -> None:
    moved, expected = one.submit(moved_rows, 1, optimizer).result()
    np.testing.assert_array_equal(moved, expected)


def embedding_after_a_step(optimizer: str, sparse: bool) -> np.ndarray:
    import keras

    split = tiny("imdb_fasttext", 8)
    keras.config.set_dtype_policy("float32")
    keras.utils.set_random_seed(3)
    model = workload("imdb_fasttext").build(split)
    model.compile(optimizer, loss="binary_crossentropy")
    loop = tensorflow.Loop(model, split.x_train % 100, split.y_train, None, BATCH_SIZE, 1, sparse)
    loop.begin(np.arange(8))
    loop.steps(0, 1)
    return np.array(model.layers[0].embeddings)


@pytest.mark.represented_by("adam")
@pytest.mark.parametrize("optimizer", ["adam", "rmsprop"])
def test_the_first_sparse_update_is_the_dense_one(one: ProcessPoolExecutor, optimizer: str) -> None:
    # Words come many times in this batch; a row without a momentum does not move in a dense update either.
    dense, sparse = (one.submit(embedding_after_a_step, optimizer, sparse).result() for sparse in (False, True))
    np.testing.assert_allclose(sparse, dense, rtol=1e-4, atol=1e-6)


@pytest.mark.nightly
def test_sparse_updates_on_two_devices(two: ProcessPoolExecutor) -> None:
    moved, expected = two.submit(moved_rows, 2, "adam").result()
    np.testing.assert_array_equal(moved, expected)


def sparse_loop(name: str, optimizer: str) -> None:
    split = tiny(name)
    model = workload(name).build(split)
    model.compile(optimizer, loss=model.loss)
    tensorflow.Loop(model, split.x_train, split.y_train, None, BATCH_SIZE, 1, sparse=True)


@pytest.mark.parametrize(
    ("name", "optimizer", "message"),
    [("mnist_mlp", "adam", "has none"), ("imdb_fasttext", "adadelta", "no sparse updates for this Adadelta")],
)
def test_sparse_updates_where_there_are_none(one: ProcessPoolExecutor, name: str, optimizer: str, message: str) -> None:
    with pytest.raises(Unsupported, match=message):
        one.submit(sparse_loop, name, optimizer).result()


def test_tf32_needs_a_gpu_that_has_it(one: ProcessPoolExecutor) -> None:
    with pytest.raises(Unsupported, match=r"compute capability 8\.0"):
        one.submit(tensorflow.set_precision, "tf32").result()


def tf32_after(precision: str) -> bool:
    import tensorflow as tf

    tensorflow.set_precision(precision)
    return tf.config.experimental.tensor_float_32_execution_enabled()


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_tf32_is_forbidden_unless_asked_for(one: ProcessPoolExecutor, precision: str) -> None:
    assert not one.submit(tf32_after, precision).result()


def test_more_devices_than_there_are(one: ProcessPoolExecutor) -> None:
    with pytest.raises(Unsupported, match="1 devices, not 3"):
        one.submit(fitted, "mnist_mlp", devices=3).result()
