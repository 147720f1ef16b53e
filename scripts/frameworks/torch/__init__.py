"""PyTorch: thread pools through its setters; the tuned loop runs Keras's step as one graph of torch operations.

Keras on torch spends much of its time in Python, layer by layer. The tuned loop traces one whole training step of
the compiled Keras model, optimiser and metrics included, into a graph of ATen operations, which leaves nothing of
Keras in it, and lets TorchInductor compile the graph where there is a compiler. Two of Keras's functions have a
faster form in torch with the same mathematics and are replaced while it traces: see `kernels.fast_kernels`.
"""

from scripts.frameworks.torch.device import environment, parallel, set_precision, start, synchronise
from scripts.frameworks.torch.ranks import Loop

LABEL = "PyTorch"
COLOUR = "#c2497a"
DISTRIBUTIONS = ("torch",)

#: Keras fits on one torch device only: several need `Loop`, stock too.
PARALLEL_FIT = False
#: Several processes hold parts of the state.
RESUMES_PARALLEL = False

__all__ = [
    "COLOUR",
    "DISTRIBUTIONS",
    "LABEL",
    "PARALLEL_FIT",
    "RESUMES_PARALLEL",
    "Loop",
    "environment",
    "parallel",
    "set_precision",
    "start",
    "synchronise",
]
