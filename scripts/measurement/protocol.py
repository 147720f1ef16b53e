"""What every timed training keeps to, whoever steps it: warm-up, when to end."""

from math import isfinite
from typing import Any

from scripts.records.record import TIMED_STEPS, WARMUP_STEPS


def warmup_steps(steps_per_epoch: int, epochs: int) -> int:
    """Return how many steps of the first epoch are warm-up, the first step among them.

    A training too short for warm-up and timed steps gives up its first step alone.
    """
    if steps_per_epoch * epochs < WARMUP_STEPS + TIMED_STEPS:
        return 1
    return min(WARMUP_STEPS, steps_per_epoch)


def ending(row: dict[str, Any], target: float | None) -> str | None:
    """Return why a training ends after this epoch: `diverged`, `target`, or None if it goes on.

    The target is a validation accuracy, or the training loss where there is no validation.
    """
    if row["loss"] is not None and not isfinite(row["loss"]):
        return "diverged"
    if target is None:
        return None
    if row["val_acc"] is not None:
        return "target" if row["val_acc"] >= target else None
    return "target" if row["loss"] is not None and row["loss"] <= target else None
