"""Nietzsche, character by character, with a small GPT of 10.8 million parameters.

The shape is that of nanoGPT's character-level example (`config/train_shakespeare_char.py`): 6 pre-norm layers of
6 heads, 384 wide, 256 characters in view, dropout 0.2, no biases, batch 64, AdamW. Differences: input and output
embedding are not tied, the learning rate is constant, gradients are not clipped, and an epoch is all windows that
start 64 characters apart instead of a number of random ones. The last tenth of the text is held out.
"""

import numpy as np

from scripts.workloads import Split

LABEL = "Nietzsche · GPT"
DATASET = "nietzsche"
BATCH_SIZE = 64
EPOCHS = 10
REFERENCE = None

WINDOW = 256
STEP = 64
LAYERS, HEADS, WIDTH = 6, 6, 384
DROPOUT = 0.2


def _windows(text: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return windows of the text and the same windows one character later."""
    starts = np.arange(0, len(text) - WINDOW, STEP)
    windows = text[starts[:, None] + np.arange(WINDOW + 1)].astype(np.int32)
    return windows[:, :-1], windows[:, 1:]


def prepare(arrays: dict[str, np.ndarray]) -> Split:
    """Return windows of 256 characters, (n, 256) int32, and for each character the one that follows."""
    text = arrays["text"]
    held_out = max(len(text) // 10, WINDOW + 1)
    x_train, y_train = _windows(text[:-held_out])
    x_val, y_val = _windows(text[-held_out:])
    return Split(x_train, y_train, x_val, y_val, classes=len(arrays["characters"]))


def build(split: Split):
    """Return the compiled model; its accuracy is that of the next character, over all positions."""
    import keras
    from keras import layers, ops

    def embedded(characters):
        positions = ops.cumsum(ops.ones_like(characters), axis=1) - 1
        return layers.Embedding(split.classes, WIDTH)(characters) + layers.Embedding(WINDOW, WIDTH)(positions)

    def attended(x):
        attention = layers.MultiHeadAttention(HEADS, WIDTH // HEADS, dropout=DROPOUT, use_bias=False)
        return layers.Dropout(DROPOUT)(attention(x, x, use_causal_mask=True))

    def transformed(x):
        wide = layers.Dense(4 * WIDTH, activation="gelu", use_bias=False)(x)
        return layers.Dropout(DROPOUT)(layers.Dense(WIDTH, use_bias=False)(wide))

    def normalised(x):
        return layers.LayerNormalization(center=False, epsilon=1e-5)(x)

    text = keras.Input((WINDOW,), dtype="int32")
    x = layers.Dropout(DROPOUT)(embedded(text))
    for _ in range(LAYERS):
        x = x + attended(normalised(x))
        x = x + transformed(normalised(x))
    # float32 also where a cell computes in a shorter type: the loss needs the digits.
    following = layers.Dense(split.classes, activation="softmax", use_bias=False, dtype="float32")(normalised(x))
    model = keras.Model(text, following)
    model.compile(
        optimizer=keras.optimizers.AdamW(learning_rate=1e-3, weight_decay=0.1, beta_2=0.99),
        loss="sparse_categorical_crossentropy",
        metrics=["acc"],
    )
    return model
