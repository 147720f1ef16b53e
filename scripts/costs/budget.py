"""What a grid will cost before it runs, expected and at worst, by what is known of its cells; what a budget allows.

Without tables: most dry runs know of no runs but published ones, and loading pandas would take longer than all this.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import inf, isnan, nan
from statistics import median
from typing import Any

from scripts.costs import billing

SECONDS_PER_HOUR = billing.SECONDS_PER_HOUR

#: Seconds of a run's process that are not training, where no run of the framework is known, published or not.
START_SECONDS = 60.0

#: From the request of a machine of a cloud until its run begins (boot, driver, image), where no earlier run shows it.
BOOT_SECONDS = 180.0

#: What a machine may cost beside what the run may take: its start, and the time until one that hangs is ended.
MARGIN_SECONDS = 900.0

#: Machines that a run on a cluster may lose, and one that ends it: what the profiles allow.
ATTEMPTS = 6

#: Share of a GPU's peak that a training is taken to reach where nothing else is known.
UTILISATION = 0.2

#: On what an expectation is based, the best first.
EARLIER, PUBLISHED, ANOTHER, SPEED, FEWER, ARTICLE, UNKNOWN = BASES = (
    "earlier runs",
    "published throughput",
    "published throughput of another card",
    "the machine's speed",
    "published runs on as many cores or fewer",
    "published throughput of as many cores or fewer",
    "nothing: the most it may take",
)


@dataclass(frozen=True)
class Wanted:
    """A run that is to be trained: its folder and cell, the samples it takes in all, and how long it may take (s)."""

    folder: str
    workload: str
    hardware: str
    framework: str
    batch_size: int | None
    mode: str
    precision: str
    devices: int
    cores: int
    samples: float
    most_seconds: float


@dataclass(frozen=True)
class Expected:
    """The life of a run's process (s), and on what that is based: nothing, where it is the most that it may take."""

    seconds: float
    basis: str

    @property
    def is_known(self) -> bool:
        """Whether anything is known of how long it will take."""
        return self.basis != UNKNOWN


@dataclass(frozen=True)
class Rate:
    """What a machine costs: USD an hour, and how its provider counts time. `attempts` are the most that are paid.

    A run's time is limited over all its attempts; what each machine costs beside it comes every time, of which
    `start_seconds` are expected.
    """

    usd_per_hour: float
    rule: billing.Rule
    attempts: int = 1
    start_seconds: float = 0.0

    def usd(self, seconds: float) -> float:
        billed = billing.billed_seconds(seconds, self.rule.increment_seconds, self.rule.minimum_seconds)
        return float(billed) * self.usd_per_hour / SECONDS_PER_HOUR


@dataclass(frozen=True)
class Priced:
    """A run with what it will take (s) and cost (USD), expected and at worst, with the start of its machine (s)."""

    wanted: Wanted
    expected: Expected
    expected_usd: float
    worst_usd: float
    start_seconds: float = 0.0


@dataclass(frozen=True)
class Known:
    """What shows how long runs take.

    Args:
        runs: the rows of the `runs` table of the study so far, with the keys `COLUMNS`, None for what is not known.
        published: (workload, hardware) -> samples/s in a published study.
        published_runs: the same of published studies of ours.
        peak_flops: (hardware, precision) -> FLOP/s of the machine at most.
        by_cores: (workload, vCPUs) -> samples/s of a machine without a GPU in a published study.
    """

    runs: Sequence[Mapping[str, Any]]
    published: Mapping[tuple[str, str], float]
    published_runs: Sequence[Mapping[str, Any]]
    peak_flops: Mapping[tuple[str, str], float]
    by_cores: Mapping[tuple[str, int], float]

    # All rows are gone through once, not for every run that is asked for.

    @cached_property
    def own(self) -> dict[tuple[Any, ...], float]:
        """Samples/s of what `_ALIKE` names on a machine (its name), and of each of its batch sizes (name, size)."""
        measured = _with_throughput(self.runs)
        on_machine = [*_ALIKE, "hardware"]
        return _medians(measured, on_machine) | _medians(measured, [*on_machine, "batch_size"])

    @cached_property
    def ours(self) -> dict[tuple[Any, ...], dict[int, float]]:
        """Samples/s of published runs without a GPU by cores: of what `_ALIKE` names, and of each batch size."""
        measured = [run for run in _with_throughput(self.published_runs) if run["gpu_model"] is None]
        found: dict[tuple[Any, ...], dict[int, float]] = {}
        for by in ([*_ALIKE, "cores"], [*_ALIKE, "batch_size", "cores"]):
            for (*alike, cores), rate in _medians(measured, by).items():
                found.setdefault(tuple(alike), {})[int(cores)] = rate
        return found

    @cached_property
    def flops(self) -> dict[str, float]:
        """FLOP a sample of each workload that any run records."""
        counted = [run for run in (*self.runs, *self.published_runs) if run["flops_per_sample"] is not None]
        return {name: rate for (name,), rate in _medians(counted, ["workload"], "flops_per_sample").items()}

    @cached_property
    def starts(self) -> dict[str, float]:
        """What a run of each framework takes beside its training (s): the study's own, else published ones."""

        def beside(runs: Iterable[Mapping[str, Any]]) -> dict[str, float]:
            rest = [
                {"framework": run["framework"], "seconds": run["total_seconds"] - run["train_seconds"]}
                for run in runs
                if run["status"] == "done" and None not in (run["total_seconds"], run["train_seconds"])
            ]
            return {name: seconds for (name,), seconds in _medians(rest, ["framework"], "seconds").items()}

        return beside(self.published_runs) | beside(self.runs)


#: In what runs agree whose cells differ in machine and batch size alone.
_ALIKE = ["workload", "framework", "mode", "precision", "devices"]


#: What `Known` wants to know of a run: columns of the `runs` table, and their types.
COLUMNS = (
    dict.fromkeys((*_ALIKE, "hardware", "gpu_model", "status"), str)
    | dict.fromkeys(("devices", "batch_size", "cores"), int)
    | dict.fromkeys(("samples_per_second", "flops_per_sample", "train_seconds", "total_seconds"), float)
)


def _with_throughput(runs: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    return [run for run in runs if run["status"] == "done" and run["samples_per_second"] is not None]


def _medians(
    runs: Iterable[Mapping[str, Any]], by: Sequence[str], key: str = "samples_per_second"
) -> dict[tuple[Any, ...], float]:
    found: dict[tuple[Any, ...], list[float]] = {}
    for run in runs:
        found.setdefault(tuple(run[name] for name in by), []).append(run[key])
    return {group: median(values) for group, values in found.items() if None not in group}


def expect(wanted: Wanted, known: Known) -> Expected:
    """Return how long a run will take: never more than what it may take at most."""
    rate, basis = _rate(wanted, known)
    if rate is None:
        return Expected(wanted.most_seconds, basis)
    start = known.starts.get(wanted.framework, START_SECONDS)
    return Expected(min(wanted.most_seconds, start + wanted.samples / rate), basis)


def _rate(wanted: Wanted, known: Known) -> tuple[float | None, str]:
    """Return samples/s, None if nothing shows them, and what showed them."""
    if not wanted.samples:
        return None, UNKNOWN
    alike = tuple(getattr(wanted, name) for name in _ALIKE)
    size = () if wanted.batch_size is None else (wanted.batch_size,)
    if earlier := known.own.get((*alike, wanted.hardware, *size)):
        return earlier, EARLIER
    if rate := known.published.get((wanted.workload, wanted.hardware)):
        return rate, PUBLISHED
    if peak := known.peak_flops.get((wanted.hardware, wanted.precision)):
        if cards := _other_cards(wanted, known, peak):
            return median(cards), ANOTHER
        if flops := known.flops.get(wanted.workload):
            return UTILISATION * peak * wanted.devices / flops, SPEED
    for of in ((*alike, *size), alike):
        fewer = {cores: rate for cores, rate in known.ours.get(of, {}).items() if cores <= wanted.cores}
        if fewer:
            return fewer[max(fewer)], FEWER
    measured = [cores for workload, cores in known.by_cores if workload == wanted.workload and cores <= wanted.cores]
    if measured:
        return known.by_cores[wanted.workload, max(measured)], ARTICLE
    return None, UNKNOWN


def _other_cards(wanted: Wanted, known: Known, peak: float) -> list[float]:
    """Return samples/s that other cards were published with, less where this one's peak is lower, never more.

    What small models take does not follow from the peak: a faster card is sure to be no slower, and no more.
    """
    return [
        rate * min(1.0, peak / known.peak_flops[other, "float32"])
        for (workload, other), rate in known.published.items()
        if workload == wanted.workload and (other, "float32") in known.peak_flops
    ]


def price(
    wanted: Iterable[Wanted],
    expected: Iterable[Expected],
    rates: Mapping[str, Rate],
) -> list[Priced]:
    """Return the runs with their costs, those of the cheapest machines first; NaN where a machine has no price."""
    found = []
    for run, length in zip(wanted, expected, strict=True):
        rate = rates.get(run.hardware)
        start = rate.start_seconds if rate else 0.0
        usd = rate.usd(length.seconds + start) if rate else nan
        worst = rate.usd(run.most_seconds) + rate.attempts * rate.usd(MARGIN_SECONDS) if rate else nan
        found.append(Priced(run, length, usd, worst, start))
    hourly = {name: rate.usd_per_hour for name, rate in rates.items()}
    return sorted(found, key=lambda one: (hourly.get(one.wanted.hardware, inf), one.expected_usd))


def within(priced: Sequence[Priced], budget_usd: float, spent_usd: float) -> tuple[list[Priced], list[Priced]]:
    """Return the runs that can be submitted without passing the budget at worst, in their order, and the others.

    A run without a price is not submitted under a budget: what it costs is unknown.
    """
    left, allowed, refused = budget_usd - spent_usd, [], []
    for one in priced:
        if one.worst_usd <= left:
            left -= one.worst_usd
            allowed.append(one)
        else:
            refused.append(one)
    return allowed, refused


@dataclass(frozen=True)
class Quoted:
    """What the runs on a machine will take (its hours) and cost (USD, NaN without a price), and on what that is based.

    `hours` and `expected_usd` are of the runs of which something is known. The others are apart: `unknown` counts them,
    and `unknown_hours` is the most that they may take. `worst_usd` is of both. Of all machines, the sum is of those
    that have a price; `basis` counts the runs of the others.
    """

    hardware: str
    runs: int
    hours: float
    expected_usd: float
    worst_usd: float
    unknown: int
    unknown_hours: float
    basis: str


def quote(priced: Sequence[Priced]) -> list[Quoted]:
    """Return what the runs of each machine will take and cost, in order of appearance, and at last of all of them."""
    machines: dict[str, list[Priced]] = {}
    for one in priced:
        machines.setdefault(one.wanted.hardware, []).append(one)
    return [_quoted(name, of_it) for name, of_it in [*machines.items(), ("all", priced)]]


def _quoted(name: str, priced: Sequence[Priced]) -> Quoted:
    known = [one for one in priced if one.expected.is_known]
    unknown = [one.expected.seconds for one in priced if not one.expected.is_known]
    based = Counter(one.expected.basis for one in known)
    paid = [one for one in priced if not isnan(one.worst_usd)]
    expected = [one.expected_usd for one in known if not isnan(one.expected_usd)]
    bases = [f"{based[basis]} by {basis}" for basis in BASES if basis in based]
    if paid and len(paid) < len(priced):
        bases.append(f"{len(priced) - len(paid)} without a price, not in the sum")
    return Quoted(
        name,
        len(priced),
        sum(one.expected.seconds + one.start_seconds for one in known) / SECONDS_PER_HOUR,
        sum(expected) if expected else nan,
        sum(one.worst_usd for one in paid) if paid else nan,
        len(unknown),
        sum(unknown) / SECONDS_PER_HOUR,
        "; ".join(bases),
    )
