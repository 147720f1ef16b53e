"""What every timed training keeps to, whoever steps it: warm-up, the row of an epoch, when to end."""

from math import isfinite
from typing import Any

#: Steps before the throughput counts, and steps that must then follow: others take 10 (tf_cnn_benchmarks, milabench),
#: 16 + 128 (SuperBench) or 40 + 100 (optimum-benchmark).
WARMUP_STEPS = 20
TIMED_STEPS = 100


def warmup_steps(steps_per_epoch: int, epochs: int) -> int:
    """Return how many steps of the first epoch are warm-up, the first step among them.

    A training too short for warm-up and timed steps gives up its first step alone.
    """
    if steps_per_epoch * epochs < WARMUP_STEPS + TIMED_STEPS:
        return 1
    return min(WARMUP_STEPS, steps_per_epoch)


def epoch_row(
    epoch: int,
    elapsed: float,
    logs: dict[str, float],
    samples: int,
    validation_seconds: float = 0.0,
    first_step_seconds: float = 0.0,
    warmup_seconds: float = 0.0,
    warmup_samples: int = 0,
    cut: int = 0,
) -> dict[str, Any]:
    """Return one row of `epochs.csv`; times in seconds, `elapsed` of all of the epoch.

    `warmup_seconds` and `warmup_samples` are those of the warm-up after the first step; `cut` is 1 for an epoch that
    the end of an attempt interrupted.
    """
    return {
        "epoch": epoch,
        "elapsed": elapsed,
        **{name: logs.get(name) for name in ("loss", "acc", "val_loss", "val_acc")},
        "first_step_seconds": first_step_seconds,
        "warmup_seconds": warmup_seconds,
        "training_seconds": elapsed - first_step_seconds - validation_seconds,
        "validation_seconds": validation_seconds,
        "samples": samples,
        "warmup_samples": warmup_samples,
        "cut": cut,
    }


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
