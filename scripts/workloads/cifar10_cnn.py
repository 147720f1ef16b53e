"""CIFAR-10 with a deeper convolutional network and moving images, Keras's `cifar10_cnn.py` of 2017."""

import numpy as np

from scripts.records.reference import Reference
from scripts.workloads import Split

LABEL = "CIFAR-10 · CNN"
DATASET = "cifar10"
BATCH_SIZE = 32
EPOCHS = 20
# fmt: off
REFERENCE = Reference(
    metric="val_acc",
    values=(
        0.4296, 0.4997, 0.5465, 0.5767, 0.5998, 0.6228, 0.6318, 0.6516, 0.6701, 0.6810, 0.6956,
        0.6983, 0.7069, 0.7177, 0.7277, 0.7250, 0.7330, 0.7386, 0.7317, 0.7513,
    ),
    training=(
        0.3156, 0.4242, 0.4764, 0.5136, 0.5415, 0.5624, 0.5835, 0.5971, 0.6153, 0.6294, 0.6395,
        0.6499, 0.6577, 0.6665, 0.6739, 0.6835, 0.6870, 0.6917, 0.6941, 0.7018,
    ),
    source=(
        "minimaxir/deep-learning-cpu-gpu-benchmark @ 08adcf4, logs/gpu/cifar10_cnn_tensorflow.csv: "
        "Keras 2 on TensorFlow 1.2.1, one K80, July 2017 (MIT licence)"
    ),
)
# fmt: on


def prepare(arrays: dict[str, np.ndarray]) -> Split:
    """Return images as (n, 32, 32, 3) float32 in [0, 1] and labels 0 to 9."""
    return Split(
        x_train=arrays["x_train"].astype(np.float32) / 255,
        y_train=arrays["y_train"],
        x_val=arrays["x_test"].astype(np.float32) / 255,
        y_val=arrays["y_test"],
    )


def build(split: Split):
    """Return the compiled model; the shift and the flip are layers, at work in training only."""
    import keras
    from keras import layers

    model = keras.Sequential(
        [
            keras.Input((32, 32, 3)),
            layers.RandomTranslation(0.1, 0.1, fill_mode="nearest"),
            layers.RandomFlip("horizontal"),
            layers.Conv2D(32, 3, padding="same", activation="relu"),
            layers.Conv2D(32, 3, activation="relu"),
            layers.MaxPooling2D(2),
            layers.Dropout(0.25),
            layers.Conv2D(64, 3, padding="same", activation="relu"),
            layers.Conv2D(64, 3, activation="relu"),
            layers.MaxPooling2D(2),
            layers.Dropout(0.25),
            layers.Flatten(),
            layers.Dense(512, activation="relu"),
            layers.Dropout(0.5),
            layers.Dense(10, activation="softmax"),
        ]
    )
    model.compile(
        optimizer=keras.optimizers.RMSprop(learning_rate=1e-4),
        loss="sparse_categorical_crossentropy",
        metrics=["acc"],
    )
    return model
