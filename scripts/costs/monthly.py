"""What a month of a scheduled study costs, expected and at worst. Pure.

Time of machines is billed as each start of each is: `billing.scheduled_usd_per_month`.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, nan
from typing import Any

from scripts.costs import billing, book, budget, ownership
from scripts.costs.terms import Terms

#: Jobs of a cluster at a time, as its profiles submit them.
JOBS = 20

#: What a repetition takes beside its trainings: plan, tables, charts, report; on a cluster the copies, too.
AROUND_SECONDS, AROUND_ON_CLUSTER = 60.0, 300.0

#: What is taken for sizes that nobody has given (GB): an image, the boot disk of a machine, what a month leaves behind.
IMAGE_GB, BOOT_DISK_GB, KEPT_GB = 5, 50, 1


@dataclass(frozen=True)
class Part:
    """A part of the month's bill: what it is, hours of machine, USD (NaN without a price), and what says so."""

    what: str
    hours: float
    worst_hours: float
    usd: float
    worst_usd: float
    basis: str


@dataclass(frozen=True)
class Length:
    """How long one repetition takes (s), expected and at worst."""

    seconds: float
    worst_seconds: float


def starts(interval_seconds: float, repetition_seconds: float) -> float:
    """Return how many repetitions a month has: while one is at work, the triggers that come start none."""
    taken = max(1, ceil(repetition_seconds / interval_seconds))
    return billing.HOURS_PER_MONTH * billing.SECONDS_PER_HOUR / (interval_seconds * taken)


def length(priced: Sequence[budget.Priced], at_once: int, boot_seconds: float) -> Length:
    """Return how long a repetition takes whose runs go `at_once` at a time, each after the start of its machine."""
    margin, around = (budget.MARGIN_SECONDS, AROUND_ON_CLUSTER) if boot_seconds else (0.0, AROUND_SECONDS)

    def taken(each: list[float]) -> float:
        return around + max(max(each), sum(each) / at_once)

    return Length(
        taken([one.expected.seconds + boot_seconds for one in priced]),
        taken([one.wanted.most_seconds + margin for one in priced]),
    )


def _hours(seconds: Iterable[float], starts: float) -> float:
    return starts * sum(seconds) / billing.SECONDS_PER_HOUR


def _named(hardware: str, runs: Sequence[budget.Priced]) -> tuple[str, str]:
    """Return what a machine's part is called, and what its time is based on."""
    bases = [one.expected.basis for one in runs]
    based = "; ".join(f"{bases.count(basis)} by {basis}" for basis in dict.fromkeys(bases))
    return f"{hardware}: {len(runs)} run{'s' if len(runs) > 1 else ''} each time", based


def rented(
    priced: Sequence[budget.Priced],
    rates: Mapping[str, budget.Rate],
    often: tuple[float, float],
    boot_seconds: float,
) -> list[Part]:
    """Return the parts of machines of a cluster, each run on one of its own; `often`: starts, expected and at worst.

    The rates are those at the upper end of each price's range.
    """
    parts = []
    for hardware in dict.fromkeys(one.wanted.hardware for one in priced):
        runs = [one for one in priced if one.wanted.hardware == hardware]
        rate = rates.get(hardware)
        seconds = [one.expected.seconds + boot_seconds for one in runs]
        margin = budget.MARGIN_SECONDS * (rate.attempts if rate else 1)
        most = [one.wanted.most_seconds + margin for one in runs]
        usd = worst = nan
        if rate:
            usd = sum(billing.scheduled_usd_per_month(often[0], s, rate.usd_per_hour, rate.rule) for s in seconds)
            worst = often[1] * sum(one.worst_usd for one in runs)
        what, basis = _named(hardware, runs)
        parts.append(Part(what, _hours(seconds, often[0]), _hours(most, often[1]), float(usd), float(worst), basis))
    return parts


def owned(priced: Sequence[budget.Priced], machines: Mapping[str, Any], often: tuple[float, float]) -> list[Part]:
    """Return the parts of machines of one's own, by what an hour of their use costs their owner (`own:`)."""
    parts = []
    for hardware in dict.fromkeys(one.wanted.hardware for one in priced):
        runs = [one for one in priced if one.wanted.hardware == hardware]
        hours = _hours([one.expected.seconds for one in runs], often[0])
        worst = _hours([one.wanted.most_seconds for one in runs], often[1])
        what, basis = _named(hardware, runs)
        rate, own = nan, machines[hardware].get("own")
        if own:
            rate = float(ownership.usd_per_hour(ownership.machine(own), own["hours_per_month"]))
            basis += f"; owned, {own['hours_per_month']:g} h of use a month in all"
        parts.append(Part(what, hours, worst, hours * rate, worst * rate, basis))
    return parts


def disks(parts: Sequence[Part], usd_per_gb_hour: float, as_of: str) -> Part:
    """Return the part of the boot disks of the machines of `parts`."""
    hours, worst = sum(part.hours for part in parts), sum(part.worst_hours for part in parts)
    rate = BOOT_DISK_GB * usd_per_gb_hour
    basis = f"{BOOT_DISK_GB} GB each, of {as_of}"
    return Part("their boot disks", hours, worst, hours * rate, worst * rate, basis)


def fee(rows: book.Rows, terms: Terms, item: str, pieces: float, what: str, basis: str = "") -> Part | None:
    """Return the part of what is due whether anything runs or not, None for an item that no book prices."""
    price = book.rent(rows, terms, "gce", {item: pieces}, "fee")
    if price is None:
        return None
    usd = price.usd_per_hour * billing.HOURS_PER_MONTH
    return Part(what, 0.0, 0.0, usd, usd, "; ".join(filter(None, [basis, f"of {price.as_of}"])))
