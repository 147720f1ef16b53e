"""Warnings on a run: what makes its figures worth less than they look. A run with warnings is a result still."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from scripts.records.record import TIMED_STEPS, WARMUP_STEPS

#: A GPU that works less waits for something else (milabench's validator of GPU load).
GPU_PERCENT = 50

#: Share of the samples with a throttled GPU: ours, the noise that is called a tie.
THROTTLE_PERCENT = 5

#: Share of the memory: ours. Above, Linux drops caches and swaps, and the next larger batch does not fit.
MEMORY_PERCENT = 90

#: Work of other processes, in percent of one core: ours. On two cores it is the noise that is called a tie, on more
#: cores less; the sampler itself takes a tenth of a percent.
OTHER_CPU_PERCENT = 10

#: Samples of telemetry in a second (MLPerf power_measurement.adoc).
SAMPLES_PER_SECOND = 1

#: Readings of power in an integral (MLPerf power_measurement.adoc).
POWER_SAMPLES = 60

#: How a loop says that a part of it is not what it was to be: without a compiler, or not as one graph.
_NOT_COMPILED = re.compile(r"\bnot compiled\b|while tracing")


#: Of these: what was to be compiled, and could not be.
_FAILED_TO_COMPILE = "not compiled ("

#: What a mode is called in which that happened: such runs are a cell of their own.
NOT_COMPILED = ", not compiled"


def mode_trained(mode: str, settings: Mapping[str, str] | None) -> str:
    """Return how a run was trained: its mode, or that nobody could compile it, by how its parts were run."""
    is_compiled = not any(_FAILED_TO_COMPILE in how for how in (settings or {}).values())
    return mode if is_compiled else f"{mode}{NOT_COMPILED}"


def warnings(
    use: Mapping[str, Any],
    *,
    losses: Sequence[float | None],
    memory_mib: float,
    gpu_memory_mib: float | None,
    timed_seconds: float | None,
    warmup_steps: int | None,
    timed_steps: int | None,
    slept_seconds: float | None = None,
    settings: Mapping[str, str] | None = None,
) -> list[str]:
    """Return one line for each limit that a run is beyond, with its figure and the limit.

    `use` is `telemetry.summary` of the run; `losses` one per epoch (empty where the labels are random);
    `memory_mib` that of the machine and `gpu_memory_mib` that of the run's GPUs together; `timed_seconds` the length
    of the timed region, `slept_seconds` how long the machine slept in the run, `settings` how its parts were run. What
    is None is not known, and not warned of.
    """

    def above(value: float | None, limit: float) -> bool:
        return value is not None and value > limit

    def below(value: float | None, limit: float) -> bool:
        return value is not None and value < limit

    found = []
    if below(lowest := use["gpu_percent_lowest"], GPU_PERCENT):
        found.append(f"GPU idle: used {lowest:.0f} % of the time, limit {GPU_PERCENT} %")
    if above(throttled := use["gpu_throttle_percent"], THROTTLE_PERCENT):
        reasons = use["gpu_throttle_reasons"]
        found.append(f"GPU throttled ({reasons}): {throttled:.0f} % of the samples, limit {THROTTLE_PERCENT} %")
    for name, peak, size in (
        ("memory", use["peak_memory_mib"], memory_mib),
        ("GPU memory", use["peak_gpu_memory_mib"], gpu_memory_mib),
    ):
        if peak is not None and size and above(percent := 100 * peak / size, MEMORY_PERCENT):
            found.append(f"{name} nearly full: {percent:.0f} % of {size:.0f} MiB, limit {MEMORY_PERCENT} %")
    if above(other := use["other_cpu_percent"], OTHER_CPU_PERCENT):
        found.append(f"another process used the machine: {other:.0f} % of a core, limit {OTHER_CPU_PERCENT} %")
    if above(slept_seconds, 0):
        found.append(f"the machine slept: {slept_seconds:.0f} s, which no clock of the run has counted")
    found += [f"{part}: {how}" for part, how in (settings or {}).items() if _NOT_COMPILED.search(how)]
    known = [loss for loss in losses if loss is not None]
    if known and known[-1] > known[0]:
        found.append(f"the loss rises: {known[-1]:.4g} after the last epoch, {known[0]:.4g} after the first")
    if below(warmup_steps, WARMUP_STEPS):
        found.append(f"short warm-up: {warmup_steps} steps, limit {WARMUP_STEPS}")
    if below(timed_steps, TIMED_STEPS):
        found.append(f"short run: {timed_steps} timed steps, limit {TIMED_STEPS}")
    if timed_seconds and use["samples"] < SAMPLES_PER_SECOND * timed_seconds:
        found.append(
            f"little telemetry: {use['samples']} samples in {timed_seconds:.1f} s, limit {SAMPLES_PER_SECOND} a second"
        )
    if use["energy_source"] == "power integral" and below(readings := use["energy_samples"], POWER_SAMPLES):
        found.append(f"energy from few readings of power: {readings}, limit {POWER_SAMPLES}")
    return found
