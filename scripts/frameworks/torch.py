"""PyTorch: thread pools through its setters, the GPU by `torch.cuda.synchronize`; its CPU work is never pending."""

from scripts.frameworks import ThreadPoolError

DISTRIBUTIONS = ("torch",)


def environment(cores: int) -> dict[str, str]:
    """OpenMP and MKL read their sizes at load."""
    return {"OMP_NUM_THREADS": str(cores), "MKL_NUM_THREADS": str(cores)}


def start(cores: int) -> list[str]:
    """Import PyTorch with pools of `cores` threads and return its devices."""
    import torch

    torch.set_num_threads(cores)
    torch.set_num_interop_threads(cores)
    threads = torch.get_num_threads()
    if threads != cores:
        raise ThreadPoolError(f"PyTorch runs {threads} threads, not {cores}")
    if torch.cuda.is_available():
        return [torch.cuda.get_device_name(index) for index in range(torch.cuda.device_count())]
    return ["cpu"]


def synchronise() -> None:
    """Wait for the GPU, if there is one."""
    import torch

    if torch.cuda.is_available():
        torch.cuda.synchronize()
