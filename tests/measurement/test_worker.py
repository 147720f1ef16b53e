"""What a training makes of its data before the clock starts."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np

from scripts import datasets
from scripts.measurement.worker import Job, prepared
from scripts.records.cell import Cell
from scripts.workloads import Split, imdb_fasttext
from tests.made import words


def test_scale_cuts_the_samples_and_not_what_the_model_is_made_from(tmp_path: Path) -> None:
    """As the rows of an embedding, one for each pair of words; the same for data that a workload brings along."""
    data = tmp_path / "imdb.npz"
    datasets._write(data, words(40, 8), {"dataset": "imdb"})
    whole = imdb_fasttext.prepare(datasets.load(data))
    cell = Cell("imdb_fasttext", "cpu1", "jax", 4, 1, 0.25, "real")
    split, counts = prepared(Job(cell, 1, 1, 0, data), imdb_fasttext)
    assert (split.train_samples, split.val_samples) == (10, 2)
    assert split.classes == whole.classes
    np.testing.assert_array_equal(split.x_train, whole.x_train[:10])
    assert counts == {"whole_train_samples": 40, "whole_validation_samples": 8}

    def brings(arrays: dict) -> Split:
        assert arrays == {}
        return Split(np.arange(8), np.arange(8), classes=8)

    job = Job(replace(cell, data="own", samples=0.5), 1, 1, 0, None)
    split, counts = prepared(job, SimpleNamespace(prepare=brings))
    assert (split.train_samples, split.classes) == (4, 8)
    assert counts == {"whole_train_samples": 8, "whole_validation_samples": 0}
