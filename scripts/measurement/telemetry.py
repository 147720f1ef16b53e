"""What the machine did while a run trained: samples of CPU, memory, GPUs and energy, taken from outside the run."""

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import psutil
import pynvml

from scripts.records.samples import NOT_THROTTLED, Gpu, Sample

#: Seconds between samples; MLPerf's power rules ask for one per second or better.
INTERVAL_SECONDS = 0.5

#: Where Linux shows the energy counters of processors (RAPL); since 2020 most systems let only root read them.
POWERCAP = Path("/sys/class/powercap")

#: Where Linux counts how long tasks waited for a CPU (pressure stall information; not built into every kernel).
PRESSURE = Path("/proc/pressure/cpu")

#: Child processes are looked for once in so many samples; what one did before it was found counts then.
_READINGS_PER_SEARCH = 10

#: Clocks event reasons that slow a GPU down; idling and clocks that were set are none.
_THROTTLES = {
    "thermal": pynvml.nvmlClocksEventReasonSwThermalSlowdown | pynvml.nvmlClocksEventReasonHwThermalSlowdown,
    "power_cap": pynvml.nvmlClocksEventReasonSwPowerCap,
    "hw_slowdown": pynvml.nvmlClocksEventReasonHwSlowdown,
    "power_brake": pynvml.nvmlClocksEventReasonHwPowerBrakeSlowdown,
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


class _Pressure:
    """The kernel's count of the time in which a task waited for a CPU."""

    def __init__(self) -> None:
        self._read, self._last = perf_counter(), self._waited()

    def percent(self) -> float | None:
        """Return the part of the time since the last call, None where the kernel does not report it."""
        read, waited = perf_counter(), self._waited()
        since, before = self._read, self._last
        self._read, self._last = read, waited
        return None if waited is None or before is None else 100 * (waited - before) / (read - since)

    @staticmethod
    def _waited() -> float | None:
        """Return the seconds so far: `some avg10=0.00 avg60=0.00 avg300=0.00 total=<microseconds>`."""
        try:
            return int(PRESSURE.read_text().splitlines()[0].rpartition("total=")[2]) / 1e6
        except (OSError, ValueError, IndexError):
            return None


def cpu_seconds() -> float:
    """Return the CPU time (s, user and system) of this process, all its threads and the processes that it started."""
    children = 0.0
    for child in psutil.Process().children(recursive=True):
        with suppress(psutil.Error):
            children += sum(child.cpu_times()[:2])
    return process_time() + children


class _Run:
    """A process and all that it started: compilers, the ranks of a data-parallel training."""

    def __init__(self, pid: int) -> None:
        self._process = psutil.Process(pid)
        self._children: list[psutil.Process] = []
        self._readings = 0
        self._read = perf_counter()
        self._cpu_seconds, _ = self._totals()

    def use(self) -> tuple[float, float]:
        """Return CPU use (% of one core) since the last call and memory (MiB); psutil.Error when it has ended."""
        before, cpu_before = self._read, self._cpu_seconds
        cpu, memory = self._totals()
        # Less than before where a child ended while it was read, or lost its parent.
        self._read, self._cpu_seconds = perf_counter(), max(cpu, cpu_before)
        return 100 * (self._cpu_seconds - cpu_before) / (self._read - before), memory / 2**20

    def _totals(self) -> tuple[float, int]:
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
                used = child.memory_info()
                memory += used.rss - used.shared
        return cpu, memory


class Sampler:
    """Samples a process with its children, the processors and the first `gpus` GPUs, those the run is held to."""

    def __init__(self, pid: int, gpus: int) -> None:
        self._run = _Run(pid)
        psutil.cpu_percent()
        self._cores = psutil.cpu_count() or 1
        self._processors = _Processors()
        self._pressure = _Pressure()
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
            cpu_pressure_percent=self._pressure.percent(),
            cpu_energy_joules=self._processors.joules(),
            gpus=tuple(_gpu(handle) for handle in self._gpus),
        )


def _gpu(handle) -> Gpu:
    def reading(read: Callable) -> Any:
        try:
            return read(handle)
        except pynvml.NVMLError:
            return None  # cards differ in what they report

    reasons = reading(pynvml.nvmlDeviceGetCurrentClocksEventReasons)
    if reasons is None:  # its name before driver 535
        reasons = reading(pynvml.nvmlDeviceGetCurrentClocksThrottleReasons)
    throttled = None
    if reasons is not None:
        throttled = "+".join(sorted(name for name, bits in _THROTTLES.items() if reasons & bits)) or NOT_THROTTLED
    return Gpu(
        percent=reading(lambda gpu: pynvml.nvmlDeviceGetUtilizationRates(gpu).gpu),
        memory_mib=reading(lambda gpu: pynvml.nvmlDeviceGetMemoryInfo(gpu).used / 2**20),
        power_watts=reading(lambda gpu: pynvml.nvmlDeviceGetPowerUsage(gpu) / 1000),
        clock_mhz=reading(lambda gpu: pynvml.nvmlDeviceGetClockInfo(gpu, pynvml.NVML_CLOCK_SM)),
        temperature_c=reading(lambda gpu: pynvml.nvmlDeviceGetTemperature(gpu, pynvml.NVML_TEMPERATURE_GPU)),
        throttled=throttled,
        energy_joules=reading(lambda gpu: pynvml.nvmlDeviceGetTotalEnergyConsumption(gpu) / 1000),
    )
