"""`epd run [options] -- command`: runs a training for a minute, and says what the whole costs."""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import signal
import sys
from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from math import prod

from epochs_per_dollar import offers, page, record, screen, sweep, words
from epochs_per_dollar.child import NoCommandError
from epochs_per_dollar.measuring import Asked, Budget, Measurement
from epochs_per_dollar.progress import Whole
from epochs_per_dollar.session import Amount, Session

_DESCRIPTION = """Run a training for a minute, unchanged, and say what the whole takes and costs.

It runs where you are, as you type it, and then ends as by Ctrl-C: a measured minute may overwrite its checkpoints."""

_EXAMPLES = """examples:
  epd run -- python train.py --batch-size 64
  epd run --minutes 2 --of 5000 -- torchrun --nproc-per-node 2 train.py
  epd run --whole --usd-per-hour 1.29 -- python train.py
  epd run --repeats 4 --sweep --batch-size=8,16,32 -- python train.py
  epd run --budget 5 --usd-per-hour 1.29 --save-signal USR1 -- python train.py
"""


def _positive(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if not 0 < value < 1e12:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number above 0")
    return value


def _pattern(text: str) -> re.Pattern[str]:
    try:
        pattern = re.compile(text)
    except re.error as error:
        raise argparse.ArgumentTypeError(f"{text!r} is no regular expression: {error}") from None
    if not pattern.groups:
        raise argparse.ArgumentTypeError(f"{text!r} has no group: write (?P<count>\\d+) where the count stands")
    return pattern


def _whole(text: str) -> int:
    if not text.isdigit() or not 0 < int(text) < 1000:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number above 0")
    return int(text)


def _cores(text: str) -> list[int]:
    counts = [_whole(part) for part in text.split(",")]
    there = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if max(counts) > there:
        raise argparse.ArgumentTypeError(f"{max(counts)} cores are asked for, and there are {there}")
    return counts


def _values(text: str) -> tuple[str, list[str]]:
    name, _, values = text.partition("=")
    if not name or not values or "" in values.split(","):
        raise argparse.ArgumentTypeError(f"{text!r} is no ARGUMENT=A,B, as --batch-size=8,16")
    return name, values.split(",")


def _amount(text: str) -> Amount:
    found = re.fullmatch(r"\s*(\d+(?:\s*[x*]\s*\d+)*)\s+([A-Za-z]+)\s*", text)
    if not found:
        raise argparse.ArgumentTypeError(f"{text!r} is no amount, as '12x1024 tokens'")
    return Amount(float(prod(int(part) for part in re.split(r"\s*[x*]\s*", found[1]))), found[2])


def _joined(arguments: Sequence[str]) -> list[str]:
    """Return arguments in which `--sweep --batch-size=8,16` is one: its value begins as an argument does."""
    found: list[str] = []
    for word in arguments:
        if found and found[-1] == "--sweep" and "--" not in found:
            found[-1] = f"--sweep={word}"
        else:
            found.append(word)
    return found


def _signal(text: str) -> int:
    name = text.upper().removeprefix("SIG")
    if f"SIG{name}" not in signal.Signals.__members__:
        raise argparse.ArgumentTypeError(f"{text!r} is no signal; USR1, USR2, INT and TERM are some")
    return int(signal.Signals[f"SIG{name}"])


def _budget(asked: argparse.Namespace) -> Budget | None:
    if asked.budget is None:
        return None
    if asked.usd_per_hour is None:
        parser().error("--budget: give --usd-per-hour too, what an hour of this machine costs you")
    if asked.save_signal is None:
        budget = Budget(asked.budget, asked.usd_per_hour)
        _say(f"after {words.seconds(budget.seconds)} it is ended as by Ctrl-C, not saved: see --save-signal")
        return budget
    return Budget(asked.budget, asked.usd_per_hour, asked.save_signal, asked.save_seconds)


def parser() -> argparse.ArgumentParser:
    """Return the parser of `epd run`."""
    found = argparse.ArgumentParser(
        prog="epd run",
        description=_DESCRIPTION,
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        usage="epd run [options] -- command ...",
        allow_abbrev=False,
    )
    add = found.add_argument
    add("--minutes", type=_positive, default=1.0, help="to measure, from the first step on (default 1)")
    add("--whole", action="store_true", help="let it run to its end")
    add("--of", type=_positive, metavar="N", help="steps, samples or what it counts, of the whole training")
    add("--epochs", type=_positive, metavar="N", help="epochs of the whole training")
    add("--per-step", type=_amount, metavar="TEXT", help="what a step goes through, as '12x1024 tokens'")
    add("--pattern", type=_pattern, metavar="REGEX", help="how its lines count: (?P<count>\\d+), and (?P<total>\\d+)")
    add("--repeats", type=_whole, default=1, metavar="N", help="so many sessions, of a sweep in rounds (default 1)")
    add(
        "--sweep",
        type=_values,
        action="append",
        default=[],
        metavar="ARGUMENT=A,B",
        help="a session for each value of an argument of the command; may be given again for another argument",
    )
    add("--cores", type=_cores, default=[], metavar="A,B", help="a session for each number of cores that it may use")
    add("--terminal", action="store_true", help="give it a terminal where there is none: some bars need one")
    add("--usd-per-hour", type=_positive, metavar="USD", help="what an hour of this machine costs you")
    add("--budget", type=_positive, metavar="USD", help="let it run until so much is spent: with --usd-per-hour")
    add("--save-signal", type=_signal, metavar="NAME", help="what makes it save itself when the budget is spent")
    add("--save-seconds", type=_positive, default=60.0, metavar="S", help="that saving may take (default 60)")
    add("command", nargs=argparse.REMAINDER, metavar="-- command", help="as you would type it")
    return found


def run(arguments: Sequence[str]) -> int:
    """Measure a command and print what it says.

    Returns 0; the command's own exit code where it ended by itself; 128 and a signal's number where that ended us; 2
    for what cannot be asked for, and 127 for a command that cannot be started.
    """
    asked = parser().parse_args(_joined(arguments))
    command = asked.command[1:] if asked.command[:1] == ["--"] else asked.command
    if not command:
        parser().error("which command? epd run -- python train.py")
    if sys.platform == "win32":
        return _refuse("epd run works on Linux and macOS; Windows has no process groups that it could follow", 2)
    if asked.cores and not hasattr(os, "sched_setaffinity"):
        return _refuse("--cores: this system cannot hold a command to some of its cores", 2)
    settings = sweep.points(asked.sweep, asked.cores)
    if asked.repeats * len(settings) == 1:
        return _one(asked, settings[0], command)
    sessions: list[tuple[sweep.Point, Session]] = []
    for repeat, setting in sweep.rounds(settings, asked.repeats):
        _say(f"{setting.name}, {repeat} of {asked.repeats}")
        try:
            found = _measured(asked, setting, command)
        except NoCommandError as error:
            return _refuse(str(error), 127)
        sessions.append((setting, found))
        record.keep(found, page.page(found, offers.read(), date.today()))
        if found.ended_by == "you":
            break
    _say(f"{len(sessions)} sessions\n{sweep.report(sessions, asked.usd_per_hour)}")
    return _exit_code(sessions[-1][1])


def _one(asked: argparse.Namespace, setting: sweep.Point, command: Sequence[str]) -> int:
    """Measure a command once, and print what it says and costs."""
    try:
        found = _measured(asked, setting, command)
    except NoCommandError as error:
        return _refuse(str(error), 127)
    if found.rate is not None and found.whole is None and found.ended_by == "the minute":
        found = _asked_for_its_length(found)
    by_itself = found.ended_by == "itself"
    if by_itself and found.exit_code:
        how = "was interrupted" if found.exit_code == 130 else f"ended by itself with exit code {found.exit_code}"
        _say(f"the command {how} after {words.seconds(found.seconds)}")
    if found.rate is not None or not found.exit_code or not by_itself:
        known, today = offers.read(), date.today()
        _say(screen.report(found, known, asked.usd_per_hour, today))
        kept = record.keep(found, page.page(found, known, today))
        _say(f"page and record: {kept}/report.html" if kept else "your data folder cannot be written: nothing is kept")
    return _exit_code(found)


def _asked_for_its_length(found: Session) -> Session:
    """Ask the person, where one sits there, for what nothing said; no answer leaves it unknown."""
    if found.steps is None or not (sys.stdin.isatty() and sys.stderr.isatty()):
        return found
    _say(f"of how many {words.plural(found.steps.unit)} is the whole? (a number, or nothing)")
    try:
        units = _positive(sys.stdin.readline().strip().replace(",", ""))
    except argparse.ArgumentTypeError:
        return found
    return replace(found, whole=Whole(units, "as you say"))


def _measured(asked: argparse.Namespace, setting: sweep.Point, command: Sequence[str]) -> Session:
    budget = _budget(asked)
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
    )
    return Measurement(wanted, _say).run()


def _exit_code(found: Session) -> int:
    if found.ended_by == "itself":
        return found.exit_code
    return found.exit_code or 130 if found.ended_by == "you" else 0


def _say(text: str) -> None:
    """Print lines of our own: on standard error, as standard output is the command's."""
    with contextlib.suppress(OSError):
        print(f"epd: {text}", file=sys.stderr, flush=True)


def _refuse(text: str, code: int) -> int:
    _say(text)
    return code
