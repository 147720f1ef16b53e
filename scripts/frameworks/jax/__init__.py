"""JAX: one pool, sized by `NPROC` when its CPU client starts, devices by waiting for every live array."""

from scripts.frameworks.jax.device import environment, fit_settings, parallel, set_precision, start, synchronise
from scripts.frameworks.jax.loop import Loop

LABEL = "JAX"
COLOUR = "#3b82c4"
DISTRIBUTIONS = ("jax", "jaxlib")
PARALLEL_FIT = True
RESUMES_PARALLEL = True

__all__ = [
    "COLOUR",
    "DISTRIBUTIONS",
    "LABEL",
    "PARALLEL_FIT",
    "RESUMES_PARALLEL",
    "Loop",
    "environment",
    "fit_settings",
    "parallel",
    "set_precision",
    "start",
    "synchronise",
]
