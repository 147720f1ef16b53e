"""IMDb: 25,000 + 25,000 film reviews, positive or negative (Maas et al. 2011), as Keras encodes them."""

from pathlib import Path

import numpy as np

from scripts.datasets import Arrays, Source

_URL = "https://storage.googleapis.com/tensorflow/tf-keras-datasets/imdb.npz"

FILES = {"imdb.npz": Source("sha256:69664113be75683a8fe16e3ed0ab59fda8886cb3cd7ada244f7d9544e4676b9f", _URL)}
#: The same sequences without pickled objects: flat tokens, offsets and labels of each split.
LOCAL = [
    {"imdb_keras_sequences.npz": Source("sha256:42e808c09612c8b9b8edffa54e75239b94d91e0f4646bd9916b587c201512cae")}
]
#: `*_tokens` hold all reviews one after the other, `*_lengths` their lengths.
PER_SAMPLE = ("train_lengths", "train_labels", "test_lengths", "test_labels")
TRAIN = "train_labels"
COMPLETE = 25_000
COMPLETE_HELD_OUT = 25_000

#: Words of the text that a class's synthetic reviews are cut from.
_SYNTHETIC_TEXT = 1_400_000

#: As `keras.datasets.imdb.load_data`: word ranks begin at 4; 1 opens a review, 2 is an unknown word.
START, UNKNOWN, INDEX_FROM = 1, 2, 3


def _shuffled(sequences: list[np.ndarray], labels: np.ndarray, rng: np.random.RandomState) -> tuple:
    """Order one split as `keras.datasets.imdb.load_data` does, and mark the start of each review."""
    order = np.arange(len(sequences))
    rng.shuffle(order)
    marked = [np.concatenate([[START], sequences[i] + INDEX_FROM]) for i in order]
    return np.concatenate(marked), [len(review) for review in marked], labels[order]


def read(paths: dict[str, Path]) -> Arrays:
    """Return for both splits the flat tokens (uint32), lengths (int32) and labels (uint8)."""
    path = next(iter(paths.values()))
    rng = np.random.RandomState(113)  # Keras's own seed: the order that every Keras user has
    arrays: Arrays = {}
    # The official file holds object arrays; its checksum has been checked before.
    with np.load(path, allow_pickle=True) as archive:
        for split in ("train", "test"):
            if f"{split}_tokens" in archive.files:
                reviews = np.split(archive[f"{split}_tokens"], archive[f"{split}_offsets"][1:-1])
                labels = archive[f"{split}_labels"]
            else:
                reviews = [np.array(review, np.uint32) for review in archive[f"x_{split}"]]
                labels = archive[f"y_{split}"]
            tokens, lengths, labels = _shuffled(reviews, labels, rng)
            arrays[f"{split}_tokens"] = tokens.astype(np.uint32)
            arrays[f"{split}_lengths"] = np.array(lengths, np.int32)
            arrays[f"{split}_labels"] = labels.astype(np.uint8)
    return arrays


def trim(arrays: Arrays) -> Arrays:
    """Return the arrays without the words of reviews that are not among them."""
    tokens = {
        f"{split}_tokens": arrays[f"{split}_tokens"][: arrays[f"{split}_lengths"].sum()] for split in ("train", "test")
    }
    return arrays | tokens


def synthesise(rng: np.random.Generator) -> Arrays:
    """Reviews cut from a text of each class: low ranks more often, a tenth of the words the class's own hundred.

    The texts are so long that there are about as many pairs of neighbours as in the real reviews, 1.2 million.
    """
    bounds = rng.integers(2, 80_000, (2, _SYNTHETIC_TEXT))
    own = 200 + 100 * np.arange(2)[:, None] + rng.integers(0, 100, bounds.shape)
    texts = np.where(rng.random(bounds.shape) < 0.1, own, rng.integers(1, bounds)).astype(np.uint32) + INDEX_FROM
    arrays: Arrays = {}
    for split in ("train", "test"):
        labels = rng.integers(0, 2, COMPLETE, dtype=np.uint8)
        lengths = rng.integers(60, 401, COMPLETE).astype(np.int32)
        starts = rng.integers(0, _SYNTHETIC_TEXT - 400, COMPLETE)
        first = np.cumsum(lengths) - lengths
        places = np.arange(lengths.sum()) + (starts - first).repeat(lengths)
        tokens = texts[labels.repeat(lengths), places]
        tokens[first] = START
        arrays |= {f"{split}_tokens": tokens, f"{split}_lengths": lengths, f"{split}_labels": labels}
    return arrays


def reviews(arrays: Arrays, split: str, words: int) -> list[np.ndarray]:
    """Return the reviews of `split` as arrays of word indices below `words`; rarer words become UNKNOWN."""
    lengths = arrays[f"{split}_lengths"]
    tokens = arrays[f"{split}_tokens"][: lengths.sum()].astype(np.int32)
    return np.split(np.where(tokens < words, tokens, UNKNOWN), np.cumsum(lengths)[:-1])


def padded(sequences: list[np.ndarray], length: int) -> np.ndarray:
    """Return (n, length) int32: the last `length` words of each sequence, zeros before shorter ones."""
    table = np.zeros((len(sequences), length), np.int32)
    for row, sequence in zip(table, sequences, strict=True):
        tail = sequence[-length:]
        row[length - len(tail) :] = tail
    return table
