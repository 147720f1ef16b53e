"""What a grid will cost before it runs, expected and at worst, by what is known of its cells; what a budget allows."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from scripts.costs import billing

SECONDS_PER_HOUR = billing.SECONDS_PER_HOUR

#: Seconds of a run's process that are not training, where no run of the framework is known: imports and a compilation.
START_SECONDS = 60.0

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
    """The life of a run's process (s), and on what that is based."""

    seconds: float
    basis: str


@dataclass(frozen=True)
class Rate:
    """What a machine costs: USD an hour, and how its provider counts time. `attempts` are the most that are paid.

    A run's time is limited over all its attempts; what each machine costs beside it comes every time.
    """

    usd_per_hour: float
    rule: billing.Rule
    attempts: int = 1

    def usd(self, seconds: float) -> float:
        billed = billing.billed_seconds(seconds, self.rule.increment_seconds, self.rule.minimum_seconds)
        return float(billed) * self.usd_per_hour / SECONDS_PER_HOUR


@dataclass(frozen=True)
class Priced:
    """A run with what it will take (s) and cost (USD), expected and at worst."""

    wanted: Wanted
    expected: Expected
    expected_usd: float
    worst_usd: float


@dataclass(frozen=True)
class Known:
    """What tells how long runs take.

    Args:
        runs: the `runs` table of the study so far.
        published: (workload, hardware) -> samples/s in a published study.
        published_runs: the `runs` tables of published studies of ours.
        peak_flops: (hardware, precision) -> FLOP/s of the machine at most.
        by_cores: (workload, vCPUs) -> samples/s of a machine without a GPU in a published study.
    """

    runs: pd.DataFrame
    published: Mapping[tuple[str, str], float]
    published_runs: pd.DataFrame
    peak_flops: Mapping[tuple[str, str], float]
    by_cores: Mapping[tuple[str, int], float]

    # Each frame is gone through once, not for every run that is asked for.

    @cached_property
    def own(self) -> dict[tuple[Any, ...], float]:
        """Samples/s of what `_ALIKE` names on a machine (its name), and of each of its batch sizes (name, size)."""
        told = _with_throughput(self.runs)
        on_machine = [*_ALIKE, "hardware"]
        return _medians(told, on_machine) | _medians(told, [*on_machine, "batch_size"])

    @cached_property
    def ours(self) -> dict[tuple[Any, ...], dict[int, float]]:
        """Samples/s of published runs without a GPU of what `_ALIKE` names, by cores."""
        told = _with_throughput(self.published_runs)
        found: dict[tuple[Any, ...], dict[int, float]] = {}
        for (*alike, cores), rate in _medians(told[told["gpu_model"].isna()], [*_ALIKE, "cores"]).items():
            found.setdefault(tuple(alike), {})[int(cores)] = rate
        return found

    @cached_property
    def flops(self) -> dict[str, float]:
        """FLOP a sample of each workload that any run tells."""
        counted = pd.concat([self.runs, self.published_runs]).dropna(subset="flops_per_sample")
        return {str(name): float(flops.median()) for name, flops in counted.groupby("workload")["flops_per_sample"]}

    @cached_property
    def starts(self) -> dict[str, float]:
        """What a run of each framework takes beside its training (s)."""
        done = self.runs[self.runs["status"].eq("done")]
        beside = (done["total_seconds"] - done["train_seconds"]).astype(float).dropna()
        return {str(name): float(rest.median()) for name, rest in beside.groupby(done["framework"])}


#: In what runs agree whose cells differ in machine and batch size alone.
_ALIKE = ["workload", "framework", "mode", "precision", "devices"]


def _with_throughput(runs: pd.DataFrame) -> pd.DataFrame:
    return runs[runs["status"].eq("done") & runs["samples_per_second"].notna()]


def _medians(runs: pd.DataFrame, by: list[str]) -> dict[tuple[Any, ...], float]:
    medians = runs.groupby(by)["samples_per_second"].median()
    return {key: float(rate) for key, rate in medians.items()}  # type: ignore[misc]


def expect(wanted: Wanted, known: Known) -> Expected:
    """Return how long a run will take: never more than what it may take at most."""
    rate, basis = _rate(wanted, known)
    if rate is None:
        return Expected(wanted.most_seconds, basis)
    start = known.starts.get(wanted.framework, START_SECONDS)
    return Expected(min(wanted.most_seconds, start + wanted.samples / rate), basis)


def _rate(wanted: Wanted, known: Known) -> tuple[float | None, str]:
    """Return samples/s, None if nothing tells them, and what told them."""
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
            return float(np.median(cards)), ANOTHER
        if flops := known.flops.get(wanted.workload):
            return UTILISATION * peak * wanted.devices / flops, SPEED
    fewer = {cores: rate for cores, rate in known.ours.get(alike, {}).items() if cores <= wanted.cores}
    if fewer:
        return fewer[max(fewer)], FEWER
    measured = [cores for workload, cores in known.by_cores if workload == wanted.workload and cores <= wanted.cores]
    if measured:
        return known.by_cores[wanted.workload, max(measured)], ARTICLE
    return None, UNKNOWN


def _other_cards(wanted: Wanted, known: Known, peak: float) -> list[float]:
    """Return samples/s that other cards were published with, less where this one's peak is lower, never more.

    What small models take is not told by the peak: a faster card is sure to be no slower, and no more.
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
    for run, told in zip(wanted, expected, strict=True):
        rate = rates.get(run.hardware)
        usd = rate.usd(told.seconds) if rate else np.nan
        worst = rate.usd(run.most_seconds) + rate.attempts * rate.usd(MARGIN_SECONDS) if rate else np.nan
        found.append(Priced(run, told, usd, worst))
    hourly = {name: rate.usd_per_hour for name, rate in rates.items()}
    return sorted(found, key=lambda one: (hourly.get(one.wanted.hardware, np.inf), one.expected_usd))


def within(priced: Sequence[Priced], budget_usd: float, spent_usd: float) -> tuple[list[Priced], list[Priced]]:
    """Return the runs that can be submitted without passing the budget at worst, in their order, and the others.

    A run without a price is not submitted under a budget: what it costs cannot be told.
    """
    left, allowed, refused = budget_usd - spent_usd, [], []
    for one in priced:
        if one.worst_usd <= left:
            left -= one.worst_usd
            allowed.append(one)
        else:
            refused.append(one)
    return allowed, refused


def quote(priced: Sequence[Priced]) -> pd.DataFrame:
    """Return one row per machine, and one for all: runs, hours, expected_usd, worst_usd, and what that is based on."""
    rows = [
        {
            "hardware": one.wanted.hardware,
            "runs": 1,
            "hours": one.expected.seconds / SECONDS_PER_HOUR,
            "expected_usd": one.expected_usd,
            "worst_usd": one.worst_usd,
            "basis": one.expected.basis,
        }
        for one in priced
    ]
    frame = pd.DataFrame(rows, columns=["hardware", "runs", "hours", "expected_usd", "worst_usd", "basis"])
    summed: dict[str, Any] = {"runs": "sum", "hours": "sum", "expected_usd": _sum, "worst_usd": _sum, "basis": _bases}
    table = frame.groupby("hardware", sort=False, as_index=False).agg(summed)
    total = frame.assign(hardware="all").groupby("hardware", as_index=False).agg(summed)
    return pd.concat([table, total], ignore_index=True)


def _sum(values: pd.Series) -> float:
    return float(values.sum(skipna=False))


def _bases(values: pd.Series) -> str:
    counts = values.value_counts(sort=False)
    return "; ".join(f"{counts[basis]} by {basis}" for basis in BASES if basis in counts)


def spent(runs: pd.DataFrame, attempts: pd.DataFrame, prices: pd.DataFrame) -> pd.DataFrame:
    """Return what runs took and cost whatever became of them: run, hardware, used_seconds, usd.

    Args:
        runs, attempts: the tables; a run without attempts was one, of its process's life. Where a cluster tells, usd
            holds what an attempt's machine took until it began.
        prices: rows of `prices.price_table` under one price option; usd is NaN where a machine has none.
    """
    tries = attempts[["run", "used_seconds"]].assign(before=attempts[["boot_seconds", "wait_seconds"]].sum(axis=1))
    tries = tries.merge(runs[["run", "hardware"]], on="run")
    single = runs.loc[~runs["run"].isin(tries["run"]), ["run", "hardware", "total_seconds"]]
    each = pd.concat([tries, single.rename(columns={"total_seconds": "used_seconds"})], ignore_index=True)
    each = each.astype({"used_seconds": float, "before": float}).fillna({"before": 0.0})
    each = each.merge(
        prices[["hardware", "usd_per_hour", "increment_seconds", "minimum_seconds"]], on="hardware", how="left"
    )
    known = each["usd_per_hour"].notna()
    billed = billing.billed_seconds(
        (each["used_seconds"] + each["before"]).to_numpy(),
        each["increment_seconds"].where(known, 1.0).to_numpy(dtype=float),
        each["minimum_seconds"].where(known, 0.0).to_numpy(dtype=float),
    )
    each["usd"] = billing.cost_usd(billed, each["usd_per_hour"].astype(float))
    return each.groupby(["run", "hardware"], sort=False, as_index=False)[["used_seconds", "usd"]].agg(_sum)
