"""IMDb reviews with fastText (Joulin et al. 2016) on words and word pairs, Keras's `imdb_fasttext.py` of 2017.

The 1.2 million pairs make the embedding so large that the dense Adam update of all its rows is most
of the work, as it was in 2017.
"""

import numpy as np

from scripts.datasets import imdb
from scripts.workloads import PUBLISHED_2017_07, Reference, Split

DATASET = "imdb"
BATCH_SIZE = 32
EPOCHS = 5
REFERENCE = Reference(
    metric="val_acc",
    values=(0.8602, 0.8942, 0.9014, 0.9038, 0.9068),
    source=PUBLISHED_2017_07.format(log="imdb_fasttext_tensorflow.csv"),
)

WORDS = 20_000
LENGTH = 400


def _pairs(review: np.ndarray) -> np.ndarray:
    """Return one number for each pair of neighbours in the review."""
    return review[:-1].astype(np.int64) * WORDS + review[1:]


def _with_pairs(reviews: list[np.ndarray], known: np.ndarray) -> list[np.ndarray]:
    """Append to each review the indices of its known pairs, which follow those of the words."""
    extended = []
    for review in reviews:
        pairs = _pairs(review)
        places = np.minimum(np.searchsorted(known, pairs), len(known) - 1)
        found = places[known[places] == pairs]
        extended.append(np.concatenate([review, WORDS + 1 + found]))
    return extended


def prepare(arrays: dict[str, np.ndarray]) -> Split:
    """Return the last 400 words and pairs of each review, (n, 400) int32, and labels 0 or 1.

    Pairs are those of the training reviews; `classes` is the number of rows that the embedding needs.
    """
    train = imdb.reviews(arrays, "train", WORDS)
    known = np.unique(np.concatenate([_pairs(review) for review in train]))
    return Split(
        x_train=imdb.padded(_with_pairs(train, known), LENGTH),
        y_train=arrays["train_labels"].astype(np.float32),
        x_val=imdb.padded(_with_pairs(imdb.reviews(arrays, "test", WORDS), known), LENGTH),
        y_val=arrays["test_labels"].astype(np.float32),
        classes=WORDS + 1 + len(known),
    )


def build(split: Split):
    """Return the compiled model: the mean of the embeddings (50) of all words and pairs, Adam."""
    import keras
    from keras import layers

    model = keras.Sequential(
        [
            keras.Input((LENGTH,), dtype="int32"),
            layers.Embedding(split.classes, 50),
            layers.GlobalAveragePooling1D(),
            layers.Dense(1, activation="sigmoid"),
        ]
    )
    model.compile(optimizer="adam", loss="binary_crossentropy", metrics=["acc"])
    return model
