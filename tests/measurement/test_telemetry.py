import os
import subprocess
from types import SimpleNamespace

import pynvml
import pytest

from scripts.measurement import telemetry
from scripts.measurement.telemetry import Sample, Sampler


def sample(stage: str, cpu: float = 100, memory: float = 256, gpu: tuple = (None, None, None)) -> Sample:
    return Sample(0.0, stage, cpu, memory, 50, *gpu)


def no_driver() -> None:
    raise pynvml.NVMLError(pynvml.NVML_ERROR_LIBRARY_NOT_FOUND)


def test_means_are_of_the_timed_region_and_memory_of_the_whole_run() -> None:
    summary = telemetry.summary(
        [
            sample("import", cpu=10, memory=900),
            sample("train", cpu=90, memory=300),
            sample("train", cpu=110, memory=400),
            sample("end", cpu=10),
        ]
    )
    assert (summary["samples"], summary["cpu_percent"], summary["peak_memory_mib"]) == (2, 100, 900)
    assert (summary["gpu_percent"], summary["peak_gpu_memory_mib"], summary["gpu_power_watts"]) == (None, None, None)


def test_only_answers_of_the_cards_count() -> None:
    samples = [sample("train", gpu=(40, 1000, 100)), sample("train", gpu=(80, 3000, None)), sample("train")]
    summary = telemetry.summary(samples)
    assert (summary["gpu_percent"], summary["peak_gpu_memory_mib"], summary["gpu_power_watts"]) == (60, 3000, 100)


def test_run_that_never_trained_has_no_means() -> None:
    summary = telemetry.summary([sample("import", memory=300)])
    assert (summary["samples"], summary["cpu_percent"], summary["peak_memory_mib"]) == (0, None, 300)
    assert telemetry.summary([])["peak_memory_mib"] is None


def test_living_process_is_sampled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pynvml, "nvmlInit", no_driver)
    taken = Sampler(os.getpid()).sample("build")
    assert taken is not None
    assert taken.stage == "build"
    assert taken.memory_mib > 1
    assert (taken.gpu_percent, taken.gpu_memory_mib, taken.gpu_power_watts) == (None, None, None)


def test_ended_process_gives_no_sample() -> None:
    process = subprocess.Popen(["sleep", "60"])
    sampler = Sampler(process.pid)
    process.kill()
    process.wait()
    assert sampler.sample("train") is None


def test_use_is_the_mean_and_memory_and_power_the_sum_of_all_cards(monkeypatch: pytest.MonkeyPatch) -> None:
    cards = [
        SimpleNamespace(gpu=20, used=1024 * 2**20, milliwatts=50_000),
        SimpleNamespace(gpu=60, used=512 * 2**20, milliwatts=70_500),
    ]
    answers = {
        "nvmlInit": lambda: None,
        "nvmlDeviceGetCount": lambda: len(cards),
        "nvmlDeviceGetHandleByIndex": lambda i: cards[i],
        "nvmlDeviceGetUtilizationRates": lambda card: card,
        "nvmlDeviceGetMemoryInfo": lambda card: card,
        "nvmlDeviceGetPowerUsage": lambda card: card.milliwatts,
    }
    for name, answer in answers.items():
        monkeypatch.setattr(pynvml, name, answer)
    sampler = Sampler(os.getpid())
    taken = sampler.sample("train")
    assert (taken.gpu_percent, taken.gpu_memory_mib, taken.gpu_power_watts) == (40, 1536, 120.5)

    monkeypatch.setattr(pynvml, "nvmlDeviceGetPowerUsage", lambda card: no_driver())
    taken = sampler.sample("train")
    assert (taken.gpu_percent, taken.gpu_power_watts) == (40, None), "some cards do not tell their power"
