"""What the machine did while a run trained: samples of CPU, memory, GPUs and energy, taken from outside the run."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, fields, replace
from itertools import pairwise
from math import inf
from pathlib import Path
from statistics import fmean
from time import perf_counter
from typing import Any

import psutil
import pynvml

#: Seconds between samples; MLPerf's power rules ask for one per second or better.
INTERVAL_SECONDS = 0.5

#: The stage of a run that is timed, and what its first step is then counted as.
TIMED, BEFORE = "train", "first step"

#: Where Linux shows the energy counters of processors (RAPL); since 2020 most systems let only root read them.
POWERCAP = Path("/sys/class/powercap")

#: Child processes are looked for once in so many samples; what one did before it was found counts then.
_READINGS_PER_SEARCH = 10

_NOT_THROTTLED = "no"

#: Clocks event reasons that slow a GPU down; idling and clocks that were set are none.
_THROTTLES = {
    "thermal": pynvml.nvmlClocksEventReasonSwThermalSlowdown | pynvml.nvmlClocksEventReasonHwThermalSlowdown,
    "power_cap": pynvml.nvmlClocksEventReasonSwPowerCap,
    "hw_slowdown": pynvml.nvmlClocksEventReasonHwSlowdown,
    "power_brake": pynvml.nvmlClocksEventReasonHwPowerBrakeSlowdown,
}


@dataclass(frozen=True)
class Gpu:
    """What one GPU told at a sample, None for what it does not tell.

    `throttled` is `no` or the reasons, joined by `+`; `energy_joules` counts from when the driver was loaded.
    """

    percent: float | None = None
    memory_mib: float | None = None
    power_watts: float | None = None
    clock_mhz: float | None = None
    temperature_c: float | None = None
    throttled: str | None = None
    energy_joules: float | None = None


@dataclass(frozen=True)
class Sample:
    """One sample at `reading` (s, the clock of `perf_counter`).

    100 % is one core in `cpu_percent` (the run with its children) and `other_cpu_percent` (all else on the
    machine, a difference that noise may take below 0), all cores in `machine_cpu_percent`. `cpu_energy_joules`
    is that of all processors since the first sample, memory and GPUs not counted.
    """

    reading: float
    stage: str
    cpu_percent: float
    memory_mib: float
    machine_cpu_percent: float
    other_cpu_percent: float
    cpu_energy_joules: float | None = None
    gpus: tuple[Gpu, ...] = ()

    def total(self, name: str) -> Any:
        """Return a value of all GPUs together, None where there are none or one does not tell it."""
        values = [getattr(gpu, name) for gpu in self.gpus]
        return _TOTALS[name](values) if values and None not in values else None


def _union(throttled: Sequence[str]) -> str:
    reasons = {reason for one in throttled for reason in one.split("+")} - {_NOT_THROTTLED}
    return "+".join(sorted(reasons)) or _NOT_THROTTLED


#: How the values of several GPUs become one.
_TOTALS: dict[str, Callable[[list], Any]] = {
    "percent": fmean,
    "memory_mib": sum,
    "power_watts": sum,
    "clock_mhz": fmean,
    "temperature_c": max,
    "throttled": _union,
    "energy_joules": sum,
}


class _Processors:
    """The energy counters of the processors, one per socket."""

    def __init__(self) -> None:
        self._ranges: dict[Path, int] = {}
        self._last: dict[Path, int] = {}
        self._microjoules = 0
        try:
            for zone in POWERCAP.glob("intel-rapl:*"):
                # The other zones are parts of a package, or the platform that holds it.
                if (zone / "name").read_text().startswith("package"):
                    self._ranges[zone / "energy_uj"] = int((zone / "max_energy_range_uj").read_text())
        except OSError:
            self._ranges = {}
        self.joules()

    def joules(self) -> float | None:
        """Return the energy since the first call, None where it cannot be read. The counters wrap at their range."""
        try:
            now = {counter: int(counter.read_text()) for counter in self._ranges}
        except OSError:
            return None
        for counter, value in now.items():
            self._microjoules += (value - self._last.get(counter, value)) % self._ranges[counter]
        self._last = now
        return self._microjoules / 1e6 if now else None


class _Run:
    """A process and all that it started: compilers, the ranks of a data-parallel training."""

    def __init__(self, pid: int) -> None:
        self._process = psutil.Process(pid)
        self._children: list[psutil.Process] = []
        self._readings = 0
        self._read = perf_counter()
        self._cpu_seconds, _ = self._told()

    def use(self) -> tuple[float, float]:
        """Return CPU use (% of one core) since the last call and memory (MiB); psutil.Error when it has ended."""
        before, cpu_before = self._read, self._cpu_seconds
        cpu, memory = self._told()
        # Less than before where a child ended while it was read, or lost its parent.
        self._read, self._cpu_seconds = perf_counter(), max(cpu, cpu_before)
        return 100 * (self._cpu_seconds - cpu_before) / (self._read - before), memory / 2**20

    def _told(self) -> tuple[float, int]:
        """Return seconds of CPU so far and bytes of memory, pages of files counted once."""
        with self._process.oneshot():
            # The times of a child that has ended are its parent's `children_*`: none is lost or counted twice.
            cpu, memory = sum(self._process.cpu_times()[:4]), self._process.memory_info().rss
        # To find them, every process of the machine is looked at: a millisecond for a hundred.
        if self._readings % _READINGS_PER_SEARCH == 0:
            self._children = self._process.children(recursive=True)
        self._readings += 1
        for child in self._children:
            with suppress(psutil.Error), child.oneshot():
                cpu += sum(child.cpu_times()[:4])
                told = child.memory_info()
                memory += told.rss - told.shared
        return cpu, memory


class Sampler:
    """Samples a process with its children, the processors and the first `gpus` GPUs, those the run is held to."""

    def __init__(self, pid: int, gpus: int) -> None:
        self._run = _Run(pid)
        psutil.cpu_percent()
        self._cores = psutil.cpu_count() or 1
        self._processors = _Processors()
        self._gpus = []
        if gpus:
            try:
                pynvml.nvmlInit()
                self._gpus = [pynvml.nvmlDeviceGetHandleByIndex(index) for index in range(gpus)]
            except pynvml.NVMLError:
                pass  # no NVIDIA driver: the GPU columns stay empty

    def sample(self, stage: str) -> Sample | None:
        """Return a sample, or None when the process has ended."""
        try:
            cpu, memory = self._run.use()
        except psutil.Error:
            return None
        machine = psutil.cpu_percent()
        return Sample(
            reading=perf_counter(),
            stage=stage,
            cpu_percent=cpu,
            memory_mib=memory,
            machine_cpu_percent=machine,
            other_cpu_percent=machine * self._cores - cpu,
            cpu_energy_joules=self._processors.joules(),
            gpus=tuple(_gpu(handle) for handle in self._gpus),
        )


def _gpu(handle) -> Gpu:
    def told(read: Callable) -> Any:
        try:
            return read(handle)
        except pynvml.NVMLError:
            return None  # cards differ in what they tell

    reasons = told(pynvml.nvmlDeviceGetCurrentClocksEventReasons)
    if reasons is None:  # its name before driver 535
        reasons = told(pynvml.nvmlDeviceGetCurrentClocksThrottleReasons)
    throttled = None
    if reasons is not None:
        throttled = _union([name for name, bits in _THROTTLES.items() if reasons & bits])
    return Gpu(
        percent=told(lambda gpu: pynvml.nvmlDeviceGetUtilizationRates(gpu).gpu),
        memory_mib=told(lambda gpu: pynvml.nvmlDeviceGetMemoryInfo(gpu).used / 2**20),
        power_watts=told(lambda gpu: pynvml.nvmlDeviceGetPowerUsage(gpu) / 1000),
        clock_mhz=told(lambda gpu: pynvml.nvmlDeviceGetClockInfo(gpu, pynvml.NVML_CLOCK_SM)),
        temperature_c=told(lambda gpu: pynvml.nvmlDeviceGetTemperature(gpu, pynvml.NVML_TEMPERATURE_GPU)),
        throttled=throttled,
        energy_joules=told(lambda gpu: pynvml.nvmlDeviceGetTotalEnergyConsumption(gpu) / 1000),
    )


def table(samples: Sequence[Sample], clock: float | None) -> tuple[list[str], list[dict[str, Any]]]:
    """Return columns and rows of `telemetry.csv`: the run, the GPUs together (`gpu_*`), each GPU (`gpu0_*`, ...).

    `elapsed` counts from `clock`, the reading at which the timed region began.
    """
    rows = []
    for sample in samples:
        row = {"elapsed": None if clock is None else round(sample.reading - clock, 3)} | asdict(sample)
        del row["reading"], row["gpus"]
        row |= {f"gpu_{name}": sample.total(name) for name in _TOTALS}
        row |= {f"gpu{i}_{name}": value for i, gpu in enumerate(sample.gpus) for name, value in asdict(gpu).items()}
        rows.append(row)
    own = [field.name for field in fields(Sample) if field.name not in ("reading", "gpus")]
    return list(rows[0]) if rows else ["elapsed", *own, *(f"gpu_{name}" for name in _TOTALS)], rows


def summary(samples: Sequence[Sample], since: float = -inf) -> dict[str, float | int | str | None]:
    """Return what the machine did in the timed region, from the reading `since` on; None for what was not told.

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

    def told(name: str) -> list:
        return [value for sample in timed if (value := sample.total(name)) is not None]

    each_gpu = [[use for sample in timed if (use := sample.gpus[i].percent) is not None] for i in range(gpus)]
    throttled = told("throttled")
    return {
        "samples": len(timed),
        "cpu_percent": _mean([sample.cpu_percent for sample in within]),
        "machine_cpu_percent": _mean([sample.machine_cpu_percent for sample in within]),
        "other_cpu_percent": max(0.0, fmean(sample.other_cpu_percent for sample in within)) if within else None,
        "peak_memory_mib": peak_memory_mib(samples, None),
        "gpu_percent": _mean(told("percent")),
        "gpu_percent_lowest": min((fmean(use) for use in each_gpu if use), default=None),
        "peak_gpu_memory_mib": max((m for one in trained if (m := one.total("memory_mib")) is not None), default=None),
        "gpu_power_watts": _mean(told("power_watts")),
        "gpu_clock_mhz": _mean(told("clock_mhz")),
        "gpu_temperature_c": max(told("temperature_c"), default=None),
        "gpu_throttle_percent": _mean([100.0 * (reasons != _NOT_THROTTLED) for reasons in throttled]),
        "gpu_throttle_reasons": _union(throttled) if throttled else None,
        **_energy(samples, gpus),
    }


def peak_memory_mib(samples: Sequence[Sample], told: float | None) -> float | None:
    """Return the most memory of a run: what its process `told` is exact, the samples see its children too."""
    return max([sample.memory_mib for sample in samples] + ([] if told is None else [told]), default=None)


def _mean(values: Sequence[float]) -> float | None:
    return fmean(values) if values else None


def _energy(samples: Sequence[Sample], gpus: int) -> dict[str, float | int | str | None]:
    """Return joules, source, seconds and samples from the best source that told something twice."""
    if gpus:
        sources = {
            "nvml counter": [[sample.gpus[i].energy_joules for sample in samples] for i in range(gpus)],
            "power integral": [[sample.total("power_watts") for sample in samples]],
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
    told = [(s, value) for s, value in zip(samples, values, strict=True) if value is not None or s.stage != TIMED]
    return [
        (b.reading - a.reading, before, after)
        for (a, before), (b, after) in pairwise(told)
        if a.stage == b.stage == TIMED and before is not None and after is not None
    ]
