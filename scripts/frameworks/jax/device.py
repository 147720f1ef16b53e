"""How JAX is held to its cores, multiplies float32, waits for its devices and trains on several."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from scripts.frameworks import ThreadPoolError, UnsupportedDevice


def environment(cores: int, virtual: int) -> dict[str, str]:
    """XLA reads the number of threads of its CPU client from `NPROC`, that of its CPU devices from `XLA_FLAGS`."""
    variables = {
        "NPROC": str(cores),
        "OMP_NUM_THREADS": str(cores),
        "XLA_PYTHON_CLIENT_PREALLOCATE": "false",
    }
    if virtual > 1:
        flags = f"{os.environ.get('XLA_FLAGS', '')} --xla_force_host_platform_device_count={virtual}"
        variables["XLA_FLAGS"] = flags.strip()
    return variables


def _pool_threads() -> int:
    """Count the threads of XLA's Eigen pool by their names in /proc."""
    names = []
    for path in Path("/proc/self/task").glob("*/comm"):
        with suppress(FileNotFoundError, ProcessLookupError):  # a thread of another pool that has just ended
            names.append(path.read_text())
    return sum("XLAEigen" in name for name in names)


def start(cores: int, virtual: int) -> list[str]:
    """Import JAX, start its client and return its devices."""
    import jax

    devices = jax.devices()
    threads = _pool_threads()
    # Each part of a CPU has a thread of its own, even where they are more than the cores.
    expected = max(cores, virtual)
    if devices[0].platform == "cpu" and threads != expected:
        raise ThreadPoolError(f"JAX runs {threads} threads, not {expected}")
    return [str(device) for device in devices]


def synchronise() -> None:
    """Wait until every array that is still alive has been computed."""
    import jax

    jax.block_until_ready(jax.live_arrays())


def set_precision(precision: str) -> None:
    """Allow tf32 products of float32 for `tf32`, else forbid them."""
    import jax

    if precision != "tf32":
        jax.config.update("jax_default_matmul_precision", "highest")
        return
    device = jax.devices()[0]
    # tf32 came with compute capability 8.0.
    if device.platform != "gpu" or float(getattr(device, "compute_capability", "0")) < 8:
        raise UnsupportedDevice(f"{device.device_kind} has no tf32")
    jax.config.update("jax_default_matmul_precision", "tensorfloat32")


def first_devices(devices: int) -> list:
    """Return the first `devices` devices; `UnsupportedDevice` if there are not so many."""
    import jax

    found = jax.devices()[:devices]
    if len(found) < devices:
        raise UnsupportedDevice(f"JAX has {len(found)} devices, not {devices}")
    return found


@contextmanager
def parallel(devices: int) -> Iterator[None]:
    """Build and fit on the first `devices` devices, each with an equal share of every batch."""
    import keras

    # Keras would send even one device's batches through its sharding, which takes time.
    if devices == 1:
        yield
        return
    names = [f"{device.platform}:{device.id}" for device in first_devices(devices)]
    before = keras.distribution.distribution()
    keras.distribution.set_distribution(keras.distribution.DataParallel(devices=names, auto_shard_dataset=False))
    try:
        yield
    finally:
        keras.distribution.set_distribution(before)


def fit_settings(model: Any) -> dict[str, str]:
    """Return how Keras's `fit` runs a step of a compiled model: without XLA each operation is a call of its own."""
    if model.jit_compile:
        return {}
    layers = [layer.name for layer in model._flatten_layers() if not getattr(layer, "supports_jit", True)]
    return {"step": f"not compiled, operation by operation: so Keras runs a model with {', '.join(layers) or 'these'}"}
