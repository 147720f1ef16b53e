"""A few samples of the form that each classic workload takes."""

import numpy as np

from scripts.workloads import Split

#: Shape of a sample, largest whole number in it (None: it holds fractions), classes.
FORMS: dict[str, tuple[tuple[int, ...], int | None, int]] = {
    "mnist_mlp": ((784,), None, 10),
    "mnist_cnn": ((28, 28, 1), None, 10),
    "cifar10_cnn": ((32, 32, 3), None, 10),
    "imdb_bidirectional_lstm": ((100,), 20_000, 2),
    "imdb_fasttext": ((400,), 20_000, 2),
    "lstm_text_generation": ((40, 30), None, 30),
}


def samples(name: str, train: int, validation: int, repeated: bool = True) -> Split:
    """Return random samples for training and validation; no word comes twice unless it may be `repeated`."""
    rng = np.random.default_rng(7)
    shape, words, classes = FORMS[name]
    size = train + validation
    if words is None:
        x = rng.random((size, *shape), np.float32)
    elif repeated:
        x = rng.integers(0, words, (size, *shape), np.int32)
    else:
        x = rng.permutation(words)[: size * shape[0]].reshape(size, *shape).astype(np.int32)
    y = rng.integers(0, classes, size).astype(np.float32 if classes == 2 else np.uint8)
    return Split(x[:train], y[:train], x[train:], y[train:], words or classes)
