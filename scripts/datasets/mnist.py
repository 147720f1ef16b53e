"""MNIST: 60,000 + 10,000 grey images of handwritten digits, 28 x 28 (LeCun, Cortes and Burges)."""

import gzip
from pathlib import Path

import numpy as np

from scripts.datasets import Arrays, Source
from scripts.storage.errors import InputError

_HOST = "https://storage.googleapis.com/cvdf-datasets/mnist"

FILES = {
    "train-images-idx3-ubyte.gz": Source("md5:f68b3c2dcbeaaa9fbdd348bbdeb94873", f"{_HOST}/train-images-idx3-ubyte.gz"),
    "train-labels-idx1-ubyte.gz": Source("md5:d53e105ee54ea40749a09fcbcd1e9432", f"{_HOST}/train-labels-idx1-ubyte.gz"),
    "t10k-images-idx3-ubyte.gz": Source("md5:9fb629c4189551a2d022fa330f9573f3", f"{_HOST}/t10k-images-idx3-ubyte.gz"),
    "t10k-labels-idx1-ubyte.gz": Source("md5:ec29112dd5afa0611ce80d1b7f02629c", f"{_HOST}/t10k-labels-idx1-ubyte.gz"),
}
LOCAL: list[dict[str, Source]] = []
PER_SAMPLE = ("x_train", "y_train", "x_test", "y_test")
TRAIN = "y_train"
COMPLETE = 60_000
COMPLETE_HELD_OUT = 10_000


def _idx(path: Path) -> np.ndarray:
    """Decode one idx file: magic number 0x08 (bytes) and rank, big-endian sizes, then the values."""
    try:
        content = gzip.decompress(path.read_bytes())
    except (OSError, EOFError) as error:
        raise InputError(f"{path}: not a gzip file: {error}") from error
    rank = content[3]
    shape = np.frombuffer(content, ">i4", count=rank, offset=4)
    return np.frombuffer(content, np.uint8, offset=4 + 4 * rank).reshape(shape)


def read(paths: dict[str, Path]) -> Arrays:
    """Return x (n, 28, 28) uint8 and y (n,) uint8 of both splits."""
    train_images, train_labels, test_images, test_labels = (_idx(paths[name]) for name in FILES)
    return {
        "x_train": train_images,
        "y_train": train_labels,
        "x_test": test_images,
        "y_test": test_labels,
    }


def synthesise(rng: np.random.Generator) -> Arrays:
    """Ten blurred random patterns, one per class, under noise."""
    patterns = rng.random((10, 7, 7)).repeat(4, axis=1).repeat(4, axis=2)
    arrays = {}
    for split, samples in (("train", COMPLETE), ("test", COMPLETE_HELD_OUT)):
        labels = rng.integers(0, 10, samples, dtype=np.uint8)
        noise = rng.integers(0, 256, (samples, 28, 28), dtype=np.uint8)
        arrays[f"x_{split}"] = (patterns[labels] * 96 + noise * 0.6).astype(np.uint8)
        arrays[f"y_{split}"] = labels
    return arrays
