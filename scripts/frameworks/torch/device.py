"""How PyTorch is held to its cores, multiplies float32 and waits for its device."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

from scripts.frameworks import ThreadPoolError, Unsupported, UnsupportedDevice

#: Where this process keeps what it compiles; removed as it exits.
_compiled: tempfile.TemporaryDirectory[str] | None = None


def environment(cores: int, virtual: int = 1) -> dict[str, str]:
    """OpenMP, MKL and TorchInductor read their sizes at load; virtual devices share the cores."""
    threads = str(max(1, cores // virtual))
    return {"OMP_NUM_THREADS": threads, "MKL_NUM_THREADS": threads, "TORCHINDUCTOR_COMPILE_THREADS": threads}


def start(cores: int, virtual: int = 1) -> list[str]:
    """Import PyTorch with pools for `cores` cores and return its devices.

    What is compiled is compiled anew by each process, as on a machine that was just rented, and as TensorFlow and JAX
    do: TorchInductor would find the code of earlier runs, and only the first of a cell would pay for it.
    """
    import torch

    global _compiled
    _compiled = tempfile.TemporaryDirectory(prefix="torchinductor-")
    os.environ["TORCHINDUCTOR_CACHE_DIR"] = _compiled.name

    expected = max(1, cores // virtual)
    torch.set_num_threads(expected)
    torch.set_num_interop_threads(expected)
    threads = torch.get_num_threads()
    if threads != expected:
        raise ThreadPoolError(f"PyTorch runs {threads} threads, not {expected}")
    if torch.cuda.is_available():
        return [torch.cuda.get_device_name(index) for index in range(torch.cuda.device_count())]
    return ["cpu"] * virtual


def synchronise() -> None:
    """Wait for the GPU, if there is one."""
    import torch

    if torch.cuda.is_available():
        torch.cuda.synchronize()


def set_precision(precision: str) -> None:
    """Let float32 be multiplied as tf32 for `tf32` only; `Unsupported` without a GPU that can."""
    import torch

    tf32 = precision == "tf32"
    if tf32 and not (torch.cuda.is_available() and torch.cuda.get_device_capability() >= (8, 0)):
        raise UnsupportedDevice("tf32 needs an NVIDIA GPU of compute capability 8.0 or more")
    torch.set_float32_matmul_precision("high" if tf32 else "highest")
    torch.backends.cudnn.allow_tf32 = tf32


@contextmanager
def parallel(devices: int) -> Iterator[None]:
    """Keras's `fit` has no data parallelism on torch: more than one device raises `Unsupported`."""
    if devices != 1:
        raise Unsupported("Keras fits on one torch device: train on several with Loop")
    yield
