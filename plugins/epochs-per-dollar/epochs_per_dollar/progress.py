"""From ticks to one training: which series is its steps, how many they are in all, what they took. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import NamedTuple

from epochs_per_dollar.etas import Left
from epochs_per_dollar.lines import ASIDE, EPOCHS_IN_ALL, Tick

#: Fewer ticks of a series are no progress: anything prints two numbers.
FEWEST_TICKS = 3

#: Of two series that count through the same time, the finer one is taken if it fills so much of the other's.
_FILLS = 0.4

#: A time that is left and differs by no more than this share from that of an epoch may be of the epoch.
_NEAR_AN_END = 0.3

#: A time that is left in units that are coarser than this share of the whole is said to be.
_COARSE = 0.02

#: A number that is larger counts nothing.
_MOST = 1e15

#: A lap begins within this share of what its series counts: what falls to anywhere, as a rate does, is no count.
_BEGINNING = 0.2

#: Ticks that are kept of one series: a longer one loses every second, so that memory does not grow with its length.
_KEPT_TICKS = 4_000


class Point(NamedTuple):
    """So many units were done at so many seconds after the start; `lap` counts how often the count began anew."""

    seconds: float
    done: float
    lap: int


@dataclass
class Series:
    """The ticks of one bar or kind of line; a count that falls begins a new lap, as an epoch's bar does."""

    name: str
    unit: str
    source: str
    seconds: list[float] = field(default_factory=list)
    counts: list[float] = field(default_factory=list)
    laps: list[int] = field(default_factory=list)
    epochs: list[float | None] = field(default_factory=list)
    #: What the program said with each tick that it still takes.
    etas: list[Left | None] = field(default_factory=list)
    total: float | None = None
    epochs_total: float | None = None
    each_epoch: float | None = None
    stride: int = 1
    #: Whether it counts what is left: a lap then ends where the count rises.
    goes_down: bool = False
    #: When the program last said what it still takes, and that.
    eta: tuple[float, Left] | None = None
    _skipped: int = 0

    def add(self, seconds: float, tick: Tick) -> None:
        """Add a tick that was read at `seconds` after the start; repeated counts are one."""
        if tick.total:
            self.total = tick.total
        self.epochs_total = tick.epochs or self.epochs_total
        self.each_epoch = tick.each_epoch or self.each_epoch
        if tick.eta is not None:
            self.eta = seconds, tick.eta
        lap = self.laps[-1] if self.laps else 0
        if self.counts:
            last, again = self.counts[-1], tick.epoch is not None and self.epochs[-1] is not None
            next_epoch = again and tick.epoch != self.epochs[-1] and tick.done <= last
            if tick.done == last and not next_epoch:
                return
            if tick.unit == "round" and self.counts[0] < tick.done < last:
                return  # A booster names its best round at the end: `Best iteration is: [28] ...`.
            if self._is_late(tick.done) and not next_epoch:
                return  # Of several ranks one printed an earlier count after another's.
            falls = tick.done > last if self.goes_down else tick.done < last or next_epoch
            lap += falls
            self._skipped += 1
            if not falls and self._skipped % self.stride:
                return
        self.seconds.append(seconds)
        self.counts.append(tick.done)
        self.laps.append(lap)
        self.epochs.append(tick.epoch)
        self.etas.append(tick.eta)
        if len(self.counts) == FEWEST_TICKS + 1 and all(b < a for a, b in zip(self.counts, self.counts[1:])):
            self.goes_down, self.laps = True, [0] * len(self.counts)
        if len(self.counts) > _KEPT_TICKS:
            self._thin()

    def _is_late(self, done: float) -> bool:
        """Return whether a count lies between the last two of this lap."""
        if len(self.counts) < 2 or self.laps[-1] != self.laps[-2]:
            return False
        return self.counts[-2] <= done < self.counts[-1] and done > self.counts[self.laps.index(self.laps[-1])]

    def _thin(self) -> None:
        """Leave out every second tick, but none that begins or ends a lap."""
        edges = [0, *(i for i in range(1, len(self.laps)) if self.laps[i] != self.laps[i - 1])]
        kept = sorted({*range(0, len(self.counts), 2), *edges, *(i - 1 for i in edges if i), len(self.counts) - 1})
        for values in (self.seconds, self.counts, self.laps, self.epochs, self.etas):
            values[:] = [values[i] for i in kept]
        self.stride *= 2

    @property
    def active_seconds(self) -> float:
        """Seconds in which it counted up."""
        return sum(
            self.seconds[i] - self.seconds[i - 1]
            for i in range(1, len(self.counts))
            if self.laps[i] == self.laps[i - 1]
        )

    @property
    def lap_length(self) -> float | None:
        """Units of a lap: the bar's total, or the most that a lap which has ended counted."""
        if self.total or self.goes_down:
            return self.total or max(self.counts)
        ended = [self.counts[i - 1] for i in range(1, len(self.laps)) if self.laps[i] != self.laps[i - 1]]
        return max(ended) if ended else None

    @property
    def is_no_count(self) -> bool:
        """Whether it goes up and down, as a rate does: nearly each tick begins a lap, or laps begin anywhere."""
        if len(self.counts) >= FEWEST_TICKS and self.laps[-1] >= (len(self.counts) - 1) * 0.9:
            return True
        begins = [self.counts[i] for i in range(1, len(self.laps)) if self.laps[i] != self.laps[i - 1]]
        low, high = min(self.counts), max(self.counts)
        where = [(high - begin if self.goes_down else begin - low) / (high - low or 1.0) for begin in begins]
        return len(begins) > 1 and sum(share > _BEGINNING for share in where) > len(begins) / 2

    @property
    def is_full(self) -> bool:
        """Whether its last lap has come to its end."""
        return self.counts[-1] <= 0 if self.goes_down else self.total is not None and self.counts[-1] >= self.total

    def points(self) -> list[Point]:
        """Return the ticks with laps put one after the other."""
        length = self.lap_length or 0.0
        return [
            Point(seconds, lap * length + (length - count if self.goes_down else count), lap)
            for seconds, count, lap in zip(self.seconds, self.counts, self.laps)
        ]


class Progress:
    """All that was read of a program's progress."""

    def __init__(self) -> None:
        self.series: dict[tuple[str, str, float | None], Series] = {}

    def add(self, seconds: float, ticks: Iterable[Tick]) -> None:
        """Add what one line said at `seconds` after the start of the program."""
        for tick in ticks:
            if not 0 <= tick.done < _MOST:
                continue
            if tick.total is not None and not 0 < tick.total < _MOST:
                tick = tick._replace(total=None)
            # Bars without a name differ by their totals: those of a training and of its evaluations.
            key = (tick.series, tick.unit, tick.total)
            if key not in self.series and len(self.series) >= 200:
                continue  # A program that prints another text with each number: none of it is a series.
            self.series.setdefault(key, Series(tick.series, tick.unit, tick.source)).add(seconds, tick)

    @property
    def counts_epochs(self) -> bool:
        """Whether two epochs have been named."""
        return any(one.unit == "epoch" and len(one.counts) > 1 for one in self.series.values())

    def steps(self) -> Series | None:
        """Return the series that counts the training: the finest of those that count through most of the time.

        A series that is named after an evaluation, a download and the like is taken only where no other is. Of two that
        are as fine the one with a total is taken, and then the one that never begins anew.
        """
        able = [one for one in self.series.values() if len(one.counts) >= FEWEST_TICKS and not one.is_no_count]
        trains = [one for one in able if not ASIDE.search(one.name.replace("_", " "))] or able
        if not trains:
            return None
        longest = max(one.active_seconds for one in trains)
        through = [one for one in trains if one.active_seconds >= _FILLS * longest]
        return max(through, key=lambda one: (len(one.counts) * one.stride, one.total is not None, not one.laps[-1]))

    def epochs(self, steps: Series) -> tuple[float | None, float | None]:
        """Return the last epoch that was named and how many there are, None where no line says it."""
        # Beside a finer count a bar that is called so counts epochs; alone it may be that of the batches of one.
        named = [
            one
            for one in self.series.values()
            if one is not steps and (one.unit == "epoch" or one.name.lower() in ("epoch", "epochs"))
        ]
        in_all = next((one.total for one in named if one.name == EPOCHS_IN_ALL), None)
        named = [one for one in named if one.name != EPOCHS_IN_ALL]
        last = max((one.counts[-1] for one in named), default=None)
        if last is None:
            last = next((epoch for epoch in reversed(steps.epochs) if epoch is not None), None)
        total = steps.epochs_total or next((one.total for one in named if one.total), None)
        first = next((epoch for epoch in steps.epochs if epoch is not None), None)
        first = min((one.counts[0] for one in named), default=1.0) if first is None else first
        # Who counts from 0 prints the last number: `Epoch 0/24` is the first of 25. A bar counts what is done.
        is_bar = any(one.source.endswith("bar") for one in named)
        return last, in_all or (total + 1 if total and first == 0 and not is_bar else total)


class Whole(NamedTuple):
    """How long a training is: `units` in all, and where that is known from."""

    units: float
    known_from: str


#: Arguments that say how long a training is, as programs call them.
_STEP_ARGUMENTS = (
    *("max-steps", "num-steps", "total-steps", "train-steps", "num-train-steps", "max-train-steps", "steps"),
    *("max-iters", "max-iter", "iters", "n-iters", "num-iters", "train-iters", "total-iters"),
    *("num-iterations", "max-iterations", "train-iterations", "iterations", "max-update", "max-updates"),
)
#: And of reinforcement learning, where a step of the environment is not one of the training.
_TIMESTEP_ARGUMENTS = ("total-timesteps", "num-timesteps", "timesteps", "total-env-steps")
_EPOCH_ARGUMENTS = (
    *("epochs", "num-epochs", "max-epochs", "max-epoch", "num-train-epochs", "max-num-epochs", "n-epochs"),
    *("train-epochs", "total-epochs", "nb-epochs"),
)
#: Of what is no step.
_OTHER_ARGUMENTS = {
    "trial": ("n-trials", "num-trials", "max-trials", "trials"),
    "episode": ("episodes", "num-episodes", "n-episodes", "max-episodes"),
    "generation": ("generations", "num-generations", "n-generations"),
    "round": (
        *("rounds", "num-rounds", "num-round", "num-boost-round", "n-estimators", "num-trees"),
        *("num-iterations", "iterations"),
    ),
}


def _argument(command: Sequence[str], names: Sequence[str]) -> tuple[float, str] | None:
    """Return the value of the last argument with one of these names, and how it was given."""
    found = None
    for place, word in enumerate(command):
        name, _, value = word.partition("=")
        bare = name.lstrip("-").split(".")[-1].replace("_", "-").lower()
        # `--max-steps 9`, `max_steps=9`, `SOLVER.MAX_ITER 9`
        if bare not in names or not (word.startswith("-") or value or "." in name):
            continue
        text = value or (command[place + 1] if place + 1 < len(command) else "")
        try:
            number = float(text)
        except ValueError:
            continue
        if 0 < number < 1e12:
            found = number, f"{name}={text}"
    return found


def whole(
    progress: Progress,
    steps: Series,
    command: Sequence[str],
    of: float | None,
    of_epochs: float | None,
    goes_on: bool = True,
) -> Whole | None:
    """Return how long all of the training is, None where nothing says it.

    In this order: what the user said (`of` units, `of_epochs`), the bar's own total (times the epochs where each has
    a bar of its own), the command's arguments. The total of a bar that is full while the program `goes_on` is that of
    a part: a search for a learning rate, a first stage.
    """
    if of:
        return Whole(of, "--of")
    if steps.unit == "epoch":
        if of_epochs:
            return Whole(of_epochs, "--epochs")
        if steps.laps[-1] > 0:
            return None  # They begin anew, as of each fold: of how many is not known.
        if steps.total:
            return Whole(steps.total, steps.source)
        if epochs := progress.epochs(steps)[1]:
            return Whole(epochs, "the epochs that it says there are")
        given = _argument(command, _EPOCH_ARGUMENTS)
        return Whole(given[0], given[1]) if given else None
    last_epoch, epochs = progress.epochs(steps)
    length = steps.lap_length
    # Counts that go on from epoch to epoch are of all of the training; those that begin anew are of one.
    named = last_epoch is not None or "epoch" in steps.name.lower()
    seen = {epoch for epoch in steps.epochs if epoch is not None}
    by_epoch = steps.laps[-1] > 0 or (named and len(seen) < 2 and _begins_in_an_epoch(progress, steps))
    each = (length if by_epoch else None) or (None if steps.total else steps.each_epoch)
    if each:
        if of_epochs:
            return Whole(of_epochs * each, f"--epochs x {each:,.0f}")
        if epochs:
            return Whole(epochs * each, f"{epochs:,.0f} epochs of {each:,.0f}, as it prints")
        if given := _argument(command, _EPOCH_ARGUMENTS):
            return Whole(given[0] * each, f"{given[1]} x {each:,.0f}")
        if by_epoch and length:
            return None
    if steps.goes_down and not steps.total and length and not (goes_on and steps.is_full):
        return Whole(length, f"{steps.source}, which count down")
    if steps.total and not (goes_on and steps.is_full):
        one = ""
        if "bar" in steps.source.split() and steps.name != "watch":
            one = ", if there is one bar for all of it"
        elif re.search(r"\b(?:mini-?)?batch", steps.name):
            one = ", if these are the batches of all of it (--epochs)"
        elif epochs_given := _argument(command, _EPOCH_ARGUMENTS):
            one = f", if it counts through all of {epochs_given[1]}"
        elif (named and len(seen) < 2 and not progress.counts_epochs) or (steps.unit == "unit" and not seen):
            one = ", if it counts through all epochs (--epochs)"
        return Whole(steps.total, f"{steps.source}{one}")
    # A table's `steps`, without more, may be either.
    names = () if "timesteps" in steps.name else _STEP_ARGUMENTS
    is_of_the_environment = "timesteps" in steps.name or steps.name == "steps" or "global_" in steps.name
    names += _TIMESTEP_ARGUMENTS if is_of_the_environment else ()
    given = _argument(command, _OTHER_ARGUMENTS.get(steps.unit, names))
    # Fewer than there have been are of something else: `--num-steps 128` of a rollout.
    return Whole(given[0], given[1]) if given and given[0] >= max(steps.counts) else None


def whole_by_its_eta(steps: Series, units_per_second: float) -> Whole | None:
    """Return how long a training is that prints no total, but the time that it still takes (detectron2, MMEngine).

    None where that may be the time of an epoch: it is about that of a lap, or a bar's. What is below a second is cut
    from each such time, and so the median of many is taken: of the later half, as the first know little yet.
    """
    said = [(point, left) for point, left in zip(steps.points(), steps.etas) if left is not None]
    if not said or steps.source.endswith("bar"):
        return None
    wholes = [point.done + left.middle * units_per_second for point, left in said[len(said) // 2 :]]
    (last, left), units = said[-1], median(wholes)
    more = units - last.done
    of_the_lap = (last.lap + 1) * (steps.lap_length or 0.0) - last.done
    if more < 1 or (of_the_lap > 0 and abs(more - of_the_lap) <= max(_NEAR_AN_END * of_the_lap, units_per_second)):
        return None
    off = left.unit / 2 * units_per_second
    about = f", give or take {off:,.0f}" if off > _COARSE * units else ""
    return Whole(float(round(units)), f"the time that it says is left{about}")


def _begins_in_an_epoch(progress: Progress, steps: Series) -> bool:
    """Return whether its lines name the number of an epoch, `Epoch 3: 12/100`, or come below a line `Epoch 3`."""
    named = [epoch for epoch in steps.epochs if epoch is not None]
    return (
        "epoch" in steps.name.lower().partition("#")[0]
        or (bool(named) and all(epoch == int(epoch) for epoch in named))
        or (not named and steps.source == "Keras's bar")
        or any(
            one.unit == "epoch" and one.name.lower().startswith("epoch") and one.seconds[0] <= steps.seconds[0]
            for one in progress.series.values()
            if not named
        )
    )
