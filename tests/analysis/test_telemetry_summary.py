import pytest

from scripts.analysis import telemetry
from scripts.records.samples import Gpu, Sample


def sample(stage: str, reading: float = 0, cpu: float = 100, memory: float = 256, **more) -> Sample:
    return Sample(reading, stage, cpu, memory, 50, 3, **more)


def training(gpus: list[list[Gpu]], step: float = 0.5) -> list[Sample]:
    """Return timed samples `step` seconds apart, one per list of GPUs."""
    return [sample("train", step * i, gpus=tuple(each)) for i, each in enumerate(gpus)]


def test_means_are_of_the_timed_region_and_memory_of_the_whole_run() -> None:
    summary = telemetry.summary(
        [
            sample("import", cpu=10, memory=900),
            sample("train", cpu=10, memory=300),  # of the time before it, when the run was imported
            sample("train", cpu=90, memory=300),
            sample("train", cpu=110, memory=400),
            sample("end", cpu=10),
        ]
    )
    assert (summary["samples"], summary["cpu_percent"], summary["peak_memory_mib"]) == (3, 100, 900)
    assert (summary["machine_cpu_percent"], summary["other_cpu_percent"]) == (50, 3)
    assert all(value is None for name, value in summary.items() if "gpu" in name)


def test_first_step_is_not_in_the_timed_region() -> None:
    samples = [sample("train", i, cpu=cpu, cpu_energy_joules=10 * i) for i, cpu in enumerate((10, 20, 20, 90, 110))]
    summary = telemetry.summary(samples, since=2)
    assert (summary["samples"], summary["cpu_percent"], summary["energy_joules"]) == (3, 100, 20)
    compiled = [sample("train", i, gpus=(Gpu(memory_mib=memory),)) for i, memory in enumerate((900, 500))]
    assert telemetry.summary(compiled, since=1)["peak_gpu_memory_mib"] == 900


def test_a_cpu_that_is_waited_for_all_the_time_is_waited_for_no_longer() -> None:
    """Two clocks that are read one after the other said 100.002 % on a full machine, and the table was refused."""
    samples = [sample("train", i, cpu_pressure_percent=waited) for i, waited in enumerate((5.0, 100.01, 100.0))]
    assert telemetry.summary(samples)["cpu_pressure_percent"] == 100


def test_other_work_is_none_where_noise_takes_it_below() -> None:
    samples = [Sample(i, "train", 100, 256, 50, other) for i, other in enumerate((-5, 1))]
    assert telemetry.summary([*samples, samples[0]])["other_cpu_percent"] == 0


def test_machine_that_was_waited_for_all_the_time_is_one_of_100_percent() -> None:
    """Read 20 us apart, the kernel's clock and ours made 100.002 % of a run: a table that its reader refused."""
    samples = [sample("train", i, cpu_pressure_percent=waited) for i, waited in enumerate((0, 100.002, 100.01))]
    assert telemetry.summary(samples)["cpu_pressure_percent"] == 100


def test_only_answers_of_the_cards_count() -> None:
    first = Gpu(percent=40, memory_mib=1000, power_watts=100, clock_mhz=1400, temperature_c=60, throttled="no")
    later = Gpu(percent=80, memory_mib=3000, clock_mhz=1200, temperature_c=80, throttled="thermal")
    summary = telemetry.summary(training([[first], [later], [Gpu()]]))
    assert (summary["gpu_percent"], summary["peak_gpu_memory_mib"], summary["gpu_power_watts"]) == (60, 3000, 100)
    assert (summary["gpu_clock_mhz"], summary["gpu_temperature_c"]) == (1300, 80)
    assert (summary["gpu_throttle_percent"], summary["gpu_throttle_reasons"]) == (50, "thermal")


def test_reasons_of_all_samples_and_cards_are_united() -> None:
    pairs = [("no", "no"), ("power_cap", "no"), ("power_cap+thermal", "power_brake"), ("no", "no")]
    summary = telemetry.summary(training([[Gpu(throttled=one) for one in pair] for pair in pairs]))
    assert (summary["gpu_throttle_percent"], summary["gpu_throttle_reasons"]) == (50, "power_brake+power_cap+thermal")
    free = telemetry.summary(training([[Gpu(throttled="no")]]))
    assert (free["gpu_throttle_percent"], free["gpu_throttle_reasons"]) == (0, "no")


def test_gpu_that_idles_beside_busy_ones_is_seen() -> None:
    summary = telemetry.summary(training([[Gpu(percent=99), Gpu(percent=10)], [Gpu(percent=97), Gpu(percent=20)]]))
    assert (summary["gpu_percent"], summary["gpu_percent_lowest"]) == (56.5, 15)


def test_run_that_never_trained_has_no_means() -> None:
    summary = telemetry.summary([sample("import", memory=300)])
    assert (summary["samples"], summary["cpu_percent"], summary["peak_memory_mib"]) == (0, None, 300)
    assert telemetry.summary([])["peak_memory_mib"] is None


def energy(samples: list[Sample]) -> tuple:
    summary = telemetry.summary(samples)
    return tuple(summary[f"energy_{name}"] for name in ("joules", "source", "seconds", "samples"))


def test_energy_is_that_of_the_counters_of_all_cards() -> None:
    samples = training([[Gpu(energy_joules=100 + i, power_watts=9), Gpu(energy_joules=50 + 3 * i)] for i in range(4)])
    outside = [Gpu(energy_joules=0), Gpu(energy_joules=0)], [Gpu(energy_joules=900), Gpu(energy_joules=900)]
    samples = [sample("build", -0.5, gpus=tuple(outside[0])), *samples, sample("end", 2, gpus=tuple(outside[1]))]
    assert energy(samples) == (12, "nvml counter", 1.5, 4)


@pytest.mark.parametrize("counter", [(100, 200, 5), (None, None, None), (100, None, None)])
def test_energy_is_the_integral_of_power_without_a_counter_or_when_it_began_anew(counter: tuple) -> None:
    watts = (100, 200, 400)
    samples = training([[Gpu(energy_joules=c, power_watts=w)] for c, w in zip(counter, watts, strict=True)], step=2)
    assert energy(samples) == (300 + 600, "power integral", 4, 3)


def test_integral_spans_a_reading_that_failed_but_not_what_is_not_timed() -> None:
    watts = [100, None, 300, 1000, None, 50, 50]
    stages = ["train", "train", "train", "validate", "validate", "train", "train"]

    def taken() -> list[Sample]:
        readings = enumerate(zip(stages, watts, strict=True))
        return [sample(stage, i, gpus=(Gpu(power_watts=w),)) for i, (stage, w) in readings]

    assert energy(taken()) == (400 + 50, "power integral", 3, 4)
    watts[3] = None
    assert energy(taken()) == (400 + 50, "power integral", 3, 4)


@pytest.mark.parametrize(
    "samples",
    [
        [],
        training([[Gpu(power_watts=100)]]),
        training([[Gpu()], [Gpu()]]),
        training([[Gpu(power_watts=100), Gpu()], [Gpu(power_watts=100), Gpu()]]),
        [sample("train", 0), sample("train", 1)],
    ],
    ids=["nothing", "one reading", "silent card", "one of two silent", "no counter"],
)
def test_energy_that_nobody_read_is_none(samples: list[Sample]) -> None:
    assert energy(samples) == (None, None, None, 0)


def test_energy_of_a_run_without_gpus_is_that_of_the_processors() -> None:
    samples = [sample("build", 0, cpu_energy_joules=5)]
    samples += [sample("train", i, cpu_energy_joules=joules) for i, joules in enumerate((10, 30, 70))]
    assert energy(samples) == (60, "rapl", 2, 3)
    with_gpu = [sample("train", i, cpu_energy_joules=10 * i, gpus=(Gpu(),)) for i in range(3)]
    assert energy(with_gpu) == (None, None, None, 0), "not the processors' in place of the GPU's"


#: What two cards reported at once, and what that is together.
TWO = {
    "percent": (20, 60, 40),
    "memory_mib": (1024, 512, 1536),
    "power_watts": (50, 70.5, 120.5),
    "clock_mhz": (1500, 1000, 1250),
    "temperature_c": (60, 75, 75),
    "throttled": ("no", "no", "no"),
    "energy_joules": (7000, 1.5, 7001.5),
}


def test_cards_together_are_a_mean_a_sum_or_the_highest() -> None:
    cards = [Gpu(**{name: values[i] for name, values in TWO.items()}) for i in range(2)]
    (taken,) = training([cards])
    assert {name: telemetry.total(taken, name) for name in TWO} == {name: values[2] for name, values in TWO.items()}


def test_what_one_card_does_not_report_is_not_known_of_all() -> None:
    (taken,) = training([[Gpu(20, power_watts=50, energy_joules=7000), Gpu(20)]])
    totals = [telemetry.total(taken, name) for name in ("percent", "power_watts", "energy_joules")]
    assert totals == [20, None, None]
    assert telemetry.total(sample("train"), "percent") is None


def test_reasons_of_cards_are_united() -> None:
    (taken,) = training([[Gpu(percent=80, throttled="no"), Gpu(percent=40, power_watts=70, throttled="thermal")]])
    assert [telemetry.total(taken, name) for name in ("percent", "power_watts", "throttled")] == [60, None, "thermal"]
