"""CIFAR-10: 50,000 + 10,000 colour images of ten classes, 32 x 32 (Krizhevsky)."""

import lzma
import pickle
import tarfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from scripts.datasets import Arrays, Source
from scripts.storage.errors import InputError

_ARCHIVE = "cifar-10-python.tar.gz"

FILES = {
    _ARCHIVE: Source("md5:c58f30108f718f92721af3b95e74349a", f"https://www.cs.toronto.edu/~kriz/{_ARCHIVE}"),
}
#: The first fifth of the training images and all test images, each file packed with xz.
LOCAL = [
    {
        "data_batch_1.xz": Source("sha256:7465e66abd451a285c0112b5e4659febd40730fec38492884cf7d2c1546bb580"),
        "test_batch.xz": Source("sha256:a0cd5b6ca0f4bbb1aa5437407b5f5e184be5c26d6f2edb912d58e374ce8b4fd2"),
    }
]
PER_SAMPLE = ("x_train", "y_train", "x_test", "y_test")
TRAIN = "y_train"
COMPLETE = 50_000
COMPLETE_HELD_OUT = 10_000


class _Unpickler(pickle.Unpickler):
    """Opens the official files and nothing else: plain containers and numpy arrays."""

    _ALLOWED = frozenset({("numpy.core.multiarray", "_reconstruct"), ("numpy", "ndarray"), ("numpy", "dtype")})

    def find_class(self, module: str, name: str) -> object:
        if (module, name) not in self._ALLOWED:
            raise InputError(f"CIFAR-10 file asks for {module}.{name}: not an official file")
        return super().find_class(module, name)


def _batches(paths: dict[str, Path]) -> Iterator[tuple[str, dict]]:
    if _ARCHIVE in paths:
        with tarfile.open(paths[_ARCHIVE]) as archive:
            for member in archive:
                name = Path(member.name).name
                content = archive.extractfile(member)
                if content is not None and name.endswith(("_1", "_2", "_3", "_4", "_5", "test_batch")):
                    yield name, _Unpickler(content, encoding="bytes").load()
    else:
        for name, path in paths.items():
            with lzma.open(path) as content:
                yield name, _Unpickler(content, encoding="bytes").load()


def read(paths: dict[str, Path]) -> Arrays:
    """Return x (n, 32, 32, 3) uint8 and y (n,) uint8 of both splits; n is 10,000 from a partial folder."""
    images: dict[str, list[np.ndarray]] = {"train": [], "test": []}
    labels: dict[str, list[np.ndarray]] = {"train": [], "test": []}
    for name, batch in sorted(_batches(paths), key=lambda item: item[0]):
        split = "test" if name.startswith("test") else "train"
        images[split].append(batch[b"data"].reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1))
        labels[split].append(np.array(batch[b"labels"], np.uint8))
    return {
        "x_train": np.concatenate(images["train"]),
        "y_train": np.concatenate(labels["train"]),
        "x_test": np.concatenate(images["test"]),
        "y_test": np.concatenate(labels["test"]),
    }


def synthesise(rng: np.random.Generator) -> Arrays:
    """Ten coarse colour patterns, one per class, under noise; symmetric, so that a flip keeps the class."""
    half = rng.random((10, 4, 2, 3))
    patterns = np.concatenate([half, half[:, :, ::-1]], axis=2).repeat(8, axis=1).repeat(8, axis=2)
    arrays = {}
    for split, samples in (("train", COMPLETE), ("test", COMPLETE_HELD_OUT)):
        labels = rng.integers(0, 10, samples, dtype=np.uint8)
        images = np.empty((samples, 32, 32, 3), np.uint8)
        for start in range(0, samples, 10_000):
            part = slice(start, start + 10_000)
            noise = rng.integers(0, 256, images[part].shape, dtype=np.uint8)
            images[part] = patterns[labels[part]] * 128 + noise * 0.5
        arrays[f"x_{split}"] = images
        arrays[f"y_{split}"] = labels
    return arrays
