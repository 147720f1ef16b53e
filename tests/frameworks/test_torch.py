"""PyTorch in processes of its own: Keras takes one framework per process, and threads are set before it starts."""

import multiprocessing
import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from scripts.frameworks import ThreadPoolError, Unsupported, hide_others, torch
from scripts.workloads import Split, workload
from tests.frameworks import models
from tests.frameworks.samples import FORMS, samples

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        find_spec("torch") is None, reason="PyTorch is not installed: make test FRAMEWORKS='tensorflow jax torch'"
    ),
]

ROOT = Path(__file__).resolve().parents[2]
SAMPLES, VALIDATION, BATCH_SIZE, EPOCHS = 21, 11, 8, 2


def started(compiler: str = "none") -> None:
    """Start PyTorch and Keras on one core; without a compiler the tests are quick."""
    os.environ |= torch.environment(1) | {"KERAS_BACKEND": "torch", "KERAS_HOME": str(ROOT / ".cache" / "keras")}
    os.environ |= {"CUDA_VISIBLE_DEVICES": "-1", "CXX": compiler}
    hide_others("torch")
    assert torch.start(1) == ["cpu"]


@pytest.mark.nightly
def test_each_process_compiles_anew() -> None:
    """A cache of compiled code that outlives a run makes the next one shorter, and its compilation free."""
    program = (
        "import os, sys, torch\n"
        "from scripts.frameworks.torch import device\n"
        "from torch._inductor.runtime.cache_dir_utils import cache_dir\n"
        "device.start(1)\n"
        "torch.compile(lambda x: x.sin() + 1, dynamic=False)(torch.ones(8))\n"
        "print(cache_dir(), bool(os.listdir(cache_dir())))\n"
    )
    used = []
    for _ in range(2):
        done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
        folder, holds = done.stdout.split()
        assert holds == "True"
        assert not Path(folder).exists()
        used.append(folder)
    assert used[0] != used[1]


@pytest.fixture(scope="module")
def process() -> Iterator[ProcessPoolExecutor]:
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn"), initializer=started) as pool:
        yield pool


def still(name: str, split: Split, policy: str = "float32") -> Any:
    """Return the model from seed 1, without dropout and with images that stay where they are."""
    import keras

    keras.utils.set_random_seed(1)
    keras.config.set_dtype_policy(policy)
    model = workload(name).build(split)
    keras.config.set_dtype_policy("float32")
    for layer in model.layers:
        if isinstance(layer, keras.layers.Dropout):
            layer.rate = 0
        if isinstance(layer, keras.layers.RandomTranslation):
            layer.height_lower = layer.height_upper = layer.width_lower = layer.width_upper = 0.0
        if isinstance(layer, keras.layers.RandomFlip):
            layer.mode = "none"
    return model


def fitted(name: str, policy: str = "float32") -> list[dict[str, float]]:
    """Return what Keras's fit logs, epoch by epoch."""
    split = samples(name, SAMPLES, VALIDATION)
    model = still(name, split, policy)
    x, y = split.x_train, split.y_train
    validation = (split.x_val, split.y_val)
    options: dict[str, Any] = {"batch_size": BATCH_SIZE, "epochs": EPOCHS, "shuffle": False, "verbose": 0}
    history = model.fit(x, y, validation_data=validation, **options).history
    return [{key: float(values[epoch]) for key, values in history.items()} for epoch in range(EPOCHS)]


def looped(name: str, policy: str = "float32", step: str = "not compiled", **options: Any) -> list[dict[str, float]]:
    """Return what the loop logs, epoch by epoch; its settings say `step`."""
    split = samples(name, SAMPLES, VALIDATION)
    model = still(name, split, policy)
    before = [variable.numpy() for variable in model.variables]
    loop = torch.Loop(model, split.x_train, split.y_train, (split.x_val, split.y_val), BATCH_SIZE, **options)
    loop.compile()
    assert step in loop.settings["step"]
    for variable, value in zip(model.variables, before, strict=True):
        np.testing.assert_array_equal(variable.numpy(), value)
    epochs = []
    for _ in range(EPOCHS):
        loop.begin(np.arange(SAMPLES))
        loop.steps(0, 1)
        loop.steps(1, SAMPLES // BATCH_SIZE)
        loop.rest()
        epochs.append(loop.finish() | loop.validate())
    loop.close()
    return epochs


def assert_same(found: list[dict[str, float]], expected: list[dict[str, float]], rtol: float = 1e-3) -> None:
    for a, b in zip(found, expected, strict=True):
        assert a == pytest.approx(b, rel=rtol, abs=1e-6)


@pytest.mark.represented_by("mnist_mlp", "imdb_fasttext")
@pytest.mark.parametrize("name", FORMS)
def test_loop_has_the_losses_of_fit(process, name):
    assert_same(process.submit(looped, name).result(), process.submit(fitted, name).result())


# A step of the others is of the same layers; those with convolutions compile for minutes.
@pytest.mark.nightly
@pytest.mark.parametrize("name", ["mnist_mlp", "imdb_bidirectional_lstm", "imdb_fasttext"])
def test_compiled_loop_has_the_losses_of_fit(name):
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn"), initializer=started, initargs=("g++",)) as pool:
        assert_same(pool.submit(looped, name, step=", compiled").result(), pool.submit(fitted, name).result())


@pytest.mark.represented_by("mixed_float16")
@pytest.mark.parametrize("policy", ["mixed_bfloat16", "mixed_float16"])
def test_loop_in_mixed_types(process, policy):
    found = process.submit(looped, "mnist_mlp", policy).result()
    assert_same(found, process.submit(fitted, "mnist_mlp", policy).result(), rtol=0.02)


@pytest.mark.represented_by("True")
@pytest.mark.parametrize("tuned", [True, False])
def test_two_devices_have_the_losses_of_one(process, tuned):
    step = "not compiled" if tuned else "layer by layer"
    two = process.submit(looped, "mnist_mlp", step=step, devices=2, tuned=tuned).result()
    assert_same(two, process.submit(fitted, "mnist_mlp").result())


def rows_that_move(optimiser: str) -> tuple[bool, bool]:
    """Return whether rows in the batch, and rows not in it, move in the second of two steps."""
    import keras

    keras.utils.set_random_seed(1)
    layers = [keras.Input((3,), dtype="int32"), keras.layers.Embedding(8, 4), keras.layers.GlobalAveragePooling1D()]
    model = keras.Sequential([*layers, keras.layers.Dense(1, activation="sigmoid")])
    model.compile(optimizer=optimiser, loss="binary_crossentropy")
    x = np.array([[1, 2, 3], [4, 5, 5]], np.int32)
    loop = torch.Loop(model, x, np.ones(2, np.float32), None, 1, sparse=True)
    loop.compile()
    loop.begin(np.arange(2))
    loop.steps(0, 1)
    before = model.layers[0].embeddings.numpy()
    loop.steps(1, 2)
    moved = np.any(model.layers[0].embeddings.numpy() != before, axis=1)
    return bool(np.all(moved[[4, 5]])), bool(np.any(moved[[0, 1, 2, 3, 6, 7]]))


@pytest.mark.represented_by("adam")
@pytest.mark.parametrize("optimiser", ["adam", "rmsprop"])
def test_sparse_moves_the_rows_of_the_batch_only(process, optimiser):
    assert process.submit(rows_that_move, optimiser).result() == (True, False)


@pytest.mark.parametrize(
    ("name", "options", "words"),
    [
        ("mnist_mlp", {"sparse": True}, "embedding"),
        ("mnist_cnn", {"sparse": True}, "Adam or RMSprop"),
        ("mnist_mlp", {"devices": 3}, "cannot be split evenly"),
    ],
)
def test_what_is_not_supported(process, name, options, words):
    with pytest.raises(Unsupported, match=words):
        process.submit(looped, name, **options).result()


def summed_loss_on_two_devices() -> None:
    model, x, y = models.summed_loss()
    torch.Loop(model, x, y, None, BATCH_SIZE, devices=2)


def own_loss_on_two_devices() -> None:
    model, x, y = models.class_weights()
    torch.Loop(model, x, y, None, BATCH_SIZE, devices=2)


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("train", "words"),
    [(summed_loss_on_two_devices, "a loss that is a sum"), (own_loss_on_two_devices, "cannot load the model: ")],
)
def test_what_several_processes_cannot_train(process, train, words):
    with pytest.raises(Unsupported, match=words):
        process.submit(train).result()


def test_tf32_wants_its_hardware(process):
    with pytest.raises(Unsupported, match="tf32"):
        process.submit(torch.set_precision, "tf32").result()
    process.submit(torch.set_precision, "float32").result()


def test_wrong_thread_pool(process, monkeypatch):
    import torch as pytorch

    monkeypatch.setattr(pytorch, "set_num_threads", lambda threads: None)
    monkeypatch.setattr(pytorch, "set_num_interop_threads", lambda threads: None)
    monkeypatch.setattr(pytorch, "get_num_threads", lambda: 5)
    with pytest.raises(ThreadPoolError, match="5 threads, not 2"):
        torch.start(4, virtual=2)


@pytest.mark.nightly
def test_parallel_fit_is_not_keras():
    with torch.parallel(1):
        pass
    with pytest.raises(Unsupported), torch.parallel(2):
        pass


def compiled_by(error: str) -> str:
    """Return how a graph runs whose compiler ends with an error, or what is raised."""
    import torch as pytorch
    from torch._inductor import cpp_builder

    from scripts.frameworks.torch import graph

    class Inner(RuntimeError):
        inner_exception = pytorch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2 GiB")

    errors = {"memory": pytorch.OutOfMemoryError("tried to allocate"), "inner": Inner("backend failed"),
              "compiler": RuntimeError("no compiler")}  # fmt: skip

    def fail(*arguments: Any, **options: Any) -> None:
        raise errors[error]

    compile_, find = pytorch.compile, cpp_builder.get_cpp_compiler
    pytorch.compile, cpp_builder.get_cpp_compiler = fail, lambda: "c++"  # type: ignore[assignment]
    try:
        return graph.compile_graph(lambda: None, [])[1]
    except (pytorch.OutOfMemoryError, RuntimeError) as raised:
        return f"raised: {raised}"
    finally:
        pytorch.compile, cpp_builder.get_cpp_compiler = compile_, find


@pytest.mark.parametrize(
    ("error", "told"),
    [
        ("compiler", "not compiled (RuntimeError)"),
        ("memory", "raised: tried to allocate"),
        ("inner", "raised: CUDA out of memory. Tried to allocate 2 GiB"),
    ],
)
def test_want_of_memory_is_no_want_of_a_compiler(process: ProcessPoolExecutor, error: str, told: str) -> None:
    assert process.submit(compiled_by, error).result() == told
