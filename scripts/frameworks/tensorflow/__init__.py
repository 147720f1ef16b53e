"""TensorFlow: thread pools through its configuration, devices by `sync_devices`, a `tf.function` over the epoch."""

from scripts.frameworks.tensorflow.device import environment, parallel, set_precision, start, synchronise
from scripts.frameworks.tensorflow.loop import Loop

LABEL = "TensorFlow"
COLOUR = "#d97706"
DISTRIBUTIONS = ("tensorflow",)
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
    "parallel",
    "set_precision",
    "start",
    "synchronise",
]
