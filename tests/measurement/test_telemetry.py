import csv
import io
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import psutil
import pynvml
import pytest

from scripts.measurement import telemetry
from scripts.measurement.telemetry import Gpu, Sample, Sampler


def sample(stage: str, reading: float = 0, cpu: float = 100, memory: float = 256, **more) -> Sample:
    return Sample(reading, stage, cpu, memory, 50, 3, **more)


def training(gpus: list[list[Gpu]], step: float = 0.5) -> list[Sample]:
    """Return timed samples `step` seconds apart, one per list of GPUs."""
    return [sample("train", step * i, gpus=tuple(each)) for i, each in enumerate(gpus)]


def fail(*arguments: object) -> None:
    raise pynvml.NVMLError(pynvml.NVML_ERROR_NOT_SUPPORTED)


def card(**told) -> SimpleNamespace:
    return SimpleNamespace(
        **{"gpu": 20, "used": 1024 * 2**20, "milliwatts": 50_000, "mhz": 1500, "celsius": 60, "reasons": 0}
        | {"millijoules": 7_000_000}
        | told
    )


@pytest.fixture
def cards(monkeypatch: pytest.MonkeyPatch) -> list[SimpleNamespace]:
    """A driver with the cards that the test puts into the list; `nvmlInit` fails without any."""
    found: list[SimpleNamespace] = []
    answers = {
        "nvmlInit": lambda: None if found else fail(),
        "nvmlDeviceGetHandleByIndex": lambda i: found[i] if i < len(found) else fail(),
        "nvmlDeviceGetUtilizationRates": lambda card: card,
        "nvmlDeviceGetMemoryInfo": lambda card: card,
        "nvmlDeviceGetPowerUsage": lambda card: card.milliwatts,
        "nvmlDeviceGetClockInfo": lambda card, which: card.mhz if which == pynvml.NVML_CLOCK_SM else fail(),
        "nvmlDeviceGetTemperature": lambda card, which: card.celsius,
        "nvmlDeviceGetCurrentClocksEventReasons": lambda card: card.reasons,
        "nvmlDeviceGetTotalEnergyConsumption": lambda card: card.millijoules,
    }
    for name, answer in answers.items():
        monkeypatch.setattr(pynvml, name, answer)
    return found


@pytest.fixture
def powercap(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Counters of two processors, and of zones that are parts of the first or hold both."""
    monkeypatch.setattr(telemetry, "POWERCAP", tmp_path)
    names = {"0": "package-0", "0:0": "core", "0:1": "dram", "1": "package-1", "2": "psys"}
    for zone, name in names.items():
        folder = tmp_path / f"intel-rapl:{zone}"
        folder.mkdir()
        (folder / "name").write_text(f"{name}\n")
        (folder / "max_energy_range_uj").write_text("10000000\n")
        (folder / "energy_uj").write_text("9000000\n")
    return tmp_path


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


def test_other_work_is_none_where_noise_takes_it_below() -> None:
    samples = [Sample(i, "train", 100, 256, 50, other) for i, other in enumerate((-5, 1))]
    assert telemetry.summary([*samples, samples[0]])["other_cpu_percent"] == 0


def test_only_answers_of_the_cards_count() -> None:
    told = Gpu(percent=40, memory_mib=1000, power_watts=100, clock_mhz=1400, temperature_c=60, throttled="no")
    later = Gpu(percent=80, memory_mib=3000, clock_mhz=1200, temperature_c=80, throttled="thermal")
    summary = telemetry.summary(training([[told], [later], [Gpu()]]))
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
        told = enumerate(zip(stages, watts, strict=True))
        return [sample(stage, i, gpus=(Gpu(power_watts=w),)) for i, (stage, w) in told]

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
def test_energy_that_nobody_told_is_none(samples: list[Sample]) -> None:
    assert energy(samples) == (None, None, None, 0)


def test_energy_of_a_run_without_gpus_is_that_of_the_processors() -> None:
    samples = [sample("build", 0, cpu_energy_joules=5)]
    samples += [sample("train", i, cpu_energy_joules=joules) for i, joules in enumerate((10, 30, 70))]
    assert energy(samples) == (60, "rapl", 2, 3)
    with_gpu = [sample("train", i, cpu_energy_joules=10 * i, gpus=(Gpu(),)) for i in range(3)]
    assert energy(with_gpu) == (None, None, None, 0), "not the processors' in place of the GPU's"


def test_counters_of_processors_are_added_and_wrap(powercap: Path) -> None:
    sampler = Sampler(os.getpid(), gpus=0)
    (powercap / "intel-rapl:0" / "energy_uj").write_text("9500000\n")
    for part_or_whole in ("0:0", "0:1", "2"):
        (powercap / f"intel-rapl:{part_or_whole}" / "energy_uj").write_text("9900000\n")
    assert sampler.sample("train").cpu_energy_joules == 0.5
    (powercap / "intel-rapl:0" / "energy_uj").write_text("500000\n")
    (powercap / "intel-rapl:1" / "energy_uj").write_text("9250000\n")
    assert sampler.sample("train").cpu_energy_joules == 0.5 + 1.0 + 0.25


def test_counters_that_may_not_be_read_are_none(powercap: Path) -> None:
    for counter in powercap.glob("*/energy_uj"):
        counter.unlink()
        counter.mkdir()  # root may read any file
    assert Sampler(os.getpid(), gpus=0).sample("train").cpu_energy_joules is None


def test_machine_without_counters_has_no_cpu_energy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(telemetry, "POWERCAP", tmp_path / "none")
    assert Sampler(os.getpid(), gpus=0).sample("train").cpu_energy_joules is None


def test_living_process_is_sampled(cards: list[SimpleNamespace]) -> None:
    taken = Sampler(os.getpid(), gpus=1).sample("build")
    assert taken is not None
    assert taken.stage == "build"
    assert taken.memory_mib > 1
    assert taken.gpus == (), "no driver"


def test_work_of_others_is_what_is_left_of_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(psutil, "cpu_percent", lambda: 40.0)
    monkeypatch.setattr(psutil, "cpu_count", lambda: 8)
    monkeypatch.setattr(telemetry._Run, "use", lambda self: (250.0, 1.0))
    taken = Sampler(os.getpid(), gpus=0).sample("train")
    assert (taken.cpu_percent, taken.machine_cpu_percent, taken.other_cpu_percent) == (250, 40, 70)


#: Half a second of work with 64 MiB at hand.
WORK = """
import time
held = bytearray(1 << 26)
while time.process_time() < 0.5:
    pass
print(1, flush=True)
time.sleep(60)
"""


def test_children_belong_to_the_run_also_when_they_have_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(telemetry, "_READINGS_PER_SEARCH", 1)
    run = telemetry._Run(os.getpid())
    _, alone = run.use()
    began = run._cpu_seconds
    with subprocess.Popen(["sh", "-c", f"{sys.executable} -c '{WORK}' & wait"], stdout=subprocess.PIPE) as shell:
        shell.stdout.read(1)
        percent, memory = run.use()
        assert percent > 10
        assert memory - alone > 64
        psutil.Process(shell.pid).children()[0].kill()
    _, memory = run.use()
    assert memory - alone < 32
    assert run._cpu_seconds - began > 0.4, "the time of those that ended is kept"


def test_ended_process_gives_no_sample() -> None:
    process = subprocess.Popen(["sleep", "60"])
    sampler = Sampler(process.pid, gpus=0)
    process.kill()
    process.wait()
    assert sampler.sample("train") is None


def test_each_card_is_read_and_all_together(cards: list[SimpleNamespace]) -> None:
    cards += [card(), card(gpu=60, used=512 * 2**20, milliwatts=70_500, mhz=1000, celsius=75, millijoules=1_500)]
    taken = Sampler(os.getpid(), gpus=2).sample("train")
    assert taken.gpus[1] == Gpu(60, 512, 70.5, 1000, 75, "no", 1.5)
    totals = ("percent", "memory_mib", "power_watts", "clock_mhz", "temperature_c", "throttled", "energy_joules")
    assert [taken.total(name) for name in totals] == [40, 1536, 120.5, 1250, 75, "no", 7001.5]


def test_only_cards_that_the_run_is_held_to_are_read(
    cards: list[SimpleNamespace], monkeypatch: pytest.MonkeyPatch
) -> None:
    cards += [card(), card(gpu=99)]
    assert [gpu.percent for gpu in Sampler(os.getpid(), gpus=1).sample("train").gpus] == [20]
    monkeypatch.setattr(pynvml, "nvmlInit", lambda: pytest.fail("wakes a card that the run does not use"))
    assert Sampler(os.getpid(), gpus=0).sample("train").gpus == ()


def test_card_that_does_not_tell_its_power_tells_the_rest(
    cards: list[SimpleNamespace], monkeypatch: pytest.MonkeyPatch
) -> None:
    cards += [card(), card()]
    for name in ("PowerUsage", "TotalEnergyConsumption"):
        read = getattr(pynvml, f"nvmlDeviceGet{name}")
        answer = lambda card, read=read: fail() if card is cards[1] else read(card)  # noqa: E731
        monkeypatch.setattr(pynvml, f"nvmlDeviceGet{name}", answer)
    taken = Sampler(os.getpid(), gpus=2).sample("train")
    assert [gpu.power_watts for gpu in taken.gpus] == [50, None]
    assert (taken.total("percent"), taken.total("power_watts"), taken.total("energy_joules")) == (20, None, None)


@pytest.mark.parametrize(
    ("bits", "expected"),
    [
        (0x0, "no"),
        (0x1, "no"),  # idle
        (0x2 | 0x10 | 0x100, "no"),  # clocks that were set
        (0x4, "power_cap"),
        (0x20, "thermal"),
        (0x8 | 0x40, "hw_slowdown+thermal"),
        (0x1 | 0x8 | 0x80, "hw_slowdown+power_brake"),
    ],
)
def test_throttle_reasons_are_those_that_slow_down(cards: list[SimpleNamespace], bits: int, expected: str) -> None:
    cards.append(card(reasons=bits))
    assert Sampler(os.getpid(), gpus=1).sample("train").gpus[0].throttled == expected


def test_older_driver_is_asked_by_the_older_name(cards: list[SimpleNamespace], monkeypatch: pytest.MonkeyPatch) -> None:
    cards.append(card(reasons=0x4))
    monkeypatch.setattr(pynvml, "nvmlDeviceGetCurrentClocksEventReasons", fail)
    monkeypatch.setattr(pynvml, "nvmlDeviceGetCurrentClocksThrottleReasons", lambda card: card.reasons)
    assert Sampler(os.getpid(), gpus=1).sample("train").gpus[0].throttled == "power_cap"
    monkeypatch.setattr(pynvml, "nvmlDeviceGetCurrentClocksThrottleReasons", fail)
    assert Sampler(os.getpid(), gpus=1).sample("train").gpus[0].throttled is None


def written(samples: list[Sample], clock: float | None) -> list[dict[str, str]]:
    columns, rows = telemetry.table(samples, clock)
    text = io.StringIO()
    writer = csv.DictWriter(text, columns)
    writer.writeheader()
    writer.writerows(rows)
    return list(csv.DictReader(io.StringIO(text.getvalue())))


def test_table_has_the_run_the_gpus_together_and_each() -> None:
    gpus = [Gpu(percent=80, throttled="no"), Gpu(percent=40, power_watts=70, throttled="thermal")]
    (row,) = written([sample("train", 102.25, gpus=tuple(gpus))], clock=100)
    assert (row["elapsed"], row["stage"], row["cpu_percent"], row["cpu_energy_joules"]) == ("2.25", "train", "100", "")
    assert (row["gpu_percent"], row["gpu_power_watts"], row["gpu_throttled"]) == ("60.0", "", "thermal")
    assert (row["gpu0_percent"], row["gpu0_power_watts"], row["gpu1_power_watts"]) == ("80", "", "70")
    assert "gpu2_percent" not in row


def test_table_without_gpus_has_the_columns_of_all_together_empty() -> None:
    (row,) = written([sample("import", 98.5)], clock=100)
    assert row["elapsed"] == "-1.5"
    assert row["gpu_percent"] == ""
    assert "gpu0_percent" not in row
    assert list(row) == telemetry.table([], None)[0], "the same columns without a sample"
    assert written([sample("import", 98.5)], clock=None)[0]["elapsed"] == ""
