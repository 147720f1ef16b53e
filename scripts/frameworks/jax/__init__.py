"""JAX: one pool, sized by `NPROC` when its CPU client starts, devices by waiting for every live array."""

from scripts.frameworks.jax.device import environment, parallel, set_precision, start, synchronise
from scripts.frameworks.jax.loop import Loop

DISTRIBUTIONS = ("jax", "jaxlib")

__all__ = [
    "DISTRIBUTIONS",
    "Loop",
    "environment",
    "parallel",
    "set_precision",
    "start",
    "synchronise",
]
