"""Tweets with a bidirectional LSTM, positive or negative: the study of GPU providers of 2018.

As in its `benchmark.py` (RaRe-Technologies/benchmark_GPU_platforms): every word of the set has a row in the
embedding, tweets are padded at their end to the longest one, and 10 % of the shuffled tweets are held out.
It trained on 1,578,627 tweets of Thinknook's set; Sentiment140, which is most of that set, stands in for it.
"""

import numpy as np

from scripts.datasets import twitter_sentiment
from scripts.records.reference import Reference
from scripts.workloads import Split

LABEL = "Twitter · Bi-LSTM"
DATASET = "twitter_sentiment"
BATCH_SIZE = 32
EPOCHS = 4
REFERENCE = Reference(
    metric="val_acc",
    values=(0.8232,),
    first_epoch=4,
    source=(
        "S. Manne, Machine learning mega-benchmark: GPU providers (part 2), RARE Technologies, February 2018, "
        "table 1: median of 13 trainings, 0.8222 to 0.8259; Keras 2.1.3 on TensorFlow, 1.4 million tweets"
    ),
)

#: A row of the embedding for each word of the tweets at hand.
GROWS = True


def prepare(arrays: dict[str, np.ndarray]) -> Split:
    """Return the words of each tweet, (n, words of the longest) int32, and labels 0 or 1.

    `classes` is the number of rows that the embedding needs.
    """
    return Split(
        x_train=twitter_sentiment.padded(arrays, "train"),
        y_train=arrays["train_labels"].astype(np.float32),
        x_val=twitter_sentiment.padded(arrays, "test"),
        y_val=arrays["test_labels"].astype(np.float32),
        classes=twitter_sentiment.indices(arrays),
    )


def build(split: Split):
    """Return the compiled model: embedding of 128, 64 cells in each direction, Adam."""
    import keras
    from keras import layers

    model = keras.Sequential(
        [
            keras.Input(split.x_train.shape[1:], dtype="int32"),
            layers.Embedding(split.classes, 128),
            layers.Bidirectional(layers.LSTM(64)),
            layers.Dropout(0.5),
            layers.Dense(1, activation="sigmoid"),
        ]
    )
    model.compile(optimizer="adam", loss="binary_crossentropy", metrics=["acc"])
    return model
