"""What the machine did while a run trained: samples of CPU, memory and GPU, taken from outside the run."""

from dataclasses import dataclass
from statistics import fmean
from time import perf_counter

import psutil
import pynvml

#: Seconds between samples; MLPerf's power rules ask for one per second or better.
INTERVAL_SECONDS = 0.5

#: Columns of `telemetry.csv`; the GPU's are empty where there is none.
COLUMNS = (
    "elapsed",
    "stage",
    "cpu_percent",
    "memory_mib",
    "machine_cpu_percent",
    "gpu_percent",
    "gpu_memory_mib",
    "gpu_power_watts",
)


@dataclass(frozen=True)
class Sample:
    """One sample at `reading` (s, the clock of `perf_counter`); 100 % is one core, or all GPUs."""

    reading: float
    stage: str
    cpu_percent: float
    memory_mib: float
    machine_cpu_percent: float
    gpu_percent: float | None
    gpu_memory_mib: float | None
    gpu_power_watts: float | None


class Sampler:
    """Samples one process and the machine's GPUs."""

    def __init__(self, pid: int) -> None:
        self._process = psutil.Process(pid)
        self._process.cpu_percent()
        psutil.cpu_percent()
        self._gpus = []
        try:
            pynvml.nvmlInit()
            self._gpus = [pynvml.nvmlDeviceGetHandleByIndex(i) for i in range(pynvml.nvmlDeviceGetCount())]
        except pynvml.NVMLError:
            pass  # no NVIDIA driver: the GPU columns stay empty

    def sample(self, stage: str) -> Sample | None:
        """Return a sample, or None when the process has ended."""
        try:
            with self._process.oneshot():
                cpu = self._process.cpu_percent()
                memory = self._process.memory_info().rss / 2**20
        except psutil.Error:
            return None
        return Sample(
            reading=perf_counter(),
            stage=stage,
            cpu_percent=cpu,
            memory_mib=memory,
            machine_cpu_percent=psutil.cpu_percent(),
            gpu_percent=self._mean(lambda gpu: pynvml.nvmlDeviceGetUtilizationRates(gpu).gpu),
            gpu_memory_mib=self._sum(lambda gpu: pynvml.nvmlDeviceGetMemoryInfo(gpu).used / 2**20),
            gpu_power_watts=self._sum(lambda gpu: pynvml.nvmlDeviceGetPowerUsage(gpu) / 1000),
        )

    def _values(self, read) -> list[float]:
        try:
            return [read(gpu) for gpu in self._gpus]
        except pynvml.NVMLError:
            return []  # some cards do not tell their power

    def _mean(self, read) -> float | None:
        values = self._values(read)
        return fmean(values) if values else None

    def _sum(self, read) -> float | None:
        values = self._values(read)
        return sum(values) if values else None


def summary(samples: list[Sample]) -> dict[str, float | int | None]:
    """Return mean use and peak memory over the samples of the timed region (stage `train`)."""
    timed = [sample for sample in samples if sample.stage == "train"]

    def mean(name: str) -> float | None:
        values = [getattr(sample, name) for sample in timed if getattr(sample, name) is not None]
        return fmean(values) if values else None

    def peak(name: str, of: list[Sample]) -> float | None:
        values = [getattr(sample, name) for sample in of if getattr(sample, name) is not None]
        return max(values) if values else None

    return {
        "samples": len(timed),
        "cpu_percent": mean("cpu_percent"),
        "machine_cpu_percent": mean("machine_cpu_percent"),
        "peak_memory_mib": peak("memory_mib", samples),
        "gpu_percent": mean("gpu_percent"),
        "peak_gpu_memory_mib": peak("gpu_memory_mib", samples),
        "gpu_power_watts": mean("gpu_power_watts"),
    }
