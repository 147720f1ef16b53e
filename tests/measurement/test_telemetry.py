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
from scripts.measurement.telemetry import Sampler
from scripts.records.samples import Gpu, Sample, sample_of, table


def sample(stage: str, reading: float = 0, cpu: float = 100, memory: float = 256, **more) -> Sample:
    return Sample(reading, stage, cpu, memory, 50, 3, **more)


def fail(*arguments: object) -> None:
    raise pynvml.NVMLError(pynvml.NVML_ERROR_NOT_SUPPORTED)


def card(**values) -> SimpleNamespace:
    return SimpleNamespace(
        **{"gpu": 20, "used": 1024 * 2**20, "milliwatts": 50_000, "mhz": 1500, "celsius": 60, "reasons": 0}
        | {"millijoules": 7_000_000}
        | values
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


def test_waiting_for_a_cpu_is_counted_since_the_sample_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock, file = iter((10.0, 12.0, 14.0)), tmp_path / "cpu"
    monkeypatch.setattr(telemetry, "PRESSURE", file)
    monkeypatch.setattr(telemetry, "perf_counter", lambda: next(clock))
    file.write_text("some avg10=7.85 avg60=4.53 avg300=5.93 total=10000000\nfull avg10=0.00 total=7\n")
    pressure = telemetry._Pressure()
    file.write_text("some avg10=7.85 avg60=4.53 avg300=5.93 total=10500000\nfull avg10=0.00 total=7\n")
    assert pressure.percent() == 25
    file.unlink()
    assert pressure.percent() is None, "a kernel without it"


@pytest.mark.slow
def test_cpu_seconds_are_of_all_threads_and_children() -> None:
    before = telemetry.cpu_seconds()
    with subprocess.Popen([sys.executable, "-c", WORK], stdout=subprocess.PIPE) as child:
        child.stdout.read(1)
        assert telemetry.cpu_seconds() - before > 0.4
        child.kill()


#: Half a second of work with 64 MiB at hand.
WORK = """
import time
held = bytearray(1 << 26)
while time.process_time() < 0.5:
    pass
print(1, flush=True)
time.sleep(1800)
"""


@pytest.mark.slow
def test_children_belong_to_the_run_also_when_they_have_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(telemetry, "_READINGS_PER_SEARCH", 1)
    run = telemetry._Run(os.getpid())
    _, alone = run.use()
    began = run._cpu_seconds
    with subprocess.Popen(["sh", "-c", f"{sys.executable} -c '{WORK}' & wait"], stdout=subprocess.PIPE) as shell:
        shell.stdout.read(1)
        _, memory = run.use()
        assert run._cpu_seconds - began > 0.4, "those of a grandchild that still runs"
        assert memory - alone > 64
        psutil.Process(shell.pid).children()[0].kill()
    _, memory = run.use()
    assert memory - alone < 32
    assert run._cpu_seconds - began > 0.4, "the time of those that ended is kept"


def test_ended_process_gives_no_sample() -> None:
    process = subprocess.Popen(["sleep", "1800"])
    sampler = Sampler(process.pid, gpus=0)
    process.kill()
    process.wait()
    assert sampler.sample("train") is None


def gpu(*values: float | str) -> Gpu:
    names = ("percent", "memory_mib", "power_watts", "clock_mhz", "temperature_c", "throttled", "energy_joules")
    return Gpu(**dict(zip(names, values, strict=True)))


def test_each_card_is_read(cards: list[SimpleNamespace]) -> None:
    cards += [card(), card(gpu=60, used=512 * 2**20, milliwatts=70_500, mhz=1000, celsius=75, millijoules=1_500)]
    taken = Sampler(os.getpid(), gpus=2).sample("train")
    assert taken.gpus == (gpu(20, 1024, 50, 1500, 60, "no", 7000), gpu(60, 512, 70.5, 1000, 75, "no", 1.5))


def test_only_cards_that_the_run_is_held_to_are_read(
    cards: list[SimpleNamespace], monkeypatch: pytest.MonkeyPatch
) -> None:
    cards += [card(), card(gpu=99)]
    assert [gpu.percent for gpu in Sampler(os.getpid(), gpus=1).sample("train").gpus] == [20]
    monkeypatch.setattr(pynvml, "nvmlInit", lambda: pytest.fail("wakes a card that the run does not use"))
    assert Sampler(os.getpid(), gpus=0).sample("train").gpus == ()


def test_card_that_does_not_report_its_power_reports_the_rest(
    cards: list[SimpleNamespace], monkeypatch: pytest.MonkeyPatch
) -> None:
    cards += [card(), card()]
    for name in ("PowerUsage", "TotalEnergyConsumption"):
        read = getattr(pynvml, f"nvmlDeviceGet{name}")
        answer = lambda card, read=read: fail() if card is cards[1] else read(card)  # noqa: E731
        monkeypatch.setattr(pynvml, f"nvmlDeviceGet{name}", answer)
    taken = Sampler(os.getpid(), gpus=2).sample("train")
    assert [gpu.power_watts for gpu in taken.gpus] == [50, None]
    assert [gpu.percent for gpu in taken.gpus] == [20, 20]
    assert [gpu.energy_joules for gpu in taken.gpus] == [7000, None]


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
    columns, rows = table(samples, clock)
    text = io.StringIO()
    writer = csv.DictWriter(text, columns)
    writer.writeheader()
    writer.writerows(rows)
    return list(csv.DictReader(io.StringIO(text.getvalue())))


def test_table_has_the_run_and_each_gpu() -> None:
    gpus = [Gpu(percent=80, throttled="no"), Gpu(percent=40, power_watts=70, throttled="thermal")]
    (row,) = written([sample("train", 102.25, gpus=tuple(gpus))], clock=100)
    assert (row["elapsed"], row["stage"], row["cpu_percent"], row["cpu_energy_joules"]) == ("2.25", "train", "100", "")
    assert (row["gpu0_percent"], row["gpu0_power_watts"], row["gpu1_power_watts"]) == ("80", "", "70")
    assert (row["gpu0_throttled"], row["gpu1_throttled"]) == ("no", "thermal")
    assert "gpu2_percent" not in row


def test_table_without_gpus_has_no_columns_of_them() -> None:
    (row,) = written([sample("import", 98.5)], clock=100)
    assert (row["elapsed"], row["reading_seconds"]) == ("-1.5", "98.5")
    assert not [column for column in row if "gpu" in column]
    assert list(row) == table([], None)[0], "the same columns without a sample"
    row = written([sample("import", 98.5)], clock=None)[0]
    assert (row["elapsed"], row["reading_seconds"]) == ("", "98.5"), "a run that never trained has its samples in order"


def test_samples_come_back_to_the_last_digit() -> None:
    gpus = (gpu(1 / 3, 0.1 + 0.2, 70.5, 1500, 60, "power_cap+thermal", 1e7 / 3), Gpu())
    samples = [sample("train", 5321.482190337 + i / 7, 100 / 3, gpus=gpus, cpu_energy_joules=i / 9) for i in range(3)]
    assert [sample_of(row) for row in written(samples, clock=5321.5)] == samples


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"reading_seconds": ""}, "column reading_seconds is missing or empty"),
        ({"stage": None}, "column stage is missing or empty"),
        ({"memory_mib": "much"}, "'much'"),
        ({"gpu0_percent": "all"}, "'all'"),
        ({"gpu0_percent": "100.5"}, "gpu0_percent: 100.5 must be from 0 to 100"),
        ({"gpu0_memory_mib": "-1000"}, "gpu0_memory_mib: -1000 must be 0 or more"),
        ({"gpu0_power_watts": "-1"}, "gpu0_power_watts: -1 must be 0 or more"),
        ({"gpu0_throttled": "=1+1"}, "gpu0_throttled: '=1.1' must be a name"),
        ({"memory_mib": "-1"}, "memory_mib: -1 must be 0 or more"),
        ({"cpu_percent": "-1"}, "cpu_percent: -1 must be 0 or more"),
        ({"machine_cpu_percent": "101"}, "machine_cpu_percent: 101 must be from 0 to 100"),
        ({"elapsed": "nan"}, "elapsed: 'nan' is not a number"),
        ({"stage": "<b>"}, "stage: '<b>' must be a name"),
        ({"mood": "good"}, "column 'mood' is unknown"),
        ({"gpu2_percent": "1"}, "column 'gpu2_percent' is unknown"),
    ],
)
def test_bad_sample_is_named(change: dict, message: str) -> None:
    (row,) = written([sample("train", 1, gpus=(Gpu(50),))], clock=0)
    with pytest.raises(ValueError, match=message):
        sample_of(row | change)
