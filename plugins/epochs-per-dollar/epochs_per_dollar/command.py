"""`epd run [options] -- command`: runs a training for a minute, and says what the whole costs."""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path

from epochs_per_dollar import before, bill, offers, page, record, scratch, screen, sweep, words
from epochs_per_dollar.arguments import joined, parser, positive
from epochs_per_dollar.child import NoCommandError
from epochs_per_dollar.measuring import Asked, Budget, Measurement
from epochs_per_dollar.progress import Whole
from epochs_per_dollar.scratch import ScratchError
from epochs_per_dollar.session import Session
from epochs_per_dollar.watching import USD_PER_HOUR


def _budget(asked: argparse.Namespace) -> Budget | None:
    if asked.budget is None:
        return None
    if asked.usd_per_hour is None:
        parser().error("--budget: give --usd-per-hour too, what an hour of this machine costs you")
    saves = () if asked.save_signal is None else (asked.save_signal, asked.save_seconds)
    budget = Budget(asked.budget, asked.usd_per_hour, *saves)
    bought, kept = words.seconds(asked.budget / asked.usd_per_hour * 3600), words.seconds(budget.save_seconds)
    if not budget.seconds:
        least = words.usd(budget.spent(budget.save_seconds))
        parser().error(f"--budget: it buys {bought}, and {kept} are kept for the end: more than {least}")
    how = "is asked to save itself" if saves else "is ended as by Ctrl-C, not saved (--save-signal)"
    _say(f"after {words.seconds(budget.seconds)} it {how}: {bought} are bought, {kept} of them kept for the end")
    return budget


def run(arguments: Sequence[str]) -> int:
    """Measure a command and print what it says.

    Returns 0; the command's own exit code where it ended by itself; 128 and a signal's number where that ended us; 2
    for what cannot be asked for, and 127 for a command that cannot be started.
    """
    asked = parser().parse_args(joined(arguments))
    command = asked.command[1:] if asked.command[:1] == ["--"] else asked.command
    if not command:
        parser().error("which command? epd run -- python train.py")
    if (count := sweep.count(asked.sweep, asked.cores, asked.repeats)) > sweep.MOST:
        parser().error(f"--sweep, --cores and --repeats: they ask for {count:,} sessions: at most {sweep.MOST:,}")
    if sys.platform == "win32":
        return _refuse("epd run works on Linux and macOS; Windows has no process groups that it could follow", 2)
    if asked.cores and not hasattr(os, "sched_setaffinity"):
        return _refuse("--cores: this system cannot hold a command to some of its cores", 2)
    _warn(asked, command)
    settings = sweep.points(asked.sweep, asked.cores)
    if asked.repeats * len(settings) == 1:
        return _one(asked, settings[0], command)
    sessions: list[tuple[sweep.Point, Session]] = []
    for repeat, setting in sweep.rounds(settings, asked.repeats):
        _say(f"{setting.name}, {repeat} of {asked.repeats}")
        try:
            found = _measured(asked, setting, command)
        except (NoCommandError, ScratchError) as error:
            return _refused(error)
        sessions.append((setting, found))
        kept = record.keep(found, page.page(found, offers.read(), date.today()), asked.usd_per_hour)
        if kept and (line := bill.settle(kept)):
            _say(line)
        if found.ended_by == "you":
            break
    _say(f"{len(sessions)} sessions\n{sweep.report(sessions, asked.usd_per_hour)}")
    return _exit_code(sessions[-1][1])


def _one(asked: argparse.Namespace, setting: sweep.Point, command: Sequence[str]) -> int:
    """Measure a command once, and print what it says and costs."""
    try:
        found = _measured(asked, setting, command)
    except (NoCommandError, ScratchError) as error:
        return _refused(error)
    if found.rate is not None and found.whole is None and found.ended_by == "the minute":
        found = _asked_for_its_length(found)
    if asked.per_step and found.steps and found.per_step is None:
        _say(f"--per-step is not used: the program counts by the {found.steps.unit}")
    by_itself = found.ended_by == "itself"
    if found.ended_by == "you":
        _say(f"ended by a signal to epd after {words.seconds(found.seconds)}")
    if by_itself and found.exit_code:
        how = "was interrupted" if found.exit_code == 130 else f"ended by itself with exit code {found.exit_code}"
        _say(f"the command {how} after {words.seconds(found.seconds)}")
    if found.rate is not None or not found.exit_code or not by_itself:
        known, today = offers.read(), date.today()
        _say(screen.report(found, known, asked.usd_per_hour, today))
        kept = record.keep(found, page.page(found, known, today), asked.usd_per_hour)
        _say(f"page and record: {kept}/report.html" if kept else "your data folder cannot be written: nothing is kept")
        if kept and (line := bill.settle(kept)):
            _say(line)
    return _exit_code(found)


def _asked_for_its_length(found: Session) -> Session:
    """Ask the person, where one sits there, for what nothing said; no answer leaves it unknown."""
    if found.steps is None or not (sys.stdin.isatty() and sys.stderr.isatty()):
        return found
    _say(f"of how many {words.plural(found.steps.unit)} is the whole? (a number, or nothing)")
    try:
        units = positive(sys.stdin.readline().strip().replace(",", ""))
    except argparse.ArgumentTypeError:
        return found
    return replace(found, whole=Whole(units, "as you say"))


def _measured(asked: argparse.Namespace, setting: sweep.Point, command: Sequence[str]) -> Session:
    budget = _budget(asked)
    price = {USD_PER_HOUR: str(asked.usd_per_hour)} if asked.usd_per_hour else {}
    wanted = Asked(
        setting.of(command),
        seconds=60 * asked.minutes,
        whole=asked.whole or budget is not None,
        of=asked.of,
        epochs=asked.epochs,
        pattern=asked.pattern,
        terminal=asked.terminal,
        budget=budget,
        cores=setting.cores,
        per_step=asked.per_step,
        environment={**(before.offline(os.environ) if asked.offline else {}), **price},
    )
    if asked.scratch:
        return _in_a_copy(wanted)
    return Measurement(wanted, _say).run()


def _in_a_copy(wanted: Asked) -> Session:
    """Measure in a copy of this folder; what a minute wrote there goes with it, what a whole training wrote stays."""
    plan = scratch.plan(Path.cwd())
    _say(f"--scratch: {plan.words()}")
    place = scratch.make(plan)
    try:
        return Measurement(replace(wanted, folder=place), _say).run()
    finally:
        if wanted.whole:
            _say(f"what it wrote is in {place}")
        else:
            scratch.remove(place)
            _say("the copy of the folder is removed, and what it wrote with it")


def _warn(asked: argparse.Namespace, command: Sequence[str]) -> None:
    """Say before the start what a minute may overwrite or send; who asks for the whole wants that."""
    if asked.whole or asked.budget is not None:
        return
    environment = {**os.environ, **(before.offline(os.environ) if asked.offline else {})}
    for line in before.warnings(Path.cwd(), command, environment):
        if not (asked.scratch and "--scratch" in line):
            _say(line)


def _exit_code(found: Session) -> int:
    if found.ended_by == "itself":
        return found.exit_code
    return found.exit_code or 130 if found.ended_by == "you" else 0


def _say(text: str) -> None:
    """Print lines of our own: on standard error, as standard output is the command's."""
    with contextlib.suppress(OSError):
        print(f"epd: {text}", file=sys.stderr, flush=True)


def _refused(error: Exception) -> int:
    return _refuse(str(error), 127 if isinstance(error, NoCommandError) else 2)


def _refuse(text: str, code: int) -> int:
    _say(text)
    return code
