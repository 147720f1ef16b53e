"""What a grid will cost before it runs, expected and at worst, by what is known of its cells; what a budget allows."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
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
EARLIER, PUBLISHED, ANOTHER, SPEED, FEWER, UNKNOWN = BASES = (
    "earlier runs",
    "published throughput",
    "published throughput of another card",
    "the machine's speed",
    "published runs on as many cores or fewer",
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
    """

    runs: pd.DataFrame
    published: Mapping[tuple[str, str], float]
    published_runs: pd.DataFrame
    peak_flops: Mapping[tuple[str, str], float]


def expect(wanted: Wanted, known: Known) -> Expected:
    """Return how long a run will take: never more than what it may take at most."""
    rate, basis = _rate(wanted, known)
    if rate is None:
        return Expected(wanted.most_seconds, basis)
    return Expected(min(wanted.most_seconds, _start_seconds(wanted, known.runs) + wanted.samples / rate), basis)


def _rate(wanted: Wanted, known: Known) -> tuple[float | None, str]:
    """Return samples/s, None if nothing tells them, and what told them."""
    if not wanted.samples:
        return None, UNKNOWN
    runs = _alike(known.runs, wanted)
    runs = runs[runs["hardware"].eq(wanted.hardware)]
    if wanted.batch_size is not None:
        runs = runs[runs["batch_size"].eq(wanted.batch_size)]
    if len(runs):
        return float(runs["samples_per_second"].median()), EARLIER
    if rate := known.published.get((wanted.workload, wanted.hardware)):
        return rate, PUBLISHED
    if peak := known.peak_flops.get((wanted.hardware, wanted.precision)):
        if cards := _other_cards(wanted, known, peak):
            return float(np.median(cards)), ANOTHER
        counted = pd.concat([known.runs, known.published_runs])
        flops = counted.loc[counted["workload"].eq(wanted.workload), "flops_per_sample"].dropna()
        if len(flops):
            return UTILISATION * peak * wanted.devices / float(flops.median()), SPEED
    fewer = _alike(known.published_runs, wanted)
    fewer = fewer[fewer["gpu_model"].isna() & fewer["cores"].le(wanted.cores)]
    if len(fewer):
        most = fewer[fewer["cores"].eq(fewer["cores"].max())]
        return float(most["samples_per_second"].median()), FEWER
    return None, UNKNOWN


def _alike(runs: pd.DataFrame, wanted: Wanted) -> pd.DataFrame:
    """Return the runs with a throughput whose cells differ from that of `wanted` in machine and batch size alone."""
    same = runs["status"].eq("done") & runs["samples_per_second"].notna()
    for name in ("workload", "framework", "mode", "precision", "devices"):
        same &= runs[name].eq(getattr(wanted, name))
    return runs[same]


def _other_cards(wanted: Wanted, known: Known, peak: float) -> list[float]:
    """Return samples/s that other cards were published with, less where this one's peak is lower, never more.

    What small models take is not told by the peak: a faster card is sure to be no slower, and no more.
    """
    return [
        rate * min(1.0, peak / known.peak_flops[other, "float32"])
        for (workload, other), rate in known.published.items()
        if workload == wanted.workload and (other, "float32") in known.peak_flops
    ]


def _start_seconds(wanted: Wanted, runs: pd.DataFrame) -> float:
    """Return what a run of the framework takes beside its training."""
    done = runs[runs["status"].eq("done") & runs["framework"].eq(wanted.framework)]
    beside = (done["total_seconds"] - done["train_seconds"]).dropna()
    return float(beside.median()) if len(beside) else START_SECONDS


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
        runs, attempts: the tables; a run without attempts was one, of its process's life.
        prices: rows of `prices.price_table` under one price option; usd is NaN where a machine has none.
    """
    tries = attempts[["run", "used_seconds"]].merge(runs[["run", "hardware"]], on="run")
    single = runs.loc[~runs["run"].isin(tries["run"]), ["run", "hardware", "total_seconds"]]
    each = pd.concat([tries, single.rename(columns={"total_seconds": "used_seconds"})], ignore_index=True)
    each["used_seconds"] = each["used_seconds"].astype(float)
    each = each.merge(
        prices[["hardware", "usd_per_hour", "increment_seconds", "minimum_seconds"]], on="hardware", how="left"
    )
    known = each["usd_per_hour"].notna()
    billed = billing.billed_seconds(
        each["used_seconds"].to_numpy(),
        each["increment_seconds"].where(known, 1.0).to_numpy(dtype=float),
        each["minimum_seconds"].where(known, 0.0).to_numpy(dtype=float),
    )
    each["usd"] = billing.cost_usd(billed, each["usd_per_hour"].astype(float))
    return each.groupby(["run", "hardware"], sort=False, as_index=False)[["used_seconds", "usd"]].agg(_sum)
