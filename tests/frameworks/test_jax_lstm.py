"""The LSTM on JAX with its gradient written by hand: Keras's, to rounding, and Keras's own where it is no plain one."""

from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import nullcontext
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest

from tests.frameworks.test_jax import process

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        find_spec("jax") is None, reason="JAX is not installed: make test FRAMEWORKS='tensorflow jax torch'"
    ),
]


@pytest.fixture(scope="module")
def one() -> Iterator[ProcessPoolExecutor]:
    with process(1) as pool:
        yield pool


def gradients(fast: bool, masked: bool, wrapped: str, policy: str, options: dict[str, Any]) -> tuple[list, bool]:
    """Return outputs, states and all gradients of an LSTM in training, and whether the loop by hand made them."""
    import jax
    import keras

    from scripts.frameworks.jax import kernels, lstm

    keras.utils.set_random_seed(1)
    layer: Any = keras.layers.LSTM(4, dtype=policy, bias_initializer="normal", **options)
    if wrapped == "both ways":
        layer = keras.layers.Bidirectional(layer)
    rng = np.random.default_rng(3)
    x = rng.normal(size=(2, 6, 3)).astype(np.float32)
    mask = np.array([[1, 1, 1, 1, 0, 0], [1, 1, 0, 0, 0, 0]], bool) if masked else None
    states = None if wrapped else [rng.normal(size=(2, 4)).astype(np.float32) for _ in range(2)]
    layer.build(x.shape)
    made = []
    by_hand, weights = lstm._lstm, [variable.value for variable in layer.trainable_variables]
    kept = [variable.value for variable in layer.non_trainable_variables]

    def forward(weights: list, x: Any, states: Any) -> Any:
        found, _ = layer.stateless_call(weights, kept, x, mask=mask, initial_state=states, training=True)
        weighted = [(values * np.arange(values.size).reshape(values.shape)).sum() for values in jax.tree.leaves(found)]
        return sum(weighted), found

    def counted() -> Any:
        made.append(True)
        return by_hand()

    lstm._lstm = counted
    try:
        with kernels.fast_kernels(False) if fast else nullcontext():
            value = jax.value_and_grad(forward, argnums=(0, 1) if states is None else (0, 1, 2), has_aux=True)
            found = jax.tree.leaves(value(weights, x, states))
    finally:
        lstm._lstm = by_hand
    return [np.asarray(part, np.float32) for part in found], bool(made)


@pytest.mark.represented_by("False--float32-options2", "True--float32-options7")
@pytest.mark.parametrize(
    ("masked", "wrapped", "policy", "options", "by_hand"),
    [
        (False, "", "float32", {}, True),
        (False, "", "float32", {"return_sequences": True, "return_state": True}, True),
        (False, "", "float32", {"return_sequences": True, "go_backwards": True, "return_state": True}, True),
        (False, "", "float32", {"go_backwards": True, "use_bias": False}, True),
        (False, "", "float32", {"dropout": 0.5}, True),
        (False, "both ways", "float32", {}, True),
        (False, "both ways", "float32", {"return_sequences": True}, True),
        # Keras's own.
        (True, "", "float32", {"return_sequences": True}, False),
        (False, "", "float32", {"recurrent_dropout": 0.5}, False),
        (False, "", "float32", {"activation": "relu"}, False),
        (False, "", "mixed_bfloat16", {}, False),
    ],
)
def test_the_gradient_is_that_of_keras_s_loop(one, masked, wrapped, policy, options, by_hand):
    (fast, made), (stock, _) = (
        one.submit(gradients, form, masked, wrapped, policy, options).result() for form in (True, False)
    )
    assert made == by_hand
    assert len(fast) == len(stock)
    for ours, theirs in zip(fast, stock, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=2e-5, atol=2e-5)
