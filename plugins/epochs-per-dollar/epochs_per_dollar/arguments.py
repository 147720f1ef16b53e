"""What may be asked of `epd run`: its options, and the one line for what cannot be."""

from __future__ import annotations

import argparse
import os
import re
import signal
from collections.abc import Sequence

from epochs_per_dollar import words
from epochs_per_dollar.session import Amount

_DESCRIPTION = """Run a training for a minute, unchanged, and say what the whole takes and costs.

It runs where you are, as you type it, and then ends as by Ctrl-C: a measured minute may overwrite its checkpoints."""

_EXAMPLES = """examples:
  epd run -- python train.py --batch-size 64
  epd run --minutes 2 --of 5000 -- torchrun --nproc-per-node 2 train.py
  epd run --whole --usd-per-hour 1.29 -- python train.py
  epd run --repeats 4 --sweep --batch-size=8,16,32 -- python train.py
  epd run --budget 5 --usd-per-hour 1.29 --save-signal USR1 -- python train.py
"""


def positive(text: str) -> float:
    value = words.number(text)
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
    if not re.fullmatch("[0-9]{1,3}", text) or not int(text):
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
    found = words.amount(text)
    if not found or not found[1]:
        raise argparse.ArgumentTypeError(f"{text!r} is no amount, as '12x1024 tokens'")
    return Amount(*found)


def joined(arguments: Sequence[str]) -> list[str]:
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
    add("--minutes", type=positive, default=1.0, help="to measure, from the first step on (default 1)")
    add("--whole", action="store_true", help="let it run to its end")
    add("--of", type=positive, metavar="N", help="steps, samples or what it counts, of the whole training")
    add("--epochs", type=positive, metavar="N", help="epochs of the whole training")
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
    add("--scratch", action="store_true", help="run it in a copy of this folder, without data sets, removed at the end")
    add("--offline", action="store_true", help="no online runs of W&B, nothing from the Hugging Face hub")
    add("--usd-per-hour", type=positive, metavar="USD", help="what an hour of this machine costs you")
    add("--budget", type=positive, metavar="USD", help="let it run until so much is spent: with --usd-per-hour")
    add("--save-signal", type=_signal, metavar="NAME", help="what makes it save itself when the budget is spent")
    add("--save-seconds", type=positive, default=60.0, metavar="S", help="that saving may take (default 60)")
    add("command", nargs=argparse.REMAINDER, metavar="-- command", help="as you would type it")
    return found
