"""MNIST digits with a small convolutional network, Keras's `mnist_cnn.py` of 2017."""

import numpy as np

from scripts.records.reference import Reference
from scripts.workloads import Split

LABEL = "MNIST · CNN"
DATASET = "mnist"
BATCH_SIZE = 128
EPOCHS = 12
# fmt: off
REFERENCE = Reference(
    metric="val_acc",
    values=(
        0.9740, 0.9819, 0.9866, 0.9865, 0.9879, 0.9895, 0.9892, 0.9905, 0.9909, 0.9908, 0.9912,
        0.9910,
    ),
    source=(
        "minimaxir/deep-learning-cpu-gpu-benchmark @ 08adcf4, logs/gpu/mnist_cnn_tensorflow.csv: "
        "Keras 2 on TensorFlow 1.2.1, one K80, July 2017 (MIT licence)"
    ),
)
# fmt: on


def prepare(arrays: dict[str, np.ndarray]) -> Split:
    """Return images as (n, 28, 28, 1) float32 in [0, 1] and labels 0 to 9."""
    return Split(
        x_train=arrays["x_train"][..., None].astype(np.float32) / 255,
        y_train=arrays["y_train"],
        x_val=arrays["x_test"][..., None].astype(np.float32) / 255,
        y_val=arrays["y_test"],
    )


def build(split: Split):
    """Return the compiled model: convolutions of 32 and 64, one dense layer of 128, Adadelta."""
    import keras
    from keras import layers

    model = keras.Sequential(
        [
            keras.Input((28, 28, 1)),
            layers.Conv2D(32, 3, activation="relu"),
            layers.Conv2D(64, 3, activation="relu"),
            layers.MaxPooling2D(2),
            layers.Dropout(0.25),
            layers.Flatten(),
            layers.Dense(128, activation="relu"),
            layers.Dropout(0.5),
            layers.Dense(10, activation="softmax"),
        ]
    )
    model.compile(
        # The default rate of 2017; today's Keras would take 0.001, which learns almost nothing here.
        optimizer=keras.optimizers.Adadelta(learning_rate=1.0, rho=0.95),
        loss="sparse_categorical_crossentropy",
        metrics=["acc"],
    )
    return model
