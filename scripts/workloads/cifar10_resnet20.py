"""CIFAR-10 with ResNet-20, the smallest of the residual networks of He et al. 2016 (section 4.2).

0.27 million parameters, shortcuts without any; the images lose their mean and are flipped and shifted by up to
4 pixels. The published 64,000 steps of 128 images, with a tenth of the learning rate after 32,000 and again after
48,000, are 164 epochs of all images; with other batches and fewer images the rate drops after as many epochs.
"""

from math import ceil

import numpy as np

from scripts.records.reference import Reference
from scripts.workloads import Split

LABEL = "CIFAR-10 · ResNet-20"
DATASET = "cifar10"
BATCH_SIZE = 128
EPOCHS = 164
REFERENCE = Reference(
    metric="val_acc",
    values=(0.9125,),
    first_epoch=164,
    source="K. He et al., Deep Residual Learning for Image Recognition, CVPR 2016, table 6: test error 8.75 %",
)

#: Of a published epoch: 50,000 images in batches of 128.
STEPS = 391


def prepare(arrays: dict[str, np.ndarray]) -> Split:
    """Return images as (n, 32, 32, 3) float32 about zero and labels 0 to 9."""
    x_train = arrays["x_train"].astype(np.float32) / 255
    mean = x_train.mean(axis=0)
    x_train -= mean
    return Split(
        x_train=x_train,
        y_train=arrays["y_train"],
        x_val=arrays["x_test"].astype(np.float32) / 255 - mean,
        y_val=arrays["y_test"],
    )


def build(split: Split):
    """Return the compiled model; the weight decay is a penalty in the loss, as published."""
    import keras
    from keras import layers, ops

    # Half of it: the penalty is l2 times the square, the published gradient 1e-4 times the weight.
    decay = keras.regularizers.L2(0.5e-4)

    def convolved(x, filters, stride=1):
        x = layers.Conv2D(
            filters,
            3,
            stride,
            padding="same",
            use_bias=False,
            kernel_initializer="he_normal",
            kernel_regularizer=decay,
        )(x)
        return layers.BatchNormalization(momentum=0.9, epsilon=1e-5)(x)

    def residual(x, filters, stride):
        inner = layers.Activation("relu")(convolved(x, filters, stride))
        inner = convolved(inner, filters)
        if stride > 1:
            added = filters - x.shape[-1]
            x = ops.pad(layers.MaxPooling2D(1, stride)(x), ((0, 0), (0, 0), (0, 0), (added // 2, added // 2)))
        return layers.Activation("relu")(x + inner)

    image = keras.Input((32, 32, 3))
    x = layers.RandomTranslation(4 / 32, 4 / 32, fill_mode="constant", interpolation="nearest")(image)
    x = layers.RandomFlip("horizontal")(x)
    x = layers.Activation("relu")(convolved(x, 16))
    for filters, strides in ((16, (1, 1, 1)), (32, (2, 1, 1)), (64, (2, 1, 1))):
        for stride in strides:
            x = residual(x, filters, stride)
    x = layers.GlobalAveragePooling2D()(x)
    label = layers.Dense(10, activation="softmax", kernel_initializer="he_normal", kernel_regularizer=decay)(x)
    model = keras.Model(image, label)
    steps = ceil(split.train_samples / (split.batch_size or BATCH_SIZE))
    drops = [round(published * steps / STEPS) for published in (32_000, 48_000)]
    rate = keras.optimizers.schedules.PiecewiseConstantDecay(drops, [0.1, 0.01, 0.001])
    model.compile(
        optimizer=keras.optimizers.SGD(rate, momentum=0.9),
        loss="sparse_categorical_crossentropy",
        metrics=["acc"],
    )
    return model
