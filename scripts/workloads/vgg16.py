"""VGG-16 (Simonyan and Zisserman 2015) on noise of ImageNet's size, labels at random: throughput is the result.

The study "cloud or office" of 2018 ran it by tf_cnn_benchmarks on images as meaningless, with plain SGD and 16,
32 or 64 images per device. Network of keras.applications; no weight decay.
"""

import numpy as np

from scripts.datasets import imagenet_like
from scripts.workloads import Split

LABEL = "VGG16"
DATASET = "imagenet_like"
BATCH_SIZE = 32
EPOCHS = 1
REFERENCE = None
LEARNABLE = False

SIZE = 224


def prepare(arrays: dict[str, np.ndarray]) -> Split:
    """Return images as (n, 224, 224, 3) uint8 and labels 0 to 999."""
    return Split(x_train=imagenet_like.images(arrays, SIZE), y_train=arrays["labels"])


def build(split: Split):
    """Return the compiled model; bytes become numbers from -1 to 1 on the device."""
    import keras
    from keras import layers

    image = keras.Input((SIZE, SIZE, 3), dtype="uint8")
    network = keras.applications.VGG16(weights=None, classes=imagenet_like.CLASSES)
    model = keras.Model(image, network(layers.Rescaling(1 / 127.5, offset=-1)(image)))
    model.compile(
        optimizer=keras.optimizers.SGD(learning_rate=0.005),
        loss="sparse_categorical_crossentropy",
        metrics=["acc"],
    )
    return model
