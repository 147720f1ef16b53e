"""Nietzsche's writings in English, 600,893 characters in lower case: the text of Keras's LSTM example."""

from pathlib import Path

import numpy as np

from scripts.datasets import Arrays, Source

FILES = {
    "nietzsche.txt": Source(
        "sha256:23cf69874ab69d3d256099ab530ea4be24d47d9675b673bcc67cbcd6298ec647",
        "https://s3.amazonaws.com/text-datasets/nietzsche.txt",
    )
}
LOCAL: list[dict[str, Source]] = []
#: `text` holds one index into the sorted `characters` for each character.
PER_SAMPLE = ("text",)
TRAIN = "text"
COMPLETE = 600_893


def read(paths: dict[str, Path]) -> Arrays:
    """Return `text` (n,) uint8 and `characters` (57,) uint32 code points."""
    points = np.frombuffer(paths["nietzsche.txt"].read_text(encoding="utf-8").lower().encode("utf-32-le"), np.uint32)
    characters, text = np.unique(points, return_inverse=True)
    return {"text": text.astype(np.uint8), "characters": characters}


def synthesise(rng: np.random.Generator) -> Arrays:
    """A text of 2,000 made-up words of 57 letters, the first ones more often, parted by character 0."""
    words = [rng.integers(1, 57, rng.integers(2, 9)) for _ in range(2_000)]
    drawn = rng.integers(0, rng.integers(1, len(words), COMPLETE // 4))
    text = np.concatenate([np.append(words[i], 0) for i in drawn])[:COMPLETE]
    return {"text": text.astype(np.uint8), "characters": np.arange(57, dtype=np.uint32)}
