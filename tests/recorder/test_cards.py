"""Machines with cards: NVIDIA's library is one that answers as two H100 would, as none is at hand."""

import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from epochs_per_dollar import machine
from epochs_per_dollar.machine import Machine, Meter, Nvml
from epochs_per_dollar.screen import measured
from epochs_per_dollar.session import Session

from tests.recorder.test_command import COUNTS, Recorder

pytestmark = pytest.mark.slow


@pytest.fixture
def recorder(tmp_path: Path) -> Recorder:
    library = tmp_path / "lib"
    library.mkdir()
    subprocess.run(
        ["gcc", "-shared", "-fPIC", "-o", str(library / "libnvidia-ml.so.1"), str(Path(__file__).with_name("nvml.c"))],
        check=True,
    )
    made = Recorder(tmp_path)
    made.environment["LD_LIBRARY_PATH"] = str(library)
    made.environment.pop("CUDA_VISIBLE_DEVICES", None)
    return made


def test_the_card_that_is_used_is_priced(recorder: Recorder) -> None:
    """One of the two: 4.29 USD an hour at Lambda, by its book; half of the machine's cards are not paid."""
    done = recorder.run("--minutes", "0.08", "--", *recorder.program(COUNTS.format(n=1_000_000)))
    assert "1 x NVIDIA H100 80GB HBM3" in done.stderr
    assert "of 2 that are there, priced as 1 x H100 SXM" in done.stderr
    (row,) = [line.split() for line in done.stderr.splitlines() if "gpu_1x_h100_sxm5" in line]
    assert row[3] == "4.29"
    record = recorder.record()
    assert record["use"]["cards"] == 1
    assert record["machine"]["driver_version"] == "580.65.06"
    assert record["use"]["peak_gpu_memory_mib"] == pytest.approx(12 * 1024 + 500, rel=0.01)
    # 470 W of both, for some seconds.
    assert 400 < record["use"]["energy_joules"] / record["seconds"] < 480


def test_a_card_that_is_hidden_is_not_there(recorder: Recorder) -> None:
    recorder.environment["CUDA_VISIBLE_DEVICES"] = "1"
    recorder.run("--", *recorder.program(COUNTS.format(n=30)))
    assert len(recorder.record()["machine"]["cards"]) == 1


def test_without_the_library_there_is_no_card(recorder: Recorder) -> None:
    recorder.environment["LD_LIBRARY_PATH"] = os.devnull
    recorder.run("--", *recorder.program(COUNTS.format(n=30)))
    assert recorder.record()["machine"]["cards"] == []


class OneCard:
    """A card that is busy for a fifth of the time, and holds memory of the command from the second reading on."""

    handles = (1,)

    def __init__(self) -> None:
        self.memory_mib = 0.0

    def read(self) -> list[dict[str, Any]]:
        self.memory_mib += 1000
        return [{"memory_mib": self.memory_mib, "power_watts": None, "busy": 0.2, "slowed_by": None}]


@pytest.mark.parametrize(("cores", "share"), [([1.0], 0.8), ([0.4, 0.4], 0.0), ([0.3, 0.97], 0.8), ([2.5], 0.8)])
def test_card_that_waits_for_a_core_is_a_stall(
    monkeypatch: pytest.MonkeyPatch, cores: list[float], share: float
) -> None:
    """Of processes that take so many cores one has to keep one full; what came before the steps does not count."""
    seconds = 0.0
    monkeypatch.setattr(
        Meter,
        "_table",
        staticmethod(lambda names: {n: (1, 7, 5 + seconds * each, 9) for n, each in enumerate(cores, 7)}),
    )
    meter = Meter(7, OneCard())
    for seconds in (0.0, 1.0, 2.0, 3.0, 4.0):
        meter.is_training = seconds >= 2
        meter.read(seconds)
    assert meter.readings == 3
    assert meter.stalled_share == pytest.approx(share)


def test_others_are_counted_when_the_command_has_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Between the first reading and the last, in which its process is no more, another one took three seconds."""
    monkeypatch.setattr(machine, "_STAT", "/nowhere")
    meter = Meter(7, Nvml())
    for number, table in enumerate(({7: (1, 7, 1.0, 9), 99: (1, 99, 50.0, 9)}, {99: (1, 99, 53.0, 9)})):
        monkeypatch.setattr(Meter, "_table", staticmethod(lambda names, table=table: table))
        meter.read(float(number), last=True)
    assert (meter.cpu_seconds, meter.other_cpu_seconds) == (1.0, 3.0)


def test_what_other_guests_of_the_host_took_is_taken_by_others(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Of the eighth field of proc(5) 250 ticks of a hundredth of a second between two readings; no process ran."""
    stat = tmp_path / "stat"
    monkeypatch.setattr(machine, "_STAT", str(stat))
    monkeypatch.setattr(machine, "_TICKS", 100)
    monkeypatch.setattr(Meter, "_table", staticmethod(lambda names: {7: (1, 7, 1.0, 9)}))
    meter = Meter(7, Nvml())
    for number, stolen in enumerate((4000, 4250)):
        stat.write_text(f"cpu  11 12 13 14 15 16 17 {stolen} 19 20\ncpu0 1 2 3 4 5 6 7 8 9 10\n")
        meter.read(float(number), last=True)
    assert meter.other_cpu_seconds == 2.5
    stat.unlink()
    Meter(7, Nvml()).read(0.0, last=True)


def test_stalls_are_said() -> None:
    meter = Meter(7, OneCard(), is_training=True, readings=10, stalled=4.0)
    found = Session([], 10.0, "the minute", 0, Machine(2, "", None), meter, None, None, None)
    assert any("GPU idle 40% of the time" in line and "while one core was full" in line for line in measured(found))


def test_idle_card_and_idle_cores_are_no_stall(recorder: Recorder) -> None:
    recorder.environment["NVML_BUSY"] = "10"
    done = recorder.run("--minutes", "0.1", "--", *recorder.program(COUNTS.format(n=1_000_000)))
    assert recorder.record()["use"]["stalled_share"] == 0
    assert "stalls" not in done.stderr


@pytest.mark.parametrize(
    ("reasons", "words"), [("0x60", "heat"), ("0x88", "the supply of power"), ("0x8", "its hardware")]
)
def test_throttled_card_is_said(recorder: Recorder, reasons: str, words: str) -> None:
    recorder.environment["NVML_REASONS"] = reasons
    done = recorder.run("--minutes", "0.07", "--", *recorder.program(COUNTS.format(n=1_000_000)))
    assert f"throttled: {words} slowed the GPU down in 100% of the time" in done.stderr


@pytest.mark.parametrize("reasons", ["0x1", "0x2", "0x4"], ids=["idle", "clocks that were set", "cap of power"])
def test_a_card_that_works_as_it_is_meant_to_is_not_throttled(recorder: Recorder, reasons: str) -> None:
    recorder.environment["NVML_REASONS"] = reasons
    done = recorder.run("--minutes", "0.07", "--", *recorder.program(COUNTS.format(n=1_000_000)))
    assert "throttled" not in done.stderr
    assert recorder.record()["use"]["slowed_share"] == {}


def test_sweep_of_throttled_sessions_names_no_winner(recorder: Recorder) -> None:
    recorder.environment["NVML_REASONS"] = "0x40"
    asked = ["--minutes", "0.06", "--sweep", "--batch=8,16"]
    done = recorder.run(*asked, "--", *recorder.program(COUNTS.format(n=1_000_000)))
    assert re.search(r"some are in doubt \(.*throttled\): nothing is said to be faster", done.stderr)
