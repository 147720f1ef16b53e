"""MNIST digits with a multilayer perceptron: 784-512-512-10, Keras's `mnist_mlp.py` of 2017."""

import numpy as np

from scripts.records.reference import Reference
from scripts.workloads import Split

LABEL = "MNIST · MLP"
DATASET = "mnist"
BATCH_SIZE = 128
EPOCHS = 20
# fmt: off
REFERENCE = Reference(
    metric="val_acc",
    values=(
        0.9638, 0.9672, 0.9789, 0.9806, 0.9814, 0.9824, 0.9823, 0.9803, 0.9830, 0.9830, 0.9826,
        0.9808, 0.9847, 0.9829, 0.9839, 0.9845, 0.9828, 0.9828, 0.9838, 0.9820,
    ),
    source=(
        "minimaxir/deep-learning-cpu-gpu-benchmark @ 08adcf4, logs/gpu/mnist_mlp_tensorflow.csv: "
        "Keras 2 on TensorFlow 1.2.1, one K80, July 2017 (MIT licence)"
    ),
)
# fmt: on


def prepare(arrays: dict[str, np.ndarray]) -> Split:
    """Return images as (n, 784) float32 in [0, 1] and labels 0 to 9."""
    return Split(
        x_train=arrays["x_train"].reshape(-1, 784).astype(np.float32) / 255,
        y_train=arrays["y_train"],
        x_val=arrays["x_test"].reshape(-1, 784).astype(np.float32) / 255,
        y_val=arrays["y_test"],
    )


def build(split: Split):
    """Return the compiled model: two dropped-out hidden layers of 512, RMSprop."""
    import keras
    from keras import layers

    model = keras.Sequential(
        [
            keras.Input((784,)),
            layers.Dense(512, activation="relu"),
            layers.Dropout(0.2),
            layers.Dense(512, activation="relu"),
            layers.Dropout(0.2),
            layers.Dense(10, activation="softmax"),
        ]
    )
    model.compile(
        optimizer=keras.optimizers.RMSprop(learning_rate=0.001),
        loss="sparse_categorical_crossentropy",
        metrics=["acc"],
    )
    return model
