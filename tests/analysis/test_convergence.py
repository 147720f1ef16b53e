from math import nan

import numpy as np
import pytest

from scripts.analysis import convergence
from scripts.records.reference import Reference

ACCURACY = Reference("val_acc", (0.8, 0.9), "made up")
LOSS = Reference("loss", (2.0, 1.0), "made up")


@pytest.mark.parametrize(
    ("value", "epochs", "expected"),
    [
        (0.9, 2, "ok"),
        (0.97, 2, "ok"),
        (0.83, 2, "ok"),
        (0.81, 2, "below the reference"),
        (0.51, 2, "below the reference"),
        (0.49, 2, "learned nothing"),
        (0.1, 2, "learned nothing"),
        (0.05, 2, "learned nothing"),
        (nan, 2, "learned nothing"),
        (0.74, 1.9, "ok"),  # against the first epoch
        (0.74, 3, "below the reference"),  # against the last published one
        (0.1, 0.99, "too short to tell"),
        (0.1, 3 * (1 / 3), "learned nothing"),
        (None, 2, "nothing to compare with"),
    ],
)
def test_accuracy_is_judged_by_its_way_from_chance(value: float | None, epochs: float, expected: str) -> None:
    assert convergence.verdict(ACCURACY, value, 0.1, epochs, "real") == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (0.9, "ok"),
        (1.19, "ok"),
        (1.21, "below the reference"),
        (1.99, "below the reference"),
        (2.01, "learned nothing"),
        (3.5, "learned nothing"),
    ],
)
def test_loss_is_judged_downwards(value: float, expected: str) -> None:
    assert convergence.verdict(LOSS, value, 3.0, 2, "real") == expected


@pytest.mark.parametrize(
    ("reference", "chance", "data"),
    [
        (None, 0.09, "real"),
        (ACCURACY, None, "real"),
        (ACCURACY, 0.95, "real"),
        (LOSS, 0.9, "real"),
        (ACCURACY, 0.1, "synthetic"),
    ],
)
def test_without_a_reference_there_is_no_verdict(reference: Reference, chance: float | None, data: str) -> None:
    assert convergence.verdict(reference, 0.1, chance, 2, data) == "nothing to compare with"


def test_without_a_reference_guessing_is_what_is_left_to_compare_with() -> None:
    for share in (0.1, 0.8, 0.9):
        as_keras_has_it = float(np.float32(share))
        assert convergence.verdict(None, as_keras_has_it, share, 1, "real") == "learned nothing"
    assert convergence.verdict(None, 0.1, 0.1, 0.9, "real") == "nothing to compare with"


@pytest.mark.parametrize(
    ("metric", "value", "published", "chance"),
    [
        ("val_acc", 0.8100, 0.8335, 0.5),  # imdb_bidirectional_lstm, jax
        ("val_acc", 0.8409, 0.8602, 0.5),  # imdb_fasttext, tensorflow
        ("loss", 2.0356, 1.9910, 2.97),  # lstm_text_generation, torch
        ("val_acc", 0.5354, 0.5767, 0.1),  # cifar10_cnn, torch, with a fifth of the images
    ],
)
def test_trainings_of_the_accuracy_page_that_are_furthest_behind_are_ok(
    metric: str, value: float, published: float, chance: float
) -> None:
    assert convergence.verdict(Reference(metric, (published,), ""), value, chance, 1, "real") == "ok"
