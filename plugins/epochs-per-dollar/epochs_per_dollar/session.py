"""One measured command: what was read of it, and what follows for the whole training. Pure, but for `look`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from epochs_per_dollar import etas, steady, words
from epochs_per_dollar.machine import Machine, Meter
from epochs_per_dollar.progress import Progress, Series, Whole, whole, whole_by_its_eta
from epochs_per_dollar.steady import Rate


class Amount(NamedTuple):
    """What one step goes through: so many tokens, samples, images."""

    each: float
    unit: str


#: Units of which nobody knows how many steps one is.
_NO_STEPS = ("epoch", "percent", "trial")

#: A share of one core that other programs, or other guests of the host, took, above which a session is disturbed.
_DISTURBED = 0.1

#: A share of the time in which a card is slowed down, from which on a session is throttled.
_SLOWED = 0.05

#: A training that lacks no more than this share of its whole has ended.
_NEARLY = 0.02


@dataclass(frozen=True)
class Session:
    """What a command did while it was watched.

    `ended_by` says what ended it: `itself`, `the minute`, `the budget` or `you`. `exit_code` is the command's own.
    `promised_seconds` is what the whole was said to take when `measured_seconds` had passed, of one that went on.
    `per_step` is what the user says that a step goes through.
    """

    command: Sequence[str]
    seconds: float
    ended_by: str
    exit_code: int
    machine: Machine
    meter: Meter
    steps: Series | None
    rate: Rate | None
    whole: Whole | None
    promised_seconds: float | None = None
    per_step: Amount | None = None
    measured_seconds: float | None = None
    #: The last line that the user's --pattern was tried on, of a pattern that has matched none.
    unmatched: str | None = None
    #: When the program last said how long it still takes, and that (s), of one whose progress could not be read.
    said_left: tuple[float, float] | None = None
    #: Processes that the command started and left running when it ended by itself.
    left_running: Sequence[int] = ()

    @property
    def whole_seconds(self) -> float | None:
        """Seconds of the whole training, from a start at 0: measured where it ended by itself, else expected.

        None where unknown.
        """
        if self.came_to_its_end and not (self.rate and self.rate.resumed_at):
            return self.seconds
        if self.rate is None or self.whole is None:
            return None
        return self.rate.seconds_of(self.whole.units)

    @property
    def process_seconds(self) -> float | None:
        """Seconds of this process to the end of the training: less than the whole if it was resumed."""
        if self.came_to_its_end:
            return self.seconds
        if self.rate is None or self.whole is None:
            return None
        return self.rate.seconds_of(max(0.0, self.whole.units - self.rate.resumed_at))

    @property
    def came_to_its_end(self) -> bool:
        """Whether the command ended well, by itself, and at the end of its training as far as is known."""
        if self.rate is None and self.left_running:
            return False
        return self.ended_by == "itself" and self.exit_code == 0 and not self.is_part

    @property
    def is_part(self) -> bool:
        """Whether the command did clearly less than the whole: more is left than lies between two of its lines."""
        if self.whole is None or self.rate is None:
            return False
        left = self.whole.units - self.rate.observed_units
        return left > max(_NEARLY * self.whole.units, 2 * self.rate.widest_units)

    @property
    def cards(self) -> int:
        """Cards that it used; all that are visible where none was seen to be used."""
        return len(self.meter.cards_used) or len(self.machine.cards)

    @property
    def throttled(self) -> list[tuple[str, float]]:
        """Return by what its cards were slowed down, and in which share of the time."""
        return [(by, share) for by, share in self.meter.slowed_share.items() if share >= _SLOWED]

    @property
    def _own_eta(self) -> str | None:
        """Return in words what the program itself says is left, where that contradicts what is worked out."""
        total = self.whole_seconds
        if self.steps is None or self.steps.eta is None or self.rate is None or total is None:
            return None
        seconds, said = self.steps.eta
        if self.ended_by == "itself" or self.rate.resumed_at:
            return None
        length, last = self.steps.lap_length or 0.0, self.steps.points()[-1]
        of_the_lap = max(0.0, (last.lap + 1) * length - last.done) / self.rate.units_per_second
        left = max(0.0, total - seconds)
        if not etas.contradicts(said, left, of_the_lap):
            return None
        return (
            f"the program itself says that {words.seconds(said.seconds)} are left, and this says {words.seconds(left)}"
        )

    @property
    def other_cores(self) -> float | None:
        """Cores that other programs, or other guests of the host, kept busy meanwhile, None where that is not known."""
        taken = self.meter.other_cpu_seconds
        return None if taken is None or not self.seconds else taken / self.seconds

    @property
    def doubts(self) -> list[str]:
        """Return what makes the rate doubtful, a line each; none where it is sound."""
        if self.rate is None:
            return []
        found = []
        if self.rate.apart != self.rate.apart:
            found.append("too short to say whether the rate is steady: measure longer (--minutes)")
        elif not self.rate.settled:
            found.append(
                f"not steady yet: three thirds of the time lie {self.rate.apart:.0%} apart; measure longer (--minutes)"
            )
        others = self.other_cores
        if others is not None and others > _DISTURBED:
            found.append(
                f"disturbed: other programs (or other guests of the host) kept {others:.1f} cores busy, and its times "
                "may be those of a busy machine"
            )
        found += [f"throttled: {by} slowed the GPU down in {share:.0%} of the time" for by, share in self.throttled]
        if (said := self._own_eta) is not None:
            found.append(said)
        return found


def look(
    command: Sequence[str],
    progress: Progress,
    seconds: float,
    ended_by: str,
    exit_code: int,
    machine: Machine,
    meter: Meter,
    of: float | None = None,
    of_epochs: float | None = None,
    promised_seconds: float | None = None,
    per_step: Amount | None = None,
    measured_seconds: float | None = None,
    unmatched: str | None = None,
    said_left: tuple[float, float] | None = None,
    left_running: Sequence[int] = (),
) -> Session:
    """Work out what a session says."""
    steps = progress.steps()
    rate = steady.measure(steps.points()) if steps else None
    goes_on = ended_by != "itself"
    length = None
    if steps and rate:
        length = whole(progress, steps, command, of, of_epochs, goes_on)
        if length is None and goes_on:
            length = whole_by_its_eta(steps, rate.units_per_second)
    return Session(
        command,
        seconds,
        ended_by,
        exit_code,
        machine,
        meter,
        steps,
        rate,
        length,
        promised_seconds,
        None if steps and steps.unit in _NO_STEPS else per_step,
        measured_seconds,
        unmatched,
        None if rate else said_left,
        left_running if ended_by == "itself" else (),
    )
