"""IMDb reviews with fastText (Joulin et al. 2016) on words and word pairs, Keras's `imdb_fasttext.py` of 2017.

The 1.2 million pairs make the embedding so large that the dense Adam update of all its rows is most
of the work, as it was in 2017.
"""

import numpy as np

from scripts.datasets import imdb
from scripts.records.reference import Reference
from scripts.workloads import Split

LABEL = "IMDb · fastText"
DATASET = "imdb"
BATCH_SIZE = 32
EPOCHS = 5
REFERENCE = Reference(
    metric="val_acc",
    values=(0.8602, 0.8942, 0.9014, 0.9038, 0.9068),
    source=(
        "minimaxir/deep-learning-cpu-gpu-benchmark @ 08adcf4, logs/gpu/imdb_fasttext_tensorflow.csv: "
        "Keras 2 on TensorFlow 1.2.1, one K80, July 2017 (MIT licence)"
    ),
)

#: A row of the embedding for each pair: 60.3 million parameters of all reviews, 10.5 million of a thirteenth.
GROWS = True

WORDS = 20_000
LENGTH = 400


def _pairs(review: np.ndarray) -> np.ndarray:
    """Return one number for each pair of neighbours in the review."""
    return review[:-1].astype(np.int64) * WORDS + review[1:]


def _with_pairs(reviews: list[np.ndarray], known: np.ndarray) -> list[np.ndarray]:
    """Append to each review the indices of its known pairs, which follow those of the words."""
    of_reviews = [_pairs(review) for review in reviews]
    pairs = np.concatenate(of_reviews)
    # In order, as looking for a million in another million at random takes ten times as long.
    order = np.argsort(pairs)
    places = np.empty_like(pairs)
    places[order] = np.minimum(np.searchsorted(known, pairs[order]), len(known) - 1)
    indices = np.where(known[places] == pairs, WORDS + 1 + places, 0)
    ends = np.cumsum([len(each) for each in of_reviews])[:-1]
    return [
        np.concatenate([review, found[found > 0]])
        for review, found in zip(reviews, np.split(indices, ends), strict=True)
    ]


def prepare(arrays: dict[str, np.ndarray]) -> Split:
    """Return the last 400 words and pairs of each review, (n, 400) int32, and labels 0 or 1.

    Pairs are those of the training reviews; `classes` is the number of rows that the embedding needs.
    """
    train = imdb.reviews(arrays, "train", WORDS)
    # As np.unique, which takes ten seconds for six million pairs.
    pairs = np.sort(np.concatenate([_pairs(review) for review in train]))
    known = pairs[np.append(True, pairs[1:] > pairs[:-1])]
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
