"""IMDb reviews with a bidirectional LSTM, Keras's `imdb_bidirectional_lstm.py` of 2017."""

import numpy as np

from scripts.datasets import imdb
from scripts.records.reference import Reference
from scripts.workloads import Split

LABEL = "IMDb · Bi-LSTM"
DATASET = "imdb"
BATCH_SIZE = 32
EPOCHS = 4
REFERENCE = Reference(
    metric="val_acc",
    values=(0.8506, 0.8476, 0.8371, 0.8335),
    source=(
        "minimaxir/deep-learning-cpu-gpu-benchmark @ 08adcf4, logs/gpu/imdb_bidirectional_lstm_tensorflow.csv: "
        "Keras 2 on TensorFlow 1.2.1, one K80, July 2017 (MIT licence)"
    ),
)

WORDS = 20_000
LENGTH = 100


def prepare(arrays: dict[str, np.ndarray]) -> Split:
    """Return the last 100 words of each review, (n, 100) int32, and labels 0 or 1."""
    return Split(
        x_train=imdb.padded(imdb.reviews(arrays, "train", WORDS), LENGTH),
        y_train=arrays["train_labels"].astype(np.float32),
        x_val=imdb.padded(imdb.reviews(arrays, "test", WORDS), LENGTH),
        y_val=arrays["test_labels"].astype(np.float32),
    )


def build(split: Split):
    """Return the compiled model: embedding of 128, 64 cells in each direction, Adam."""
    import keras
    from keras import layers

    model = keras.Sequential(
        [
            keras.Input((LENGTH,), dtype="int32"),
            layers.Embedding(WORDS, 128),
            layers.Bidirectional(layers.LSTM(64)),
            layers.Dropout(0.5),
            layers.Dense(1, activation="sigmoid"),
        ]
    )
    model.compile(optimizer="adam", loss="binary_crossentropy", metrics=["acc"])
    return model
