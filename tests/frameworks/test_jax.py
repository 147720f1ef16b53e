"""JAX in processes of its own: Keras takes one framework per process, and the CPU is split before JAX starts."""

import multiprocessing
import os
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from scripts.frameworks import ThreadPoolError, Unsupported, jax
from scripts.frameworks.jax import kernels
from scripts.workloads import Split, workload
from tests.frameworks.samples import samples

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        find_spec("jax") is None, reason="JAX is not installed: make test FRAMEWORKS='tensorflow jax torch'"
    ),
]

ROOT = Path(__file__).resolve().parents[2]
# The odd last batches are even: two devices share them.
SAMPLES, VALIDATION, BATCH_SIZE, EPOCHS = 44, 22, 8, 2


def started(virtual: int) -> None:
    """Start JAX and Keras on one core, split into `virtual` devices."""
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:1])
    # Half of these tests is XLA's making its code fast, which trains a few samples.
    os.environ["XLA_FLAGS"] = "--xla_backend_optimization_level=0"
    os.environ |= jax.environment(1, virtual) | {"KERAS_BACKEND": "jax", "KERAS_HOME": str(ROOT / ".cache" / "keras")}
    assert len(jax.start(1, virtual)) == virtual


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


def built(name: str, policy: str = "float32", seed: int = 3) -> tuple[Any, Split]:
    import keras

    keras.config.set_dtype_policy(policy)
    keras.utils.set_random_seed(seed)
    split = samples(name, SAMPLES, VALIDATION)
    return workload(name).build(split), split


def orders() -> list[np.ndarray]:
    rng = np.random.default_rng(5)
    return [rng.permutation(SAMPLES) for _ in range(EPOCHS)]


def fitted(name: str, policy: str = "float32", devices: int = 1) -> list[dict[str, float]]:
    """Return what `model.fit` logs per epoch."""
    with jax.parallel(devices):
        model, split = built(name, policy)
        logs = []
        for order in orders():
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


def looped(
    name: str, policy: str = "float32", devices: int = 1, sparse: bool = False, patches: bool | None = None
) -> list[dict[str, float]]:
    """Return what the tuned loop says per epoch; its steps come in two portions.

    `patches` says which form of convolution is to be found the fastest.
    """
    model, split = built(name, policy)
    validation = split.x_val, split.y_val
    loop = jax.Loop(model, split.x_train, split.y_train, validation, BATCH_SIZE, devices, sparse)
    if patches is not None:
        loop._fastest = lambda *candidates: next(each for each in candidates if each.patches == patches)
    before = [(variable, variable.numpy()) for variable in (*model.variables, *model.optimizer.variables)]
    loop.compile()
    for variable, old in before:
        np.testing.assert_array_equal(variable.numpy(), old)
    logs = []
    for order in orders():
        loop.begin(order)
        loop.steps(0, 2)
        loop.steps(2, SAMPLES // BATCH_SIZE)
        loop.rest()
        logs.append(loop.finish() | loop.validate())
    assert any((variable.numpy() != old).any() for variable, old in before if variable.trainable)
    if patches is not None:
        assert loop.settings["convolution"] == ("product of patches" if patches else "of XLA")
        assert loop._train.looped == patches
    return logs


def assert_same(
    some: list[dict[str, float]], others: list[dict[str, float]], rtol: float = 1e-3, turned: int = 0
) -> None:
    """Compare the logs; the class of `turned` samples may have been close enough to turn."""
    assert len(some) == len(others) == EPOCHS
    for one, other in zip(some, others, strict=True):
        assert one.keys() == other.keys() >= {"loss", "val_loss"}
        for key in one:
            turn = turned / (VALIDATION if "val" in key else SAMPLES) if "acc" in key else 0
            assert one[key] == pytest.approx(other[key], rel=rtol, abs=turn * 1.001), key


@pytest.mark.represented_by("imdb_fasttext")
@pytest.mark.parametrize(
    "name",
    [
        "mnist_mlp",
        "imdb_fasttext",
        "mnist_cnn",
        "imdb_bidirectional_lstm",
        "lstm_text_generation",
    ],
)
def test_the_loop_learns_what_fit_learns(one: ProcessPoolExecutor, name: str) -> None:
    # Dropout and augmentation too: the loop draws the same random numbers.
    assert_same(one.submit(looped, name).result(), one.submit(fitted, name).result())


@pytest.mark.represented_by("mnist_cnn-True")
@pytest.mark.parametrize("patches", [False, True])
@pytest.mark.parametrize("name", ["mnist_cnn", "cifar10_cnn"])
def test_each_form_of_convolution_learns_what_fit_learns(one: ProcessPoolExecutor, name: str, patches: bool) -> None:
    assert_same(one.submit(looped, name, patches=patches).result(), one.submit(fitted, name).result())


def with_gradients(function: Callable, *inputs: np.ndarray) -> list[np.ndarray]:
    """Return the value and the gradients, to each input, of its sum with random weights."""
    from jax import vjp

    value, gradients = vjp(function, *inputs)
    weights = np.random.default_rng(2).random(value.shape, np.float32)
    return list(map(np.asarray, [value, *gradients(weights)]))


def pooled(shape: tuple[int, ...], *settings: Any) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Return what the fast form of pooling gives, and what Keras's: of small whole numbers, where many are equal."""
    from keras.src.backend.jax import nn

    x = np.random.default_rng(1).integers(0, 3, shape).astype(np.float32)
    fast, stock = (
        with_gradients(lambda x, pool=pool: pool(x, *settings), x)
        for pool in (kernels.fast_max_pool(nn.max_pool), nn.max_pool)
    )
    return fast, stock


@pytest.mark.represented_by("shape0")
@pytest.mark.parametrize(
    ("shape", "settings"),
    [
        ((4, 8, 8, 3), (2, 2, "valid", "channels_last")),
        ((4, 7, 11, 3), ((2, 3), (2, 3), "valid", "channels_last")),
        ((4, 9, 3), ((2,), (2,), "valid", "channels_last")),
        # Keras's own.
        ((4, 9, 9, 3), (3, 2, "valid", "channels_last")),
        ((4, 9, 9, 3), (2, 2, "same", "channels_last")),
        ((4, 3, 8, 8), (2, 2, "valid", "channels_first")),
    ],
)
def test_pooling_and_its_gradient_are_keras_s(one: ProcessPoolExecutor, shape: tuple, settings: tuple) -> None:
    fast, stock = one.submit(pooled, shape, *settings).result()
    for ours, theirs in zip(fast, stock, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-6)


def pooled_nan() -> np.ndarray:
    from keras.src.backend.jax import nn

    x = np.arange(16, dtype=np.float32).reshape(1, 16, 1)
    x[0, [0, 5, 10, 15]] = np.nan
    return np.asarray(kernels.fast_max_pool(nn.max_pool)(x, 4, 4))


def test_what_is_no_number_stays_so_in_pooling(one: ProcessPoolExecutor) -> None:
    assert np.isnan(one.submit(pooled_nan).result()).all()


def convolved(shape: tuple, kernel: tuple, *settings: Any) -> tuple[list[np.ndarray], list[np.ndarray], bool]:
    """Return what the fast convolution gives, what Keras's, and whether the fast one leaves it to XLA."""
    from jax import make_jaxpr
    from keras.src.backend.jax import nn

    rng = np.random.default_rng(1)
    inputs = rng.random(shape, np.float32), rng.random(kernel, np.float32)
    fast, stock = (
        lambda x, kernel, conv=conv: conv(x, kernel, *settings) for conv in (kernels.fast_conv(nn.conv), nn.conv)
    )
    left = "conv_general_dilated" in str(make_jaxpr(fast)(*inputs))
    return with_gradients(fast, *inputs), with_gradients(stock, *inputs), left


@pytest.mark.represented_by("shape0", "shape4")
@pytest.mark.parametrize(
    ("shape", "kernel", "settings", "left"),
    [
        ((4, 8, 9, 3), (3, 3, 3, 5), ((1, 1), "valid", "channels_last", (1, 1)), False),
        ((4, 8, 9, 3), (3, 3, 3, 5), ((1, 1), "same", "channels_last", (1, 1)), False),
        ((4, 8, 9, 3), (4, 1, 3, 5), (1, "same", None, 1), False),
        ((4, 9, 3), (4, 3, 5), ((1,), "same", "channels_last", (1,)), False),
        ((4, 8, 9, 3), (1, 1, 3, 5), (1, "valid", "channels_last", 1), True),
        ((4, 8, 9, 3), (3, 3, 3, 5), (2, "same", "channels_last", 1), True),
        ((4, 8, 9, 3), (3, 3, 3, 5), (1, "same", "channels_last", (1, 2)), True),
        ((4, 8, 9, 4), (3, 3, 2, 6), (1, "same", "channels_last", 1), True),
        ((4, 3, 8, 9), (3, 3, 3, 5), (1, "same", "channels_first", 1), True),
        # Its patches would take 288 MiB.
        ((8, 256, 256, 16), (3, 3, 16, 1), (1, "same", "channels_last", 1), True),
    ],
)
def test_the_product_of_patches_is_the_convolution(
    one: ProcessPoolExecutor, shape: tuple, kernel: tuple, settings: tuple, left: bool
) -> None:
    fast, stock, is_left = one.submit(convolved, shape, kernel, *settings).result()
    assert is_left == left
    for ours, theirs in zip(fast, stock, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-4)


def tuned_settings(name: str) -> dict[str, str]:
    model, split = built(name)
    loop = jax.Loop(model, split.x_train, split.y_train, None, BATCH_SIZE, 1, False)
    loop.compile()
    return loop.settings


def test_a_model_without_convolutions_is_not_tried(one: ProcessPoolExecutor) -> None:
    assert one.submit(tuned_settings, "mnist_mlp").result() == {
        "samples": "on the device",
        "loop": "lax.fori_loop over the batches",
    }


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("name", "policy"),
    [("mnist_mlp", "mixed_bfloat16"), ("mnist_mlp", "mixed_float16"), ("mnist_cnn", "mixed_bfloat16")],
)
def test_mixed_precision(one: ProcessPoolExecutor, name: str, policy: str) -> None:
    assert_same(one.submit(looped, name, policy).result(), one.submit(fitted, name, policy).result(), 0.02, turned=1)


def moved_rows(optimizer: str) -> tuple[list[int], list[int]]:
    """Return the rows of an embedding that two sparse epochs moved, and those that the samples hold."""
    import keras

    keras.config.set_dtype_policy("float32")
    keras.utils.set_random_seed(3)
    split = samples("imdb_fasttext", SAMPLES, VALIDATION)
    x = split.x_train % 500 // 3 * 3
    model = keras.Sequential(
        [
            keras.Input((400,), dtype="int32"),
            keras.layers.Embedding(900, 5),
            keras.layers.GlobalAveragePooling1D(),
            keras.layers.Dense(1, activation="sigmoid"),
        ]
    )
    model.compile(optimizer=optimizer, loss="binary_crossentropy")
    before = model.layers[0].embeddings.numpy()
    loop = jax.Loop(model, x, split.y_train, None, BATCH_SIZE, 1, sparse=True)
    loop.compile()
    for order in orders():
        loop.begin(order)
        loop.steps(0, SAMPLES // BATCH_SIZE)
        loop.rest()
        loop.finish()
    moved = (model.layers[0].embeddings.numpy() != before).any(axis=1)
    return np.flatnonzero(moved).tolist(), np.unique(x).tolist()


@pytest.mark.represented_by("adam")
@pytest.mark.parametrize("optimizer", ["adam", "rmsprop"])
def test_sparse_moves_the_rows_of_the_batch_and_no_others(one: ProcessPoolExecutor, optimizer: str) -> None:
    moved, held = one.submit(moved_rows, optimizer).result()
    assert moved == held
    assert 0 < len(held) < 200


def lazy_and_dense_step(optimizer: str) -> tuple[np.ndarray, np.ndarray]:
    """Return all weights after one step on a batch that holds every row: sparse, and by `fit`."""
    import keras

    keras.config.set_dtype_policy("float32")
    weights = []
    x, y = np.arange(BATCH_SIZE * 4, dtype=np.int32).reshape(BATCH_SIZE, 4) % 10, np.arange(BATCH_SIZE) % 2
    for sparse in (True, False):
        keras.utils.set_random_seed(3)
        model = keras.Sequential(
            [keras.Input((4,), dtype="int32"), keras.layers.Embedding(10, 3), keras.layers.Flatten()]
        )
        model.add(keras.layers.Dense(1, activation="sigmoid"))
        model.compile(optimizer=optimizer, loss="binary_crossentropy")
        if sparse:
            loop = jax.Loop(model, x, y, None, BATCH_SIZE, 1, sparse=True)
            loop.compile()
            for _ in range(3):
                loop.begin(np.arange(BATCH_SIZE))
                loop.steps(0, 1)
                loop.finish()
        else:
            model.fit(x, y, batch_size=BATCH_SIZE, epochs=3, verbose=0)
        weights.append(np.concatenate([part.ravel() for part in model.get_weights()]))
    return weights[0], weights[1]


@pytest.mark.represented_by("adam")
@pytest.mark.parametrize("optimizer", ["adam", "rmsprop"])
def test_sparse_is_the_dense_update_where_the_batch_holds_every_row(one: ProcessPoolExecutor, optimizer: str) -> None:
    sparse, dense = one.submit(lazy_and_dense_step, optimizer).result()
    np.testing.assert_allclose(sparse, dense, rtol=1e-4, atol=1e-6)


def sparse_of(kind: str) -> None:
    """Compile sparse updates of a model whose table is used for more than looking up, or bound."""
    import keras
    from keras import layers

    words = keras.Input((4,), dtype="int32")
    options = {"regularised": {"embeddings_regularizer": "l2"}, "bound": {"embeddings_constraint": "non_neg"}}
    embedding = layers.Embedding(10, 3, **options.get(kind, {}))
    pooled = layers.GlobalAveragePooling1D()(embedding(words))
    if kind == "tied":
        pooled = layers.Lambda(lambda x: x @ embedding.embeddings[:3], output_shape=(3,))(pooled)
    model = keras.Model(words, layers.Dense(1, activation="sigmoid")(pooled))
    model.compile("adam", "binary_crossentropy")
    x = np.arange(BATCH_SIZE * 4, dtype=np.int32).reshape(BATCH_SIZE, 4) % 10
    jax.Loop(model, x, np.arange(BATCH_SIZE) % 2, None, BATCH_SIZE, 1, sparse=True).compile()


@pytest.mark.represented_by("regularised")
@pytest.mark.parametrize(
    ("kind", "says"),
    [
        ("regularised", "used for more than looking up"),
        ("tied", "used for more than looking up"),
        ("bound", "an embedding has a constraint"),
    ],
)
def test_sparse_refuses_what_needs_the_gradient_of_the_whole_table(
    one: ProcessPoolExecutor, kind: str, says: str
) -> None:
    with pytest.raises(Unsupported, match=says):
        one.submit(sparse_of, kind).result()


def test_sparse_needs_an_embedding(one: ProcessPoolExecutor) -> None:
    with pytest.raises(Unsupported, match="no embedding"):
        one.submit(looped, "mnist_mlp", sparse=True).result()


def test_tf32_needs_the_hardware(one: ProcessPoolExecutor) -> None:
    one.submit(jax.set_precision, "float32").result()
    with pytest.raises(Unsupported, match="has no tf32"):
        one.submit(jax.set_precision, "tf32").result()


def test_pools_of_another_size_are_refused(one: ProcessPoolExecutor) -> None:
    with pytest.raises(ThreadPoolError, match="1 threads, not 2"):
        one.submit(jax.start, 2, 1).result()


@pytest.mark.nightly
@pytest.mark.parametrize("name", ["mnist_mlp", "imdb_fasttext"])
def test_two_devices_learn_what_one_learns(one: ProcessPoolExecutor, two: ProcessPoolExecutor, name: str) -> None:
    alone = one.submit(looped, name).result()
    assert_same(two.submit(looped, name, devices=2).result(), alone)
    assert_same(two.submit(fitted, name, devices=2).result(), alone)


def uneven(devices: int) -> float:
    """Return the loss of an epoch whose last batch has an odd number of samples."""
    model, split = built("mnist_mlp")
    loop = jax.Loop(model, split.x_train[:13], split.y_train[:13], None, BATCH_SIZE, devices, False)
    loop.compile()
    loop.begin(np.arange(13))
    loop.steps(0, 1)
    loop.rest()
    return loop.finish()["loss"]


@pytest.mark.nightly
def test_two_devices_share_an_odd_batch(one: ProcessPoolExecutor, two: ProcessPoolExecutor) -> None:
    assert two.submit(uneven, 2).result() == pytest.approx(one.submit(uneven, 1).result(), rel=1e-4)


def test_more_devices_than_there_are(one: ProcessPoolExecutor) -> None:
    with pytest.raises(Unsupported, match="1 devices, not 2"):
        one.submit(fitted, "imdb_fasttext", devices=2).result()


def fit_step(*, shifted: bool) -> dict[str, str]:
    import keras

    augmented = [keras.layers.RandomTranslation(0.1, 0.1)] if shifted else []
    model = keras.Sequential([keras.Input((8, 8, 3)), *augmented, keras.layers.Flatten(), keras.layers.Dense(2)])
    model.compile(loss="mse")
    return jax.fit_settings(model)


def test_step_that_keras_does_not_compile_is_recorded(one: ProcessPoolExecutor) -> None:
    assert one.submit(fit_step, shifted=False).result() == {}
    settings = one.submit(fit_step, shifted=True).result()
    assert settings["step"].startswith(
        "not compiled, operation by operation: so Keras runs a model with random_translation"
    )
