"""Small models as others write them, each with samples: what `tuned` must train as `model.fit` does.

A model is a function that returns the compiled Keras model, x and y. Keras is imported inside, and the samples are
the same on every framework.
"""

from typing import Any

import numpy as np

#: The last batch of eight is odd.
SAMPLES, VALIDATION, BATCH_SIZE = 44, 22, 8

#: Training and validation samples.
_SIZE = SAMPLES + VALIDATION


def _rng() -> np.random.Generator:
    return np.random.default_rng(3)


def _rows(width: int = 6, classes: int = 5) -> tuple[np.ndarray, np.ndarray]:
    """Return rows of fractions, and classes that can be learned of them."""
    x = _rng().normal(size=(_SIZE, width)).astype(np.float32)
    return x, (np.abs(x[:, 0]) * 3).astype(np.int32) % classes


def _words(length: int = 4, words: int = 9) -> np.ndarray:
    """Return sentences of different lengths that repeat words; 0 pads them."""
    rng = _rng()
    x = rng.integers(1, words, (_SIZE, length), np.int32)
    x[np.arange(length) >= rng.integers(2, length + 1, (_SIZE, 1))] = 0
    return x


def _images() -> tuple[np.ndarray, np.ndarray]:
    x = _rng().normal(size=(_SIZE, 8, 8, 3)).astype(np.float32)
    return x, (x[:, 0, 0, 0] > 0).astype(np.int32) + (x[:, 1, 1, 1] > 0)


def _dense(optimizer: Any = "sgd", **options: Any) -> Any:
    """Return a compiled network of two layers for `_rows`."""
    import keras

    layers = [keras.Input((6,)), keras.layers.Dense(16, activation="relu"), keras.layers.Dense(5, activation="softmax")]
    model = keras.Sequential(layers)
    model.compile(optimizer, **{"loss": "sparse_categorical_crossentropy", "metrics": ["accuracy"]} | options)
    return model


def convolution():
    """Batch normalisation after a bias, separable convolution, pooling, L2 and activity regularisers, momentum."""
    import keras
    from keras import layers

    model = keras.Sequential(
        [
            keras.Input((8, 8, 3)),
            layers.Conv2D(4, 3, padding="same", kernel_regularizer=keras.regularizers.L2(0.01)),
            layers.BatchNormalization(momentum=0.8),
            layers.Activation("relu", activity_regularizer=keras.regularizers.L1(0.001)),
            layers.MaxPooling2D(),
            layers.SeparableConv2D(6, 3, activation="relu"),
            layers.GlobalAveragePooling2D(),
            layers.Dense(3, activation="softmax"),
        ]
    )
    sgd = keras.optimizers.SGD(0.05, momentum=0.9, nesterov=True)
    model.compile(sgd, "sparse_categorical_crossentropy", metrics=["acc"])
    return model, *_images()


def fixed_batch():
    """A batch of fixed size, which is built into the layers."""
    import keras
    from keras import layers, ops

    text = keras.Input(batch_shape=(BATCH_SIZE, 6))
    x = layers.Dense(16, activation="relu")(text)
    x = layers.Dense(5, activation="softmax")(x + ops.zeros((BATCH_SIZE, 1)))
    model = keras.Model(text, x)
    model.compile("sgd", "sparse_categorical_crossentropy", metrics=["acc"])
    return model, *_rows()


def stateful():
    """Recurrences that go on where the batch before ended, in a batch of fixed size."""
    import keras
    from keras import layers

    x = _rng().normal(size=(_SIZE, 4, 3)).astype(np.float32)
    model = keras.Sequential(
        [
            keras.Input(batch_shape=(BATCH_SIZE, 4, 3)),
            layers.LSTM(6, stateful=True, return_sequences=True),
            layers.GRU(4, stateful=True),
            layers.Dense(3, activation="softmax"),
        ]
    )
    model.compile(keras.optimizers.Adam(0.02), "sparse_categorical_crossentropy", metrics=["acc"])
    return model, x, (x[:, 0, 0] > 0).astype(np.int32)


def normalised():
    """Adam on a bias before batch normalisation: it has no gradient but rounding errors, which Adam scales up."""
    import keras
    from keras import layers

    x, y = _rows()
    parts = [keras.Input((6,)), layers.Dense(16, name="before"), layers.BatchNormalization(name="norm")]
    model = keras.Sequential([*parts, layers.Activation("relu"), layers.Dense(5, activation="softmax")])
    model.compile(keras.optimizers.Adam(0.01), "sparse_categorical_crossentropy", metrics=["acc"])
    return model, x, y


def frozen():
    """A layer that is not trained, its batch normalisation at rest, and a constraint."""
    import keras
    from keras import layers

    x, y = _rows()
    model = keras.Sequential(
        [
            keras.Input((6,)),
            layers.Dense(8, trainable=False),
            layers.BatchNormalization(trainable=False),
            layers.Dense(8, activation="tanh", kernel_constraint=keras.constraints.MaxNorm(0.5)),
            layers.Dense(5, activation="softmax"),
        ]
    )
    model.compile(keras.optimizers.RMSprop(0.01, momentum=0.5), "sparse_categorical_crossentropy", metrics=["acc"])
    return model, x, y


def adamw():
    """AdamW with warm-up, cosine schedule and clipping, as transformers are trained."""
    import keras

    rate = keras.optimizers.schedules.CosineDecay(0.0, 12, warmup_target=0.02, warmup_steps=5)
    return _dense(keras.optimizers.AdamW(rate, weight_decay=0.1, global_clipnorm=0.5)), *_rows()


def accumulation():
    """Gradients of three batches for an update."""
    import keras

    return _dense(keras.optimizers.Adam(0.01, gradient_accumulation_steps=3)), *_rows()


def moving_weights():
    """Moving means of the weights, which take their place every fourth step."""
    import keras

    return _dense(keras.optimizers.Adam(0.01, use_ema=True, ema_momentum=0.8, ema_overwrite_frequency=4)), *_rows()


def summed_loss():
    """A loss that is the sum over the batch, not its mean."""
    import keras

    loss = keras.losses.SparseCategoricalCrossentropy(reduction="sum")
    return _dense(keras.optimizers.SGD(0.005, clipnorm=1.0), loss=loss), *_rows()


def half_precision():
    """Mixed float16, its loss scaled."""
    import keras

    keras.config.set_dtype_policy("mixed_float16")
    try:
        return _dense(keras.optimizers.Adam(0.01)), *_rows()
    finally:
        keras.config.set_dtype_policy("float32")


def attention():
    """A block of a transformer."""
    import keras
    from keras import layers

    x, y = _words(), _rows()[1]
    words = keras.Input((4,), dtype="int32")
    state = layers.Embedding(9, 8)(words)
    state = layers.LayerNormalization()(state + layers.MultiHeadAttention(2, 4)(state, state, use_causal_mask=True))
    model = keras.Model(words, layers.Dense(5, activation="softmax")(layers.Flatten()(state)))
    model.compile(keras.optimizers.SGD(0.1), "sparse_categorical_crossentropy", metrics=["acc"])
    return model, x, y


def masked_sentences():
    """Masked LSTM and GRU over words that repeat."""
    import keras
    from keras import layers

    x = _words()
    model = keras.Sequential(
        [
            keras.Input((4,), dtype="int32"),
            layers.Embedding(9, 4, mask_zero=True),
            layers.LSTM(5, return_sequences=True),
            layers.GRU(4),
            layers.Dense(1, activation="sigmoid"),
        ]
    )
    model.compile(keras.optimizers.SGD(0.1, momentum=0.9), "binary_crossentropy", metrics=["accuracy"])
    return model, x, (x[:, 0] > 4).astype(np.float32)


def masked_tokens():
    """A label for each word: loss and accuracy without the padding."""
    import keras
    from keras import layers

    x = _words()
    model = keras.Sequential(
        [
            keras.Input((4,), dtype="int32"),
            layers.Embedding(9, 4, mask_zero=True),
            layers.Bidirectional(layers.LSTM(4, return_sequences=True)),
            layers.Dense(3, activation="softmax"),
        ]
    )
    model.compile(keras.optimizers.SGD(0.2), "sparse_categorical_crossentropy", weighted_metrics=["acc"])
    return model, x, (x % 3).astype(np.int32)


def repeated_words():
    """An embedding by Adam, of padded sentences that repeat words."""
    import keras
    from keras import layers

    x = _words()
    parts = [keras.Input((4,), dtype="int32"), layers.Embedding(9, 4), layers.GlobalAveragePooling1D()]
    model = keras.Sequential([*parts, layers.Dense(1, activation="sigmoid")])
    model.compile(keras.optimizers.Adam(0.02), "binary_crossentropy", metrics=["acc"])
    return model, x, (x[:, 0] > 4).astype(np.float32)


def two_ends():
    """Two inputs and two outputs by name, a loss, weight and metrics for each."""
    import keras
    from keras import layers

    x, y = _rows()
    rows, words = keras.Input((6,), name="rows"), keras.Input((4,), dtype="int32", name="words")
    both = layers.concatenate([rows, layers.Flatten()(layers.Embedding(9, 3)(words))])
    both = layers.Dense(8, activation="relu")(both)
    ends = {
        "kind": layers.Dense(5, activation="softmax", name="kind")(both),
        "size": layers.Dense(1, name="size")(both),
    }
    model = keras.Model({"rows": rows, "words": words}, ends)
    model.compile(
        keras.optimizers.SGD(0.05),
        loss={"kind": "sparse_categorical_crossentropy", "size": "mse"},
        loss_weights={"kind": 1.0, "size": 0.3},
        metrics={"kind": ["acc"], "size": ["mae"]},
    )
    return model, {"rows": x, "words": _words()}, {"kind": y, "size": x.sum(1, dtype=np.float64)}


def lists():
    """Two inputs and outputs without names."""
    import keras
    from keras import layers

    x, y = _rows()
    one, other = keras.Input((6,)), keras.Input((6,))
    both = layers.Dense(8, activation="relu")(one - other)
    ends = [layers.Dense(5, activation="softmax", name="kind")(both), layers.Dense(1, name="size")(both)]
    model = keras.Model([one, other], ends)
    model.compile(keras.optimizers.SGD(0.05), ["sparse_categorical_crossentropy", "mse"], metrics=[["acc"], ["mae"]])
    return model, [x, x[:, ::-1].copy()], (y, x[:, 1])


def class_weights():
    """Classes that weigh differently, within the loss: a workload has no `class_weight` beside it."""
    import keras
    from keras import ops

    def weighted(y, predicted):
        of_class = ops.take(ops.array([1.0, 2.0, 0.5, 4.0, 1.5]), ops.cast(ops.reshape(y, (-1,)), "int32"))
        return of_class * keras.losses.sparse_categorical_crossentropy(y, predicted)

    return _dense(loss=weighted), *_rows()


def sample_weights():
    """Samples that weigh differently, as a further column of y."""
    import keras

    def weighted(y, predicted):
        return y[:, 1] * keras.losses.mean_squared_error(y[:, :1], predicted[:, :1])

    x, _ = _rows()
    return _dense(loss=weighted, metrics=[]), x, np.stack([x.sum(1), np.abs(x[:, 1])], 1)


def dropout():
    """Random numbers in training."""
    import keras

    layers = [keras.Input((6,)), keras.layers.Dense(16, activation="relu"), keras.layers.Dropout(0.4)]
    model = keras.Sequential([*layers, keras.layers.Dense(5, activation="softmax")])
    model.compile(keras.optimizers.SGD(0.1), "sparse_categorical_crossentropy", metrics=["acc"])
    return model, *_rows()
