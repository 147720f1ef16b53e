"""Nietzsche, character by character, with an LSTM, Keras's `lstm_text_generation.py` of 2017.

No validation: as published, the training loss is the result.
"""

import numpy as np

from scripts.records.reference import Reference
from scripts.workloads import Split

LABEL = "Nietzsche · LSTM"
DATASET = "nietzsche"
BATCH_SIZE = 128
EPOCHS = 10
REFERENCE = Reference(
    metric="loss",
    values=(1.9910, 1.6394, 1.5493, 1.5040, 1.4755, 1.4556, 1.4404, 1.4274, 1.4172, 1.4075),
    source=(
        "minimaxir/deep-learning-cpu-gpu-benchmark @ 08adcf4, logs/gpu/lstm_text_generation_tensorflow.csv: "
        "Keras 2 on TensorFlow 1.2.1, one K80, July 2017 (MIT licence)"
    ),
)

WINDOW = 40
STEP = 3


def prepare(arrays: dict[str, np.ndarray]) -> Split:
    """Return windows of 40 characters, one-hot (n, 40, characters) bool, and the character that follows."""
    text, characters = arrays["text"], len(arrays["characters"])
    starts = np.arange(0, len(text) - WINDOW, STEP)
    windows = text[starts[:, None] + np.arange(WINDOW)]
    return Split(
        x_train=np.eye(characters, dtype=bool)[windows],
        y_train=text[starts + WINDOW],
        classes=characters,
    )


def build(split: Split):
    """Return the compiled model: one LSTM of 128 and a softmax over the characters, RMSprop."""
    import keras
    from keras import layers

    model = keras.Sequential(
        [
            keras.Input((WINDOW, split.classes)),
            layers.LSTM(128),
            layers.Dense(split.classes, activation="softmax"),
        ]
    )
    model.compile(
        optimizer=keras.optimizers.RMSprop(learning_rate=0.01),
        loss="sparse_categorical_crossentropy",
    )
    return model
