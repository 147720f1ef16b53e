import pytest

from scripts.analysis import telemetry, validators
from scripts.records.samples import Sample

QUIET = telemetry.summary([Sample(i / 2, "train", 100, 1000, 50, 2) for i in range(20)])
ON_GPU = QUIET | {
    "gpu_percent": 95,
    "gpu_percent_lowest": 93,
    "peak_gpu_memory_mib": 8000,
    "gpu_throttle_percent": 0,
    "gpu_throttle_reasons": "no",
    "energy_source": "nvml counter",
    "energy_samples": 20,
}
RUN = {
    "losses": [2.0, 1.0],
    "memory_mib": 4000,
    "gpu_memory_mib": None,
    "timed_seconds": 10,
    "warmup_steps": 20,
    "timed_steps": 100,
}


@pytest.mark.parametrize("use", [QUIET, ON_GPU])
def test_good_run_has_no_warning(use: dict) -> None:
    assert validators.warnings(use, **RUN | {"gpu_memory_mib": 16000}) == []


@pytest.mark.parametrize(
    ("use", "run", "expected"),
    [
        ({"gpu_percent_lowest": 49}, {}, "GPU idle: used 49 % of the time, limit 50 %"),
        (
            {"gpu_throttle_percent": 12.5, "gpu_throttle_reasons": "power_cap+thermal"},
            {},
            "GPU throttled (power_cap+thermal): 12 % of the samples, limit 5 %",
        ),
        ({"peak_memory_mib": 3700}, {}, "memory nearly full: 92 % of 4000 MiB, limit 90 %"),
        ({}, {"gpu_memory_mib": 8100}, "GPU memory nearly full: 99 % of 8100 MiB, limit 90 %"),
        ({"other_cpu_percent": 35}, {}, "another process used the machine: 35 % of a core, limit 10 %"),
        ({}, {"losses": [1.0, 0.5, 1.25]}, "the loss rises: 1.25 after the last epoch, 1 after the first"),
        ({}, {"slept_seconds": 61.0}, "the machine slept: 61 s, which no clock of the run has counted"),
        (
            {},
            {
                "settings": {
                    "loop": "model.fit",
                    "step": "a graph of ATen operations, not compiled (InvalidCxxCompiler)",
                }
            },
            "step: a graph of ATen operations, not compiled (InvalidCxxCompiler)",
        ),
        (
            {},
            {"settings": {"step": "Keras's, layer by layer (TypeError while tracing)", "update": "compiled"}},
            "step: Keras's, layer by layer (TypeError while tracing)",
        ),
        ({}, {"warmup_steps": 19}, "short warm-up: 19 steps, limit 20"),
        ({}, {"timed_steps": 99}, "short run: 99 timed steps, limit 100"),
        ({"samples": 9}, {}, "little telemetry: 9 samples in 10.0 s, limit 1 a second"),
        (
            {"energy_source": "power integral", "energy_samples": 59},
            {},
            "energy from few readings of power: 59, limit 60",
        ),
    ],
)
def test_warning_names_figure_and_limit(use: dict, run: dict, expected: str) -> None:
    assert validators.warnings(ON_GPU | use, **RUN | run) == [expected]


@pytest.mark.parametrize(
    ("use", "run"),
    [
        ({"gpu_percent_lowest": 50}, {}),
        ({"gpu_throttle_percent": 5, "gpu_throttle_reasons": "thermal"}, {}),
        ({"peak_memory_mib": 3600}, {}),
        ({"other_cpu_percent": 10}, {}),
        ({"samples": 10}, {}),
        ({"energy_source": "power integral", "energy_samples": 60}, {}),
        ({"samples": 0, "cpu_percent": None, "other_cpu_percent": None}, {"timed_seconds": None}),
        ({}, {"losses": []}),
        ({}, {"losses": [1.0]}),
        ({}, {"losses": [1.0, 1.0]}),
        ({}, {"losses": [1.0, None]}),
        ({}, {"warmup_steps": None, "timed_steps": None}),
    ],
)
def test_at_the_limit_and_of_the_unknown_is_no_warning(use: dict, run: dict) -> None:
    assert validators.warnings(ON_GPU | use, **RUN | run) == []


def test_run_that_broke_off_before_it_trained_can_be_judged() -> None:
    nothing = {"losses": [], "gpu_memory_mib": None, "timed_seconds": None, "warmup_steps": None, "timed_steps": None}
    assert validators.warnings(telemetry.summary([]), memory_mib=4000, **nothing) == []
