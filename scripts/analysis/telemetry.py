"""What the samples of a run's telemetry come to: means, peaks, energy of the timed region."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from math import inf
from statistics import fmean
from typing import Any

from scripts.records.samples import NOT_THROTTLED, Sample, peak_memory_mib

#: The stage of a run that is timed, and what its first step is then counted as.
TIMED, BEFORE = "train", "first step"


def _union(throttled: Sequence[str]) -> str:
    reasons = {reason for one in throttled for reason in one.split("+")} - {NOT_THROTTLED}
    return "+".join(sorted(reasons)) or NOT_THROTTLED


#: How the values of several GPUs become one, where it is not their mean.
_TOTALS: dict[str, Callable[[list[Any]], Any]] = {
    "memory_mib": sum,
    "power_watts": sum,
    "temperature_c": max,
    "throttled": _union,
    "energy_joules": sum,
}


def total(sample: Sample, name: str) -> Any:
    """Return a value (a field of `Gpu`) of all GPUs together, None where there are none or one does not report it."""
    values = [getattr(gpu, name) for gpu in sample.gpus]
    return _TOTALS.get(name, fmean)(values) if values and None not in values else None


def summary(samples: Sequence[Sample], since: float = -inf) -> dict[str, float | int | str | None]:
    """Return what the machine did in the timed region, from the reading `since` (s) on; None for what was not read.

    Means, but for `peak_` (memory of the run: over its whole life, of the GPUs: with the first step) and
    `gpu_temperature_c` (highest).
    `gpu_percent_lowest` is the mean of the GPU that did least, `gpu_throttle_percent` the share of samples
    with a throttled GPU, `gpu_throttle_reasons` why. `energy_joules` is that of the GPUs, or of the processors
    for a run without GPUs, over the `energy_seconds` between the first and the last of `energy_samples`
    readings; `energy_source` is `nvml counter`, `power integral` (trapezoids) or `rapl`.
    """
    # Neither trace nor compilation is what a GPU is rented for.
    samples = [replace(one, stage=BEFORE) if one.stage == TIMED and one.reading < since else one for one in samples]
    timed = [sample for sample in samples if sample.stage == TIMED]
    # CPU use is that since the sample before.
    within = [after for before, after in pairwise(samples) if before.stage == after.stage == TIMED]
    trained = [one for one in samples if one.stage in (TIMED, BEFORE)]
    gpus = len(samples[0].gpus) if samples else 0

    def known(name: str) -> list[Any]:
        return [value for sample in timed if (value := total(sample, name)) is not None]

    # The kernel's clock and ours are not read at one moment: on a machine that is full all the time a part is above 1.
    waits = [min(waited, 100.0) for one in within if (waited := one.cpu_pressure_percent) is not None]
    each_gpu = [[use for sample in timed if (use := sample.gpus[i].percent) is not None] for i in range(gpus)]
    throttled = known("throttled")
    return {
        "samples": len(timed),
        "cpu_percent": _mean([sample.cpu_percent for sample in within]),
        "machine_cpu_percent": _mean([sample.machine_cpu_percent for sample in within]),
        "other_cpu_percent": max(0.0, fmean(sample.other_cpu_percent for sample in within)) if within else None,
        "cpu_pressure_percent": _mean(waits),
        "peak_memory_mib": peak_memory_mib(samples, None),
        "gpu_percent": _mean(known("percent")),
        "gpu_percent_lowest": min((fmean(use) for use in each_gpu if use), default=None),
        "peak_gpu_memory_mib": max((m for one in trained if (m := total(one, "memory_mib")) is not None), default=None),
        "gpu_power_watts": _mean(known("power_watts")),
        "gpu_clock_mhz": _mean(known("clock_mhz")),
        "gpu_temperature_c": max(known("temperature_c"), default=None),
        "gpu_throttle_percent": _mean([100.0 * (reasons != NOT_THROTTLED) for reasons in throttled]),
        "gpu_throttle_reasons": _union(throttled) if throttled else None,
        **_energy(samples, gpus),
    }


def _mean(values: Sequence[float]) -> float | None:
    return fmean(values) if values else None


def _energy(samples: Sequence[Sample], gpus: int) -> dict[str, float | int | str | None]:
    """Return joules, source, seconds and samples from the best source that reported something twice."""
    if gpus:
        sources = {
            "nvml counter": [[sample.gpus[i].energy_joules for sample in samples] for i in range(gpus)],
            "power integral": [[total(sample, "power_watts") for sample in samples]],
        }
    else:
        sources = {"rapl": [[sample.cpu_energy_joules for sample in samples]]}
    for source, readings in sources.items():
        intervals = [_intervals(samples, values) for values in readings]
        if not all(intervals):
            continue
        if source == "power integral":
            joules = [seconds * (before + after) / 2 for seconds, before, after in intervals[0]]
        else:
            joules = [after - before for one in intervals for _, before, after in one]
            if min(joules) < 0:
                continue  # the counter began anew, and what it had counted by then is lost
        timed = [value for sample, value in zip(samples, readings[0], strict=True) if sample.stage == TIMED]
        return {
            "energy_joules": sum(joules),
            "energy_source": source,
            "energy_seconds": sum(seconds for seconds, _, _ in intervals[0]),
            "energy_samples": sum(value is not None for value in timed),
        }
    return {"energy_joules": None, "energy_source": None, "energy_seconds": None, "energy_samples": 0}


def _intervals(samples: Sequence[Sample], values: Sequence[float | None]) -> list[tuple[float, float, float]]:
    """Return (seconds, value before, value after) of neighbouring readings, both in the timed region."""
    known = [(s, value) for s, value in zip(samples, values, strict=True) if value is not None or s.stage != TIMED]
    return [
        (b.reading - a.reading, before, after)
        for (a, before), (b, after) in pairwise(known)
        if a.stage == b.stage == TIMED and before is not None and after is not None
    ]
