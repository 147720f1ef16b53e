"""JAX: one pool, sized by `NPROC` when its CPU client starts, devices by waiting for every live array."""

from pathlib import Path

from scripts.frameworks import ThreadPoolError

DISTRIBUTIONS = ("jax", "jaxlib")


def environment(cores: int) -> dict[str, str]:
    """XLA reads the number of threads of its CPU client from `NPROC`."""
    return {
        "NPROC": str(cores),
        "OMP_NUM_THREADS": str(cores),
        "XLA_PYTHON_CLIENT_PREALLOCATE": "false",
    }


def _pool_threads() -> int:
    """Count the threads of XLA's Eigen pool by their names in /proc."""
    names = [path.read_text().strip() for path in Path("/proc/self/task").glob("*/comm")]
    return sum("XLAEigen" in name for name in names)


def start(cores: int) -> list[str]:
    """Import JAX, start its client and return its devices."""
    import jax

    devices = jax.devices()
    threads = _pool_threads()
    if devices[0].platform == "cpu" and threads != cores:
        raise ThreadPoolError(f"JAX runs {threads} threads, not {cores}")
    return [str(device) for device in devices]


def synchronise() -> None:
    """Wait until every array that is still alive has been computed."""
    import jax

    jax.block_until_ready(jax.live_arrays())
