"""Machine time of a training on a machine that may be preempted at any moment.

The model: preemptions come at random while the machine runs (Poisson). After every `checkpoint_seconds` of
useful work the state is saved, which takes `save_seconds`. A preemption loses what came after the last
checkpoint; on the next machine `restart_seconds` pass before the work goes on from there. Saving and
restarting may be preempted like working. The first start is no restart, and the work that is left after
the last full interval ends without a save: nothing starts from it again. Waiting for a machine is not
billed and not counted.
"""

import numpy as np
from numpy.typing import ArrayLike

from scripts.costs.billing import SECONDS_PER_HOUR

#: Until Spot VMs came (8 October 2021) Google's machines of that kind, then preemptible ones, lived for a day at most:
#: https://cloud.google.com/compute/docs/instances/preemptible.
_PREEMPTIBLE, _SPOT_VMS, _DAY_SECONDS = "gce", "2021-10-08", 24 * SECONDS_PER_HOUR


def lives_seconds(provider: str, as_of: str) -> float | None:
    """Return how long a spot machine lives at most that was rented at a price of that day; None where nothing says."""
    return _DAY_SECONDS if provider == _PREEMPTIBLE and as_of < _SPOT_VMS else None


def _arrays(
    useful: ArrayLike, rate: ArrayLike, checkpoint: ArrayLike, restart: ArrayLike, save: ArrayLike
) -> list[np.ndarray]:
    names = ("useful_seconds", "preemptions_per_hour", "checkpoint_seconds", "restart_seconds", "save_seconds")
    arrays = [np.asarray(values, dtype=float) for values in (useful, rate, checkpoint, restart, save)]
    for name, values in zip(names, arrays, strict=True):
        if np.any(values < 0):
            raise ValueError(f"{name} is {np.nanmin(values)}; 0 or more is allowed")
    if np.any(arrays[2] == 0):
        raise ValueError("checkpoint_seconds is 0; more than 0 is allowed")
    return arrays


def _intervals(useful: np.ndarray, checkpoint: np.ndarray) -> np.ndarray:
    """Return into how many intervals checkpoints part the work; rounded, as 2.1 / 0.3 is more than 7."""
    intervals: np.ndarray = np.maximum(np.ceil(np.round(useful / checkpoint, 9)), 1)
    return intervals


def expected_seconds(
    useful_seconds: ArrayLike,
    preemptions_per_hour: ArrayLike,
    checkpoint_seconds: ArrayLike,
    restart_seconds: ArrayLike,
    save_seconds: ArrayLike = 0.0,
) -> np.ndarray:
    """Return the expected machine time (s) of `useful_seconds` of training; see the module for the model.

    Work of w seconds without a checkpoint takes M e^(R/M) (e^(w/M) - 1) seconds, M the mean time between
    preemptions and R the restart; w is an interval and its save, for the last one what is left to do. This
    is the complete model of J. T. Daly, "A higher order estimate of the optimum checkpoint interval for
    restart dumps", Future Generation Computer Systems 22 (2006) 303-312, there with a save after the last
    interval too.

    Numbers or arrays whose shapes go together. A checkpoint interval of infinity means none. What will
    not end in the range of a float takes infinitely long. Raises ValueError for negative figures and for
    an interval of 0.
    """
    useful, rate, checkpoint, restart, save = _arrays(
        useful_seconds, preemptions_per_hour, checkpoint_seconds, restart_seconds, save_seconds
    )
    per_second = rate / SECONDS_PER_HOUR
    intervals = _intervals(useful, checkpoint)
    interval = np.minimum(checkpoint, useful)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):

        def work(seconds: np.ndarray) -> np.ndarray:
            tried = np.exp(per_second * restart) * np.expm1(per_second * seconds) / per_second
            return np.where(seconds == 0, 0, np.where(per_second == 0, seconds, tried))

        saved = np.where(intervals == 1, 0, (intervals - 1) * work(interval + save))
        whole: np.ndarray = (saved + work(useful - (intervals - 1) * interval))[()]
    return whole


def optimum_checkpoint_seconds(save_seconds: ArrayLike, preemptions_per_hour: ArrayLike) -> np.ndarray:
    """Return the useful work (s) between checkpoints that costs the least time: sqrt(2 x save x mean time).

    J. W. Young, "A first order approximation to the optimum checkpoint interval", Communications of the
    ACM 17 (1974) 530-531; good while saving and restarting are short against the mean time between
    preemptions. Infinite, no checkpoints, without preemptions. Raises ValueError for negative figures.
    """
    save, rate = np.asarray(save_seconds, dtype=float), np.asarray(preemptions_per_hour, dtype=float)
    for name, values in (("save_seconds", save), ("preemptions_per_hour", rate)):
        if np.any(values < 0):
            raise ValueError(f"{name} is {np.nanmin(values)}; 0 or more is allowed")
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(rate == 0, np.inf, np.sqrt(2 * save * SECONDS_PER_HOUR / rate))[()]
