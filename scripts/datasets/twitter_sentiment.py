"""Sentiment140: 1,600,000 tweets, positive or negative (Go, Bhayani and Huang 2009), a tenth of them held out.

Words are as those of the study of 2018 (RaRe-Technologies/benchmark_GPU_platforms, its `data_helpers.py` and
vocabulary): lower case; each @name, link and #hashtag is one and the same word; letters, digits, commas,
exclamation and question marks, brackets and apostrophes are kept; a character stands at most twice in a row;
endings as in `it's` and `don't` are words of their own. Every word has an index, the most frequent 1.
"""

import csv
import html
import io
import lzma
import re
import zipfile
from collections import Counter
from pathlib import Path

import numpy as np

from scripts.datasets import Arrays, Source
from scripts.storage.errors import InputError

_ARCHIVE = "trainingandtestdata.zip"
_MEMBER = "training.1600000.processed.noemoticon.csv"

FILES = {
    # The checksum that TensorFlow Datasets has for it.
    _ARCHIVE: Source(
        "sha256:004a3772c8a7ff9bbfeb875880f47f0679d93fc63e5cf9cff72d54a8a6162e57",
        f"http://cs.stanford.edu/people/alecmgo/{_ARCHIVE}",
    )
}
#: 50,000 tweets of each kind, one per line, packed with xz.
LOCAL = [
    {
        "positive.txt.xz": Source("sha256:7a684468b56be9d9e192a7234549c3e852e67b9b0c5f91a47e5569b1c779b4b9"),
        "negative.txt.xz": Source("sha256:cbe8667490139efec0afa7cf03434895256bf1546d0ec4b31fdf6f8815adc1a3"),
    }
]
#: `*_tokens` hold all tweets one after the other, `*_lengths` their lengths; a part of the samples keeps both
#: whole, so that its words and its longest tweet are those of the whole set.
PER_SAMPLE = ("train_labels", "test_labels")
TRAIN = "train_labels"
COMPLETE = 1_440_000
COMPLETE_HELD_OUT = 160_000

_SHUFFLE_SEED = 2018
#: About as many words as the study's vocabulary has.
_SYNTHETIC_WORDS, _SYNTHETIC_LONGEST = 280_000, 120

_REPLACEMENTS = [
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        (r"(?:https?://|www\.)\S+", " link "),
        (r"@\w+", " name "),
        (r"#\w+", " hashtag "),
        (r"[^a-z0-9(),!?'`\n]", " "),
        (r"(.)\1+", r"\1\1"),
        (r"(n't|'(?:s|ve|re|d|ll))", r" \1"),
        (r"([(),!?])", r" \1 "),
    )
]


def _cleaned(tweets: list[str]) -> list[str]:
    """Return the tweets as words with blanks between them."""
    text = html.unescape("\n".join(" ".join(tweet.split()) for tweet in tweets)).lower()
    for pattern, replacement in _REPLACEMENTS:
        text = pattern.sub(replacement, text)
    return text.split("\n")


def _official(path: Path) -> tuple[list[str], list[int]]:
    with zipfile.ZipFile(path) as archive, archive.open(_MEMBER) as content:
        rows = list(csv.reader(io.TextIOWrapper(content, encoding="latin-1", newline="")))
    return [row[5] for row in rows], [int(row[0] == "4") for row in rows]


def _lines(path: Path) -> list[str]:
    with lzma.open(path, "rt", encoding="utf-8", newline="\n") as content:
        return [line.rstrip("\n") for line in content]


def read(paths: dict[str, Path]) -> Arrays:
    """Return for both splits the flat tokens (uint32), lengths (int32) and labels (uint8), 1 for positive."""
    if _ARCHIVE in paths:
        tweets, labels = _official(paths[_ARCHIVE])
    else:
        positive, negative = _lines(paths["positive.txt.xz"]), _lines(paths["negative.txt.xz"])
        tweets, labels = positive + negative, [1] * len(positive) + [0] * len(negative)
    tweets = _cleaned(tweets)
    if len(tweets) != len(labels):
        raise InputError(f"{next(iter(paths.values()))}: not the official tweets")
    counts = Counter(word for tweet in tweets for word in tweet.split())
    ranks = {word: rank for rank, word in enumerate(sorted(counts, key=lambda word: (-counts[word], word)), start=1)}
    order = np.random.default_rng(_SHUFFLE_SEED).permutation(len(tweets))
    held_out = len(tweets) // 10
    arrays: Arrays = {}
    for split, chosen in (("train", order[held_out:]), ("test", order[:held_out])):
        arrays[f"{split}_tokens"] = np.fromiter((ranks[word] for i in chosen for word in tweets[i].split()), np.uint32)
        arrays[f"{split}_lengths"] = np.fromiter((len(tweets[i].split()) for i in chosen), np.int32)
        arrays[f"{split}_labels"] = np.fromiter((labels[i] for i in chosen), np.uint8)
    return arrays


def synthesise(rng: np.random.Generator) -> Arrays:
    """Tweets of words, low ranks more often; a tenth of the words come from the class's own hundred."""
    arrays: Arrays = {}
    for split, samples in (("train", COMPLETE), ("test", COMPLETE_HELD_OUT)):
        labels = rng.integers(0, 2, samples, dtype=np.uint8)
        lengths = np.minimum(1 + rng.geometric(1 / 13, samples), _SYNTHETIC_LONGEST).astype(np.int32)
        bounds = rng.integers(2, _SYNTHETIC_WORDS, lengths.sum(), dtype=np.uint32)
        words = rng.integers(1, bounds, dtype=np.uint32)
        own = 200 + 100 * labels.repeat(lengths) + rng.integers(0, 100, len(words), dtype=np.uint32)
        tokens = np.where(rng.random(len(words), np.float32) < 0.1, own, words)
        arrays |= {f"{split}_tokens": tokens, f"{split}_lengths": lengths, f"{split}_labels": labels}
    return arrays


def padded(arrays: Arrays, split: str) -> np.ndarray:
    """Return (n, words of the longest tweet of both splits) int32, zeros after shorter ones."""
    longest = max(arrays["train_lengths"].max(), arrays["test_lengths"].max())
    lengths = arrays[f"{split}_lengths"][: len(arrays[f"{split}_labels"])]
    table = np.zeros((len(lengths), longest), np.int32)
    table[np.arange(longest) < lengths[:, None]] = arrays[f"{split}_tokens"][: lengths.sum()]
    return table


def indices(arrays: Arrays) -> int:
    """Return the number of word indices, that of the padding included."""
    return 1 + int(max(arrays["train_tokens"].max(), arrays["test_tokens"].max()))
