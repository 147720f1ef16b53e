from math import log

import numpy as np
import pytest

from scripts.measurement.chance import chance


@pytest.mark.parametrize(
    ("labels", "metric", "expected"),
    [
        (np.arange(1000) % 10, "val_acc", 0.1),
        (np.arange(1000) % 10, "loss", log(10)),
        (np.array([[0.0], [1.0]] * 50, dtype=np.float32), "acc", 0.5),
        (np.array([0, 0, 0, 1]), "val_acc", 0.75),
        (np.array([0, 0, 0, 1]), "val_loss", -0.75 * log(0.75) - 0.25 * log(0.25)),
        (np.array([[1, 2, 3], [1, 2, 3]]), "loss", log(3)),  # tokens: one label each
        (np.zeros(7), "loss", 0),
    ],
)
def test_chance_is_what_guessing_gets(labels: np.ndarray, metric: str, expected: float) -> None:
    assert chance(labels, metric) == pytest.approx(expected)


def test_unknown_metric_is_named() -> None:
    with pytest.raises(ValueError, match=r"metric is 'bleu'; acc, loss, val_acc or val_loss is allowed"):
        chance([1, 2], "bleu")
