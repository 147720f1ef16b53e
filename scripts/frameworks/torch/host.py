"""What a tuned training on a CPU asks of the C library and of the processor; `stock` has them as they come."""

import ctypes
from pathlib import Path

# Numbers of mallopt (malloc.h) and of omp_pause_resource_t (OpenMP 5.0, section 3.2.43).
_TRIM_THRESHOLD, _TOP_PAD, _MMAP_MAX = -1, -2, -4
_PAUSE_HARD = 2
# Of madvise (Linux's mman-common.h); the second came with Linux 6.1.
_HUGEPAGE, _COLLAPSE = 14, 25
_HUGE_BYTES = 2**21


def keep_memory() -> bool:
    """Let glibc keep what is freed, as GPU allocators do; return whether it does (another C library does not).

    Tensors of some MB would else be mapped at each step anew, and the kernel fills every page with zeros first:
    3,800 page faults a step of `mnist_cnn`.
    """
    library = ctypes.CDLL(None)
    if not hasattr(library, "mallopt"):
        return False
    settings = ((_MMAP_MAX, 0), (_TRIM_THRESHOLD, 2**31 - 1), (_TOP_PAD, 64 * 2**20))
    return all(library.mallopt(name, value) for name, value in settings)


def flush_denormals() -> bool:
    """Let this thread, and torch's threads with it, take numbers below 1.2e-38 for zero; return whether they do.

    XLA and TensorFlow do so on a CPU. The first moment of a row that no batch looks up goes there within 900 steps of
    Adam, stays there, as 0.9 times the least of numbers is rounded up to it, and costs much in every step. It moves
    no weight by as much as float32 can show.
    """
    import torch

    if not torch.set_flush_denormal(True):
        return False
    # The flag is a thread's own, and inherited. The threads of OpenMP's pool are let go, and come anew.
    loaded = {line.split()[-1] for line in Path("/proc/self/maps").read_text().splitlines() if "libgomp" in line}
    for path in loaded:
        library = ctypes.CDLL(path)
        if hasattr(library, "omp_pause_resource_all"):
            library.omp_pause_resource_all(_PAUSE_HARD)
    return bool(loaded)


def use_huge_pages(tensor) -> None:
    """Ask Linux for pages of 2 MB under a tensor, where it is large enough; its values stay.

    A pass over a table takes a tenth less, and rows taken here and there half.
    """
    library = ctypes.CDLL(None)
    start = -(-tensor.data_ptr() // _HUGE_BYTES) * _HUGE_BYTES
    size = (tensor.data_ptr() + tensor.nbytes - start) // _HUGE_BYTES * _HUGE_BYTES
    if size > 0 and hasattr(library, "madvise"):
        for advice in (_HUGEPAGE, _COLLAPSE):
            library.madvise(ctypes.c_void_p(start), ctypes.c_size_t(size), advice)
