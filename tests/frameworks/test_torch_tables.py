"""Large embeddings on torch: their update without a dense gradient is the dense one."""

import multiprocessing
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest

from scripts.frameworks import torch
from tests.frameworks.test_torch import started

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        find_spec("torch") is None, reason="PyTorch is not installed: make test FRAMEWORKS='tensorflow jax torch'"
    ),
]

ROWS, LENGTH, BATCH_SIZE = 64, 5, 4


@pytest.fixture(scope="module")
def process() -> Iterator[ProcessPoolExecutor]:
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn"), initializer=started) as pool:
        yield pool


def built(optimiser: str, form: str, **options: Any) -> Any:
    """Return a model with an embedding of 64 rows: looked up once, twice, or regularised as well."""
    import keras

    keras.utils.set_random_seed(1)
    table = keras.layers.Embedding(ROWS, 3, embeddings_regularizer="l2" if form == "regularised" else None)
    x = keras.Input((LENGTH,), dtype="int32")
    looked = table(x) + table((x + 1) % ROWS) if form == "twice" else table(x)
    mean = keras.layers.GlobalAveragePooling1D()(looked)
    model = keras.Model(x, keras.layers.Dense(1, activation="sigmoid")(mean))
    model.compile(optimizer={"class_name": optimiser, "config": options}, loss="binary_crossentropy")
    return model


def trained(optimiser: str, form: str, options: dict[str, Any], large: bool) -> tuple[list[np.ndarray], bool]:
    """Return all values after six steps, and whether a table was moved apart; not `large`: by its dense gradient."""
    from scripts.frameworks.torch.tables import Tables

    model = built(optimiser, form, **options)
    rng = np.random.default_rng(2)
    x = rng.integers(0, ROWS, (3 * BATCH_SIZE, LENGTH), np.int32)
    x[:, 1] = x[:, 0]
    y = rng.integers(0, 2, len(x)).astype(np.float32)
    embeddings = Tables._embeddings
    Tables._embeddings = embeddings if large else lambda self: iter(())
    try:
        loop = torch.Loop(model, x, y, None, BATCH_SIZE)
        loop.compile()
    finally:
        Tables._embeddings = embeddings
    for _ in range(2):
        loop.begin(rng.permutation(len(x)))
        loop.steps(0, 3)
        loop.finish()
    values = [variable.numpy() for variable in (*model.variables, *model.optimizer.variables)]
    return values, "embeddings" in loop.settings


@pytest.mark.represented_by("twice-Adam", "regularised-RMSprop")
@pytest.mark.parametrize("optimiser", ["Adam", "RMSprop"])
@pytest.mark.parametrize("form", ["once", "twice", "regularised"])
def test_the_update_is_the_dense_one(process, optimiser, form):
    (fast, apart), (dense, _) = (
        process.submit(trained, optimiser, form, {"learning_rate": 0.1}, large).result() for large in (True, False)
    )
    assert apart == (form != "regularised")
    for ours, theirs in zip(fast, dense, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-7)


@pytest.mark.represented_by("Adam-options0")
@pytest.mark.parametrize(
    ("optimiser", "options"),
    [("Adam", {"global_clipnorm": 0.1}), ("Adam", {"amsgrad": True}), ("RMSprop", {"momentum": 0.9}), ("SGD", {})],
)
def test_other_rules_keep_the_dense_gradient(process, optimiser, options):
    (_, apart) = process.submit(trained, optimiser, "once", options, True).result()
    assert not apart
