"""How long a job waits for a machine, by a clock of the test's own."""

import logging
import time
from types import SimpleNamespace
from typing import Any

import pytest
import snakemake_executor_plugin_gcebatch as plugin
from google.cloud import batch_v1 as batch
from snakemake_executor_plugin_gcebatch import Executor, ending, spec

QUOTA = "Quota 'NVIDIA_T4_GPUS' exceeded.  Limit: 1.0 in region us-central1."


INFO: Any = SimpleNamespace(job=SimpleNamespace(jobid=7))


class Watcher(Executor):
    """The part of the executor that watches jobs; what it would delete and report is kept."""

    logger = logging.getLogger(__name__)

    def __init__(self, queue_timeout: int) -> None:
        self._settings: Any = SimpleNamespace(queue_timeout=queue_timeout, record_endings=None)
        self._cancelled, self._had_vm = False, 0.0
        self.deleted: list[str] = []
        self.reported: list[str] = []

    def _delete(self, name: str) -> None:
        self.deleted.append(name)

    def _forget(self, submitted: Any) -> None:
        pass

    def _alternatives(self, machine: spec.Machine) -> str:
        return ""

    def report_job_error(self, job_info: Any, msg: str | None = None, **more: Any) -> None:
        self.reported.append(str(msg))


def job(state: str, words: str = "") -> batch.Job:
    status = {"state": state, "status_events": [{"description": words}] if words else []}
    return batch.Job(status=status)


def test_job_waits_for_its_turn_while_another_has_a_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = SimpleNamespace(now=0.0)
    monkeypatch.setattr(plugin, "time", SimpleNamespace(monotonic=lambda: clock.now))
    watcher = Watcher(queue_timeout=8)
    machine = spec.Machine("n1-standard-4", "image")
    one, other = (plugin._Submitted(INFO, f"jobs/{name}", machine, 0.0) for name in ("one", "other"))
    for clock.now in range(0, 101, 5):
        assert watcher._is_active(one, job("RUNNING"))
        assert watcher._is_active(other, job("SCHEDULED", QUOTA)), f"at {clock.now} s"
    clock.now = 108.0
    assert watcher._is_active(other, job("SCHEDULED", QUOTA)), "nobody has had a machine for 8 s, no longer"
    assert watcher.deleted == []
    clock.now = 108.5
    assert not watcher._is_active(other, job("SCHEDULED", QUOTA))
    assert watcher.deleted == ["jobs/other"]
    assert f"{ending.QUOTA}: " in watcher.reported[0]


def test_job_without_a_word_of_why_it_waits_is_given_up_as_without_capacity(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = SimpleNamespace(now=0.0)
    monkeypatch.setattr(plugin, "time", SimpleNamespace(monotonic=lambda: clock.now))
    watcher = Watcher(queue_timeout=60)
    only = plugin._Submitted(INFO, "jobs/only", spec.Machine("n1-standard-4", "image"), 0.0)
    assert watcher._is_active(only, job("QUEUED"))
    clock.now = 61.0
    assert not watcher._is_active(only, job("QUEUED"))
    assert f"{ending.NO_CAPACITY}: no VM within 60 s" in watcher.reported[0]


def test_wait_is_logged_until_a_job_has_had_a_vm(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    watcher = Watcher(queue_timeout=60)
    one = plugin._Submitted(INFO, "jobs/one", spec.Machine("n1-standard-4", "image"), time.monotonic())
    logged = []
    for state in ("QUEUED", "SCHEDULED", "RUNNING", "SCHEDULED"):
        caplog.clear()
        assert watcher._is_active(one, job(state))
        logged.append([(vars(record).get("waited"), record.getMessage()) for record in caplog.records])
    assert logged == [[(7, "")], [(7, "")], [], []], "a machine that was lost has cost what it has"
