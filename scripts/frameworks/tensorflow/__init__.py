"""TensorFlow: thread pools through its configuration, devices by `sync_devices`, a `tf.function` over the epoch."""

from scripts.frameworks.tensorflow.device import environment, parallel, set_precision, start, synchronise
from scripts.frameworks.tensorflow.loop import Loop

DISTRIBUTIONS = ("tensorflow",)

__all__ = [
    "DISTRIBUTIONS",
    "Loop",
    "environment",
    "parallel",
    "set_precision",
    "start",
    "synchronise",
]
