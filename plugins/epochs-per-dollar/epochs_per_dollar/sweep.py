"""Several sessions of one command: other values of its arguments, other numbers of cores, each repeated. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from statistics import median

from epochs_per_dollar import words
from epochs_per_dollar.session import Session

#: With fewer sessions of each, nothing is said to be faster: what repeats differ by is not known.
FEWEST_REPEATS = 4


@dataclass(frozen=True)
class Point:
    """One setting of a sweep: the arguments that it sets, and how many cores the command may use (None: all)."""

    arguments: tuple[tuple[str, str], ...] = ()
    cores: int | None = None

    @property
    def name(self) -> str:
        parts = [f"{name}={value}" for name, value in self.arguments]
        return " ".join([*parts, *([f"cores={self.cores}"] if self.cores else [])]) or "as it is"

    def of(self, command: Sequence[str]) -> list[str]:
        """Return the command with these arguments: in the place of those that it has, or at its end."""
        found = list(command)
        for name, value in self.arguments:
            found = _with(found, name, value)
        return found


#: Sessions of one call: some days of minutes.
MOST = 10_000


def _with(command: list[str], name: str, value: str) -> list[str]:
    for place, word in enumerate(command):
        if word == name and place + 1 < len(command):
            return [*command[: place + 1], value, *command[place + 2 :]]
        if word.startswith(f"{name}="):
            return [*command[:place], f"{name}={value}", *command[place + 1 :]]
    return [*command, f"{name}={value}"]


def count(sweep: Sequence[tuple[str, Sequence[str]]], cores: Sequence[int], repeats: int) -> int:
    """Return how many sessions are asked for, before their settings are made."""
    return prod(len(given) for _, given in sweep) * (len(cores) or 1) * repeats


def points(sweep: Sequence[tuple[str, Sequence[str]]], cores: Sequence[int]) -> list[Point]:
    """Return every combination of the values."""
    values = [[(name, value) for value in given] for name, given in sweep]
    return [Point(tuple(chosen), count) for chosen in product(*values) for count in (cores or (None,))]


def rounds(settings: Sequence[Point], repeats: int) -> Iterator[tuple[int, Point]]:
    """Yield repeat and setting in rounds (A B C, A B C): what changes on a machine meets all of them."""
    for repeat in range(1, repeats + 1):
        for setting in settings:
            yield repeat, setting


def report(sessions: Sequence[tuple[Point, Session]], usd_per_hour: float | None) -> str:
    """Return the table of a sweep: medians over repeats, how far they lie apart, and what is in doubt."""
    settings = list(dict.fromkeys(point for point, _ in sessions))
    wide = max(len(point.name) for point in settings) + 2
    lines = [
        f"  {'setting':<{wide}}{'rate':>16}{'apart':>8}{'the whole':>14}{'GiB':>7}"
        + (f"{'USD':>12}" if usd_per_hour else "")
    ]
    for setting in settings:
        those = [session for point, session in sessions if point == setting]
        rates = [one.rate.units_per_second for one in those if one.rate]
        if not rates:
            lines.append(f"  {setting.name:<{wide}}no progress was read")
            continue
        unit = next(one.steps.unit for one in those if one.steps)
        totals = [one.whole_seconds for one in those if one.whole_seconds is not None]
        memory = max((one.meter.peak_memory_mib or 0.0 for one in those), default=0.0) / 1024
        apart = f"{(max(rates) - min(rates)) / median(rates):.1%}" if len(rates) > 1 else "-"
        whole = words.seconds(median(totals)) if totals else "unknown"
        line = f"  {setting.name:<{wide}}{words.rate(median(rates), unit):>16}{apart:>8}{whole:>14}{memory:>7.2f}"
        if usd_per_hour and totals:
            line += f"{words.usd(usd_per_hour * median(totals) / 3600):>12}"
        doubts = sum(bool(one.doubts) for one in those)
        lines.append(line + (f"   {doubts} of {len(those)} in doubt" if doubts else ""))
    fewest = min(sum(point == setting for point, _ in sessions) for setting in settings)
    if fewest < FEWEST_REPEATS and len(settings) > 1:
        lines.append(f"  with {fewest} of each nothing is said to be faster: --repeats {FEWEST_REPEATS} or more")
    if why := sorted({doubt.split(":")[0] for _, one in sessions for doubt in one.doubts}):
        lines.append(f"  some are in doubt ({', '.join(why)}): nothing is said to be faster")
    return "\n".join(lines)
