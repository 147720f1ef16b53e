"""Watches one command: what it prints becomes progress, and the minute that is measured has an end."""

from __future__ import annotations

import re
import signal
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Callable

from epochs_per_dollar import etas, lines, session, words
from epochs_per_dollar.child import GRACE_SECONDS, MOST_READ_SECONDS, READ_SECONDS, Child
from epochs_per_dollar.files import Files
from epochs_per_dollar.machine import Machine, Meter, Nvml, look
from epochs_per_dollar.progress import FEWEST_TICKS, Progress
from epochs_per_dollar.session import Session
from epochs_per_dollar.tables import Table

#: Seconds that a program may take to begin its first step, beyond those that are measured.
_SET_UP_SECONDS = 300.0

#: A reading may be late by so much of the time that was measured.
_LATE = 0.004

#: Characters of a line of the program that are repeated.
_MOST_OF_A_LINE = 100

#: Seconds after which it is said that nothing has been read yet.
_QUIET_SECONDS = 15.0


@dataclass(frozen=True)
class Budget:
    """What may be spent (USD), at which rate, and the signal and seconds with which a program saves itself."""

    usd: float
    usd_per_hour: float
    save_signal: int = signal.SIGINT
    save_seconds: float = GRACE_SECONDS

    @property
    def seconds(self) -> float:
        """Seconds after which a command is ended, so that what it takes to save itself is paid as well."""
        return max(0.0, self.usd / self.usd_per_hour * 3600 - self.save_seconds)

    def spent(self, seconds: float) -> float:
        """Return the dollars of so many seconds, without what a provider rounds up."""
        return self.usd_per_hour * seconds / 3600


@dataclass(frozen=True)
class Asked:
    """What somebody asked for: the seconds to measure from the first step on, or the whole, and how long that is.

    It runs in `folder` (None: where we are), with the variables of `environment` beside ours. Without `foreground` the
    command does not get our terminal: somebody else's call is in it.
    """

    command: Sequence[str]
    seconds: float = 60.0
    whole: bool = False
    of: float | None = None
    epochs: float | None = None
    pattern: re.Pattern[str] | None = None
    terminal: bool = False
    budget: Budget | None = None
    cores: int | None = None
    per_step: session.Amount | None = None
    folder: Path | None = None
    environment: Mapping[str, str] = field(default_factory=dict)
    foreground: bool = True


class Measurement:
    """A command that is being measured. `say` gets our own lines; raises NoCommandError as `Child` does."""

    def __init__(self, asked: Asked, say: Callable[[str], None]) -> None:
        self._asked, self._say = asked, say
        self._progress = Progress()
        self._written = Progress()
        self._table = Table()
        self._said_left: tuple[float, float] | None = None
        nvml = Nvml()
        self._machine: Machine = look(nvml, asked.cores)
        self._first: float | None = None
        self._promised: float | None = None
        self._promised_at: float | None = None
        self._left_running: list[int] = []
        self._said = self._over = self._is_printed = self._is_waiting = False
        self._tenth = 0
        self._has_matched = False
        self._last_line: str | None = None
        folder = asked.folder or Path.cwd()
        self._child = Child(
            asked.command,
            self._see,
            self._hear,
            asked.terminal,
            asked.cores,
            asked.folder,
            asked.environment,
            asked.foreground,
        )
        self._meter = Meter(self._child.pid, nvml)
        self._files = Files(folder, time.time())

    def run(self) -> Session:
        """Follow the command until the minute is over or it has ended, end it, and return what was seen."""
        self._meter.read(0.0)
        self._child.follow(self._is_over, self._each_second)
        self._meter.read(self._child.seconds, last=True)
        self._over = True
        self._left_running = self._child.strays()
        if self._child.signalled:
            ended_by = "you"
            self._child.end(None)
        elif self._child.has_ended:
            ended_by = "itself"
        elif (budget := self._asked.budget) is not None:
            ended_by = "the budget"
            name = signal.Signals(budget.save_signal).name
            self._say(f"{words.usd(budget.spent(self._child.seconds))} are spent: it is ended by {name}")
            self._child.end(budget.save_signal, budget.save_seconds)
        else:
            ended_by = "the minute"
            measured = words.seconds(self._child.seconds)
            self._say(f"{measured} are measured: it is ended as by Ctrl-C (what it prints now is its own)")
            self._child.end()
        return self._look(ended_by, self._child.close())

    @property
    def last_words(self) -> str:
        """The end of what the command wrote on standard error."""
        return self._child.last_words

    def _each_second(self, seconds: float) -> None:
        self._meter.is_training = self._first is not None
        self._meter.read(seconds)
        self._is_printed = self._is_printed or self._progress.steps() is not None
        if self._is_printed:
            return  # What is printed counts, and nothing is looked for elsewhere.
        for at, tick in self._files.look(seconds):
            self._written.add(at, [tick])
            if self._first is None and self._written.steps() is not None:
                self._first = seconds

    def _look(self, ended_by: str, exit_code: int) -> Session:
        asked = self._asked
        return session.look(
            asked.command,
            self._progress if self._progress.steps() else self._written,
            self._child.seconds,
            ended_by,
            exit_code,
            self._machine,
            self._meter,
            asked.of,
            asked.epochs,
            self._promised,
            asked.per_step,
            self._promised_at,
            None if self._asked.pattern is None or self._has_matched else self._last_line or "",
            self._said_left,
            self._left_running,
        )

    def _see(self, now: float, line: str) -> None:
        ticks = lines.read(line, self._asked.pattern)
        if not ticks and self._asked.pattern is None:
            ticks = [tick] if (tick := self._table.read(line)) else []
            if not ticks and not self._over and (left := etas.read(lines.plain(line))) is not None:
                self._said_left = now - self._child.started, left.seconds
        self._has_matched = self._has_matched or bool(ticks)
        if not self._over and (text := lines.plain(line)):
            self._last_line = text
        self._take(now, ticks)

    def _hear(self, text: str) -> None:
        now, tick = lines.heard(text)
        if tick:
            self._take(now, [tick])

    def _take(self, now: float, ticks: Sequence[lines.Tick]) -> None:
        if self._over:
            return
        seconds = now - self._child.started
        self._progress.add(seconds, ticks)
        # A line with which an epoch begins comes before its first step.
        if self._first is None and (any(tick.unit != "epoch" for tick in ticks) or self._progress.counts_epochs):
            self._first = seconds

    def _is_over(self, seconds: float) -> bool:
        """Return whether the command is to be ended, `seconds` after its start."""
        if self._child.signalled:
            return True
        if self._asked.budget and self._spend(self._asked.budget, seconds):
            return True
        if self._first is not None:
            # A reading that is late by so little of what was measured changes no rate.
            late = _LATE * (seconds - self._first)
            self._child.read_seconds = min(MOST_READ_SECONDS, max(READ_SECONDS, late))
        if self._first is not None and seconds >= self._first + self._asked.seconds:
            if not self._asked.whole:
                return not self._waits_for_a_line(seconds - self._first - self._asked.seconds)
            self._promise(seconds)
        elif self._first is None:
            left = _SET_UP_SECONDS + self._asked.seconds - seconds
            if not self._said and seconds >= _QUIET_SECONDS:
                self._said = True
                at = f"{datetime.now() + timedelta(seconds=left):%H:%M:%S}"
                more = "" if self._asked.whole else f"; if none comes it is ended at {at}, for its start may take long"
                self._say(f"no progress has been read yet{more} (--pattern and --terminal help some programs)")
                # A program that asks for something waits, and a line without an end is seen here alone.
                if last := self._child.last_line:
                    self._say(f"the last that it printed: {last[:_MOST_OF_A_LINE]!r}")
            return left <= 0 and not self._asked.whole
        return False

    def _waits_for_a_line(self, seconds: float) -> bool:
        """Return whether the lines lie so far apart that more is waited for, `seconds` after the time asked for."""
        if self._progress.steps() or self._written.steps() or not self._progress.series or seconds >= _SET_UP_SECONDS:
            return False
        if not self._is_waiting:
            self._is_waiting = True
            at = f"{datetime.now() + timedelta(seconds=_SET_UP_SECONDS):%H:%M:%S}"
            self._say(f"its lines are far apart, and a rate takes {FEWEST_TICKS}: the next is waited for, until {at}")
        return True

    def _spend(self, budget: Budget, seconds: float) -> bool:
        """Return whether the budget is spent; say at each tenth of it how far it goes."""
        if seconds >= budget.seconds:
            return True
        tenth = int(10 * seconds / budget.seconds)
        if tenth > self._tenth:
            self._tenth = tenth
            whole = self._look("the minute", 0).process_seconds
            said = f"{words.usd(budget.spent(seconds))} of {words.usd(budget.usd)} are spent"
            if whole is not None:
                end = datetime.now() + timedelta(seconds=whole - seconds)
                costs = words.usd(budget.spent(whole))
                said += f"; the whole is expected to cost {costs}, by {end:%Y-%m-%d %H:%M}"
            self._say(said)
        return False

    def _promise(self, seconds: float) -> None:
        """Say once what the whole is expected to take, of a command that goes on to its end."""
        if self._promised_at is not None:
            return
        self._promised_at = seconds
        found = self._look("the minute", 0)
        self._promised = found.process_seconds
        if self._promised is not None:
            what = "what was left" if found.rate and found.rate.resumed_at else "the whole"
            doubt = f", in doubt: {'; '.join(found.doubts)}" if found.doubts else ""
            self._say(f"{what} is expected to take {words.seconds(self._promised)}{doubt}")
