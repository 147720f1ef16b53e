"""What a published training reached, with which a run of the same size is compared."""

from dataclasses import dataclass
from math import floor


@dataclass(frozen=True)
class Reference:
    """What a published training reached after each epoch: `metric` is `val_acc`, or `loss` without validation.

    `first_epoch` is the epoch (from 1) of the first value: an article may print the end of a training only.
    `training` is the accuracy on the training samples, where it is needed: with part of the images the
    same number of steps learns as much of them, and less about others.
    """

    metric: str
    values: tuple[float, ...]
    source: str
    training: tuple[float, ...] = ()
    first_epoch: int = 1

    def after(self, epochs: float) -> tuple[int, float] | None:
        """Return the last published epoch within `epochs` (of all samples) and its value, None before the first."""
        published = min(floor(epochs + 1e-9) - self.first_epoch + 1, len(self.values))
        return (self.first_epoch + published - 1, self.values[published - 1]) if published > 0 else None
