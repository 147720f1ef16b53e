"""Machines with cards: NVIDIA's library is one that answers as two H100 would, as none is at hand."""

import os
import subprocess
from pathlib import Path

import pytest

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
