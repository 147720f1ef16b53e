"""What guessing gets: counted where the labels are, as they are not in the run record."""

import numpy as np
from numpy.typing import ArrayLike


def chance(labels: ArrayLike, metric: str) -> float:
    """Return what guessing gets by `metric`, `acc` or `loss` (`val_` before it or not), without looking at the input.

    `labels` are those that the metric is taken of: whole numbers, one per sample or per token. Accuracy: the share
    of the most frequent label. Loss (cross-entropy, nats): the entropy of the labels' frequencies; 1/classes and
    ln(classes) where all are as frequent.
    """
    shares = np.unique(np.asarray(labels).ravel(), return_counts=True)[1] / np.size(labels)
    match metric.removeprefix("val_"):
        case "acc":
            return float(shares.max())
        case "loss":
            return float(-(shares * np.log(shares)).sum())
    raise ValueError(f"metric is {metric!r}; acc, loss, val_acc or val_loss is allowed")
