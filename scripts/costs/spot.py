"""Machine time of a training on a machine that may be taken away at any moment.

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
    return np.maximum(np.ceil(np.round(useful / checkpoint, 9)), 1)


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
        return (saved + work(useful - (intervals - 1) * interval))[()]


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


def simulate_seconds(
    useful_seconds: float,
    preemptions_per_hour: float,
    checkpoint_seconds: float,
    restart_seconds: float,
    save_seconds: float = 0.0,
    *,
    trials: int,
    seed: int,
) -> np.ndarray:
    """Return the machine time (s) of `trials` trainings, played event by event; see the module for the model.

    It uses no formula for the time and takes as long as there are events: not for trainings that hardly end.
    Raises ValueError as `expected_seconds` does, and for NaN and infinite figures but an infinite interval.
    """
    figures = _arrays(useful_seconds, preemptions_per_hour, checkpoint_seconds, restart_seconds, save_seconds)
    if not np.all(np.isfinite([*figures[:2], *figures[3:]])) or np.isnan(checkpoint_seconds):
        raise ValueError(f"{[float(figure) for figure in figures]} cannot be played; finite figures are allowed")
    random = np.random.default_rng(seed)
    intervals = int(_intervals(np.asarray(useful_seconds), np.asarray(checkpoint_seconds)))
    full = min(checkpoint_seconds, useful_seconds)
    stages = np.append(np.full(intervals - 1, full + save_seconds), useful_seconds - (intervals - 1) * full)

    def until_preempted(machines: int) -> np.ndarray:
        with np.errstate(divide="ignore"):
            return random.standard_exponential(machines) / np.float64(preemptions_per_hour / SECONDS_PER_HOUR)

    seconds = np.zeros(trials)
    done = np.zeros(trials, dtype=int)
    restarting = np.zeros(trials, dtype=bool)
    left = until_preempted(trials)
    going = np.arange(trials)
    while len(going):
        needed = np.where(restarting[going], restart_seconds, stages[done[going]])
        reached = needed <= left[going]
        spent = np.minimum(needed, left[going])
        seconds[going] += spent
        left[going] -= spent
        done[going] += reached & ~restarting[going]
        restarting[going] = ~reached
        left[going[~reached]] = until_preempted(int(np.sum(~reached)))
        going = going[done[going] < intervals]
    return seconds
