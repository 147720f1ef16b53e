"""What a tuned training on torch asks of the C library and of the processor, in a process of its own."""

import multiprocessing
import os
import resource
from concurrent.futures import ProcessPoolExecutor
from importlib.util import find_spec

import pytest

from scripts.frameworks import torch

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        find_spec("torch") is None, reason="PyTorch is not installed: make test FRAMEWORKS='tensorflow jax torch'"
    ),
]


def fresh(function):
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        return pool.submit(function).result()


def denormals() -> tuple[int, int]:
    """Return how many of 2,000,000 denormal numbers two running threads keep before and after."""
    os.environ |= torch.environment(2)
    import torch as pytorch

    from scripts.frameworks.torch.host import flush_denormals

    pytorch.set_num_threads(2)
    tiny = pytorch.full((2_000_000,), 1e-41)
    before = int(((tiny * 0.9) != 0).sum())
    assert flush_denormals()
    after = int(((tiny * 0.9) != 0).sum())
    assert pytorch.get_num_threads() == 2
    return before, after


def test_no_thread_keeps_denormals():
    assert fresh(denormals) == (2_000_000, 0)


def faults() -> tuple[int, int]:
    """Return the page faults of taking and freeing 64 MB, before and, once the heap has grown to it, after."""
    import torch as pytorch

    from scripts.frameworks.torch.host import keep_memory

    def taken() -> int:
        before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
        for _ in range(4):
            pytorch.zeros(16 * 2**20).add_(1)
        return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

    mapped = taken()
    assert keep_memory()
    return mapped, min(taken() for _ in range(4))


def test_memory_is_mapped_once():
    mapped, kept = fresh(faults)
    assert kept < mapped / 10


def on_huge_pages() -> bool:
    """Return whether a tensor keeps its values."""
    import torch as pytorch

    from scripts.frameworks.torch.host import use_huge_pages

    values = pytorch.arange(5_000_000)
    use_huge_pages(values)
    use_huge_pages(pytorch.zeros(3))
    return bool((values == pytorch.arange(5_000_000)).all())


def test_huge_pages_keep_the_values():
    assert fresh(on_huge_pages)
