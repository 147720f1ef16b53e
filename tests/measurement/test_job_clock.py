"""What a cluster records of the start of a job's machine, and where nothing does."""

import subprocess
import sys
import time
from types import SimpleNamespace

import psutil
import pytest

from scripts.measurement import job_clock
from tests.conftest import ROOT


def test_process_began_after_it_was_started_and_before_its_first_statement() -> None:
    code = "import time; print(time.perf_counter()); from scripts.measurement.job_clock import began; print(began())"
    before = time.perf_counter()
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    first, began = map(float, done.stdout.split())
    assert before - 0.02 <= began <= first


@pytest.fixture
def on_cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("BATCH_TASK_INDEX", "SLURM_JOB_START_TIME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("EPOCHS_JOB", "gce-cpu")


@pytest.mark.usefixtures("on_cluster")
def test_machine_of_google_batch_boots_until_its_container_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BATCH_TASK_INDEX", "0")
    monkeypatch.setattr(psutil, "boot_time", lambda: 1_000.0)
    monkeypatch.setattr(psutil, "Process", lambda pid: SimpleNamespace(create_time=lambda: 1_090.0 + pid - 1))
    monkeypatch.setattr(time, "clock_gettime", lambda clock: 120.0)
    assert job_clock.before() == {"boot_seconds": 90.0, "wait_seconds": 30.0}


@pytest.mark.usefixtures("on_cluster")
def test_node_of_slurm_is_up_when_the_job_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "time", lambda: 1_030.5)
    monkeypatch.setenv("SLURM_JOB_START_TIME", "1000")
    assert job_clock.before() == {"wait_seconds": 30.5}
    monkeypatch.setenv("SLURM_JOB_START_TIME", "1031")
    assert job_clock.before() == {"wait_seconds": 0.0}, "it is given in whole seconds"


@pytest.mark.usefixtures("on_cluster")
def test_cluster_that_records_nothing_is_recorded_as_such() -> None:
    assert job_clock.before() == {}


def test_own_machine_is_up_for_other_reasons(monkeypatch: pytest.MonkeyPatch) -> None:
    """A person who sits in an allocation of Slurm trains many runs in it."""
    monkeypatch.delenv("EPOCHS_JOB", raising=False)
    monkeypatch.setenv("SLURM_JOB_START_TIME", "1000")
    monkeypatch.setenv("BATCH_TASK_INDEX", "0")
    assert job_clock.before() == {}
