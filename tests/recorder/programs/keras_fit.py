"""`model.fit` with its own bar and a validation after each epoch."""

import os
import sys

os.environ.setdefault("KERAS_BACKEND", "torch")
import keras
import numpy as np

images, labels = np.random.rand(12_000, 784).astype("float32"), np.random.randint(0, 10, 12_000)
model = keras.Sequential([keras.layers.Dense(256, activation="relu"), keras.layers.Dense(10, activation="softmax")])
model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit(images, labels, batch_size=32, epochs=int(sys.argv[1]), validation_split=0.1)
