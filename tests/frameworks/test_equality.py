"""Models that nobody here wrote: `tuned` trains them as `model.fit` does, on every framework, or refuses in a line.

From the same weights and in the same order each framework's `model.fit` and its tuned loop train two epochs, with an
odd last batch in training and in validation: the same losses, metrics and weights. The weights at the start are the
same on all frameworks, so that their losses are the same, too.
"""

import multiprocessing
import os
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from scripts import frameworks
from scripts.frameworks import Unsupported
from scripts.frameworks._model import named, states
from scripts.workloads import count, mapped
from tests.frameworks import models, own_models
from tests.frameworks.models import BATCH_SIZE, SAMPLES, VALIDATION

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
EPOCHS = 2

#: Losses and metrics to this part of them, weights and the optimizer's state to this. The most that was found is
#: 1.1e-6 and 9.5e-7 (TensorFlow's fused AdamW), in float16 1.7e-5 and 1.1e-5.
TOLERANCE, WEIGHTS_TOLERANCE = 1e-5, 1e-5
HALF_TOLERANCE = 1e-3

#: Losses of the frameworks' loops beside each other.
BETWEEN_TOLERANCE = 1e-4

EQUAL = {
    make.__name__: make
    for make in (
        models.convolution,
        models.normalised,
        models.frozen,
        models.adamw,
        models.accumulation,
        models.moving_weights,
        models.summed_loss,
        models.half_precision,
        models.attention,
        models.masked_sentences,
        models.masked_tokens,
        models.stateful,
        models.fixed_batch,
        models.repeated_words,
        models.two_ends,
        models.lists,
        models.class_weights,
        models.sample_weights,
        models.dropout,
        own_models.top_accuracies,
        own_models.own_metric,
        own_models.own_layer,
        own_models.own_loss,
        own_models.own_steps,
    )
}

#: What is not the same, on which framework, and why: an entry that is no longer needed fails, too.
DIFFERENT = {
    ("tensorflow", "repeated_words"): "Keras adds up the squares of a row's gradients, not the square of their sum",
    ("torch", "dropout"): "the loop draws from torch's own generator",
}

#: What `model.fit` itself cannot train: its gradient needs the states that it has written over.
NOT_BY_KERAS = {("torch", "stateful")}

#: How far weights drift, where and why. Losses do not: what drifts cancels out.
DRIFTS = {
    # The bias before the normalisation by up to 7.4e-4 in twelve steps, and after it the moving mean by 2.9e-5: its
    # gradient is nothing but rounding errors, which Adam scales up to steps, and TensorFlow's kernel rounds otherwise.
    ("tensorflow", "normalised"): 2e-3
}

#: Logs that a framework's `model.fit` has wrong.
NOT_COMPARED = {
    # The loss of each output counts an odd batch as a whole one: TensorFlow does not know its size. The sum is right.
    "tensorflow": ("kind_loss", "size_loss")
}

#: The model, how it is to be trained, and what the refusal says.
REFUSED = [
    (own_models.logs_of_a_batch, {}, "logs last; its metrics are hits, loss"),
    (own_models.own_fit, {}, "its own fit: mode stock"),
    (own_models.two_optimizers, {}, "more than one optimizer"),
    (own_models.own_steps, {"sparse": True}, "its own test_step, train_step: sparse updates are for Keras's step"),
    (own_models.own_steps, {"devices": 2}, "its own test_step, train_step: several devices are for Keras's step"),
]

HERE = [name for name in frameworks.names() if find_spec(name)]


def started(name: str) -> None:
    """Start a framework and Keras on a core of its own, if there is one; torch's graphs are not compiled."""
    framework = frameworks.framework(name)
    cores = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {cores[frameworks.names().index(name) % len(cores)]})
    # XLA's making its code fast takes longer than the few samples.
    os.environ["XLA_FLAGS"] = "--xla_backend_optimization_level=0"
    os.environ |= framework.environment(1, 1) | {"KERAS_BACKEND": name, "KERAS_HOME": str(ROOT / ".cache" / "keras")}
    os.environ |= {"CUDA_VISIBLE_DEVICES": "-1", "CXX": "none"}
    frameworks.hide_others(name)
    framework.start(1, 1)


@pytest.fixture(scope="module")
def processes() -> Iterator[dict[str, ProcessPoolExecutor]]:
    """A process for each framework."""
    context = multiprocessing.get_context("spawn")
    pools = {name: ProcessPoolExecutor(1, context, started, (name,)) for name in HERE}
    yield pools
    for pool in pools.values():
        pool.shutdown()


@dataclass(frozen=True)
class Trained:
    """What became of a model: its logs, epoch by epoch, and the values of all its variables at the end."""

    logs: list[dict[str, float]]
    values: list[np.ndarray]


def built(make: Callable[[], Any]) -> tuple[Any, tuple, tuple]:
    """Return the model with weights that NumPy has drawn, its training samples and those for validation."""
    import keras

    keras.utils.set_random_seed(3)
    model, x, y = make()
    model._symbolic_build(data_batch=mapped(lambda array: array[:BATCH_SIZE], (x, y)))
    rng = np.random.default_rng(5)
    for variable in model.variables:
        if len(variable.shape) > 1 and "float" in variable.dtype:
            variable.assign(rng.normal(size=variable.shape) / np.sqrt(variable.shape[-2]))
    # A fixed batch has no odd last one.
    is_fixed = bool(model.inputs) and model.inputs[0].shape[0] is not None
    train, last = (SAMPLES // BATCH_SIZE * BATCH_SIZE, -(VALIDATION % BATCH_SIZE)) if is_fixed else (SAMPLES, None)
    return model, mapped(lambda array: array[:train], (x, y)), mapped(lambda array: array[SAMPLES:last], (x, y))


def values(model: Any) -> list[np.ndarray]:
    from keras import ops

    variables = (*model.variables, *states(model), *model.optimizer.variables)
    return [np.array(ops.convert_to_numpy(each)) for each in variables]


def fitted(make: Callable[[], Any]) -> Trained:
    """Train by `model.fit`."""
    model, train, validation = built(make)
    options: dict[str, Any] = {"batch_size": BATCH_SIZE, "epochs": EPOCHS, "shuffle": False, "verbose": 0}
    history = model.fit(*train, validation_data=validation, **options).history
    return Trained(
        [named(model, {name: each[e] for name, each in history.items()}) for e in range(EPOCHS)], values(model)
    )


def looped(framework: str, make: Callable[[], Any], devices: int = 1, sparse: bool = False) -> Trained:
    """Train by the tuned loop, whose compilation leaves no trace."""
    model, train, validation = built(make)
    loop = frameworks.framework(framework).Loop(model, *train, validation, BATCH_SIZE, devices, sparse)
    before = values(model)
    loop.compile()
    for old, new in zip(before, values(model), strict=True):
        np.testing.assert_array_equal(old, new)
    logs = []
    samples = count(train)
    for _ in range(EPOCHS):
        loop.begin(np.arange(samples))
        loop.steps(0, 2)
        loop.steps(2, samples // BATCH_SIZE)
        loop.rest()
        logs.append(loop.finish() | loop.validate())
    # As `fit` does at its end: moving means take the place of the weights.
    model.optimizer.finalize_variable_values(model.trainable_weights)
    return Trained(logs, values(model))


def assert_same(framework: str, tuned: Trained, stock: Trained, tolerance: float, drift: float) -> None:
    for some, others in zip(tuned.logs, stock.logs, strict=True):
        assert some.keys() == others.keys() >= {"loss", "val_loss"}
        compared = [name for name in some if name.removeprefix("val_") not in NOT_COMPARED.get(framework, ())]
        found, expected = ({name: logs[name] for name in compared} for logs in (some, others))
        assert found == pytest.approx(expected, rel=tolerance)
    for one, other in zip(tuned.values, stock.values, strict=True):
        np.testing.assert_allclose(one, other, rtol=tolerance, atol=max(tolerance, drift))


@pytest.mark.represented_by("masked_sentences")
@pytest.mark.parametrize("name", EQUAL)
def test_tuned_trains_what_stock_trains(processes: dict[str, ProcessPoolExecutor], name: str) -> None:
    make, tolerance = EQUAL[name], HALF_TOLERANCE if name == "half_precision" else TOLERANCE
    pools = {here: pool for here, pool in processes.items() if (here, name) not in NOT_BY_KERAS}
    futures = [(pool.submit(looped, here, make), pool.submit(fitted, make)) for here, pool in pools.items()]
    trained = {here: [future.result() for future in pair] for here, pair in zip(pools, futures, strict=True)}
    for framework, (tuned, stock) in trained.items():
        assert stock.logs[0]["loss"] != pytest.approx(stock.logs[1]["loss"], rel=1e-3), "nothing was learned"
        if (framework, name) in DIFFERENT:
            assert tuned.logs[1]["loss"] != pytest.approx(stock.logs[1]["loss"], rel=1e-3)
        else:
            assert_same(framework, tuned, stock, tolerance, DRIFTS.get((framework, name), WEIGHTS_TOLERANCE))
    # Random numbers are those of the framework, and Keras on JAX forgets the states after each batch.
    if name not in ("dropout", "stateful"):
        losses = [[logs["loss"] for logs in tuned.logs] for tuned, _ in trained.values()]
        np.testing.assert_allclose(losses, losses[:1] * len(losses), rtol=max(tolerance, BETWEEN_TOLERANCE))


@pytest.mark.represented_by("own_fit", "two_optimizers")
@pytest.mark.parametrize("framework", HERE)
@pytest.mark.parametrize(("make", "options", "words"), REFUSED)
def test_what_it_cannot_train_it_refuses(
    processes: dict[str, ProcessPoolExecutor], framework: str, make: Callable[[], Any], options: dict, words: str
) -> None:
    with pytest.raises(Unsupported, match=words) as refused:
        processes[framework].submit(looped, framework, make, **options).result()
    assert "\n" not in str(refused.value)


def accuracies(make: Callable[[], Any]) -> set[str]:
    """Return under which names the model's accuracy is logged by Keras and named by us."""
    model, train, _ = built(make)
    logs = model.evaluate(*train, batch_size=BATCH_SIZE, verbose=0, return_dict=True)
    return {name for name, value in logs.items() if value == named(model, logs)["acc"]}


@pytest.mark.nightly
@pytest.mark.parametrize("framework", HERE)
def test_accuracy_is_none_of_the_best_three(processes: dict[str, ProcessPoolExecutor], framework: str) -> None:
    assert processes[framework].submit(accuracies, own_models.top_accuracies).result() == {"accuracy"}
