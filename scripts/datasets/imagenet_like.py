"""Images of ImageNet's size that are noise, with random labels of 1,000 classes: for throughput, not for learning.

128 distinct images stand for all samples, so that the file stays small: sample i shows image i modulo 128.
"""

import numpy as np

from scripts.datasets import Arrays, Source

#: Synthetic by design: there are no files.
FILES: dict[str, Source] = {}
LOCAL: list[dict[str, Source]] = []
PER_SAMPLE = ("labels",)
TRAIN = "labels"
#: 128 steps of 32, 64 of 64.
COMPLETE = 4_096

CLASSES = 1_000
DISTINCT = 128
#: The larger of the two sizes in use, 224 and 299.
SIZE = 299


def synthesise(rng: np.random.Generator) -> Arrays:
    """Return `images` (128, 299, 299, 3) uint8 and `labels` (n,) int32."""
    return {
        "images": rng.integers(0, 256, (DISTINCT, SIZE, SIZE, 3), dtype=np.uint8),
        "labels": rng.integers(0, CLASSES, COMPLETE, dtype=np.int32),
    }


def images(arrays: Arrays, size: int) -> np.ndarray:
    """Return the upper left `size` x `size` pixels of the image of every sample, (n, size, size, 3) uint8."""
    images = arrays["images"]
    return images[np.arange(len(arrays["labels"])) % len(images), :size, :size]
