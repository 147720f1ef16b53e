"""The last screen of a call: what failed, why, what to do, and what is tried again."""

import logging
import re
from pathlib import Path
from typing import Any

import pytest
from snakemake_interface_logger_plugins.common import LogEvent

from scripts.workflow.failures import _SAVED, Failures
from tests.conftest import ROOT

SBATCH = """SLURM sbatch failed. The error message was 'sbatch: error: Batch job submission failed: Invalid qos
specification'.
    sbatch call:
        sbatch --parsable --job-name 1 --wrap="python -m snakemake"
For further error details see the cluster/cloud log and the log files of the involved rule(s)."""


@pytest.fixture
def failures() -> Failures:
    return Failures(lambda wildcards: f"results/{wildcards['workload']}/r1", clock=lambda: 0.0)


def send(failures: Failures, event: LogEvent | None = None, words: str = "", **about: Any) -> None:
    failures.emit(logging.makeLogRecord({"event": event, "msg": words} | about))


def fail(failures: Failures, jobid: int, message: str | None, *logs: Path, name: str | None = None) -> None:
    wildcards = {"workload": f"w{jobid}"}
    send(failures, LogEvent.JOB_INFO, jobid=jobid, rule_name="train", wildcards=wildcards)
    aux = {} if name is None else {"external_jobid": name}
    files = [str(log) for log in logs]
    send(failures, LogEvent.JOB_ERROR, jobid=jobid, rule_name="train", rule_msg=message, log=files, aux=aux)


def test_alike_failures_are_one_paragraph_with_cause_and_remedy(failures: Failures) -> None:
    for jobid in (1, 2, 3):
        fail(failures, jobid, SBATCH, Path("results/train.log"))
    first, why, to_do, *rest = failures.lines()
    assert first.startswith(
        "NOT DONE: results/w1/r1 and 2 more: sbatch: error: Batch job submission failed: Invalid qos"
    )
    assert "sbatch call" not in first
    assert why == "  why: this QOS does not exist, or your account or the partition does not allow it"
    assert "set qos in" in to_do
    assert rest == [], "what was not taken has no log"


def test_reason_is_the_job_s_own_last_error(failures: Failures, tmp_path: Path) -> None:
    log = tmp_path / "train.log"
    last = "error: framework jax: jax is not installed; see envs/jax.lock"
    log.write_text("\n".join([*(f"line {number}" for number in range(30)), last]))
    fail(failures, 1, "SLURM-job '7' failed, SLURM status is: 'FAILED'. Detailed failure reason unavailable (x).",
         tmp_path / "none.log", log, name="7")  # fmt: skip
    said = failures.lines()
    assert said[0] == "NOT DONE: results/w1/r1: framework jax: jax is not installed; see envs/jax.lock"
    assert "make slurm" in said[2]
    assert said[3] == f"  log: {log}"
    assert said[-2:] == ["    line 29", f"    {last}"]
    assert len(said) == 12


def test_what_snakemake_writes_around_a_job_is_left_out(failures: Failures, tmp_path: Path) -> None:
    log = tmp_path / "7.log"
    log.write_text(
        "Using shell: /usr/bin/bash\n[Tue Nov 24 18:31:49 2026]\nJob 0: train mnist_mlp\n"
        "/usr/bin/bash: line 1: module: command not found\n[Tue Nov 24 18:31:54 2026]\nError in rule train:\n"
        "    jobid: 0\n    shell:\n        trap\n        (command exited with non-zero exit code)\n"
        "Shutting down, this might take some time.\nStoring output in storage.\nWorkflowError:\n"
        "At least one job did not complete successfully.\nslurmstepd: error: Detected 1 oom-kill event(s)\n"
    )
    fail(failures, 1, "SLURM-job '7' failed, SLURM status is: 'FAILED'.", log, name="7")
    assert [line.strip() for line in failures.lines()[4:]] == [
        "Job 0: train mnist_mlp",
        "/usr/bin/bash: line 1: module: command not found",
        "slurmstepd: error: Detected 1 oom-kill event(s)",
    ]


def test_what_was_refused_is_not_tried_again_and_what_was_taken_away_is(failures: Failures, tmp_path: Path) -> None:
    saved, broken = tmp_path / "saved.log", tmp_path / "broken.log"
    saved.write_text("epoch 1/2\nsaved: the same call goes on from here, on any machine like this\n")
    broken.write_text("Traceback\n")
    failed = "SLURM-job '7' failed, SLURM status is: '{}'. Detailed failure reason unavailable."
    failures.reasons["9"] = "Slurm job 9 waits: JobHeldUser"
    for jobid, message, logs, name, again in [
        (1, SBATCH, (), None, False),
        (2, failed.format("CANCELLED"), (), "7", True),
        (3, failed.format("NODE_FAIL"), (), "7", True),
        (4, failed.format("FAILED"), (broken,), "7", False),
        (5, failed.format("FAILED"), (saved,), "7", True),
        (6, failed.format("CANCELLED"), (), "9", False),
    ]:
        fail(failures, jobid, message, *logs, name=name)
        assert failures.may_be_tried_again(jobid) is again, message
    assert failures.found[6].reason == "Slurm job 9 waits: JobHeldUser"
    assert failures.may_be_tried_again(99), "what is no training is tried again as the profile says"


def test_what_succeeds_after_all_is_not_listed_and_a_recorded_refusal_stays(failures: Failures) -> None:
    fail(failures, 1, "SLURM-job '7' failed, SLURM status is: 'CANCELLED'.", name="7")
    send(failures, LogEvent.JOB_INFO, jobid=2, rule_name="train", wildcards={"workload": "w2"})
    send(failures, None, "train-1 on n1-standard-4: quota: quota NVIDIA_T4_GPUS exceeded", refused=2)
    for jobid in (1, 2):
        send(failures, LogEvent.JOB_FINISHED, job_id=jobid)
    assert [line for line in failures.lines() if line.startswith("NOT DONE")] == [
        "NOT DONE: results/w2/r1: train-1 on n1-standard-4: quota: quota NVIDIA_T4_GPUS exceeded"
    ]
    assert "of NVIDIA_T4_GPUS" in failures.lines()[2]


def test_log_of_an_earlier_call_is_not_shown(tmp_path: Path) -> None:
    log = tmp_path / "train.log"
    log.write_text("error: of yesterday\n")
    failures = Failures(lambda wildcards: "run", clock=lambda: log.stat().st_mtime + 60)
    fail(failures, 1, "SLURM-job '7' failed, SLURM status is: 'FAILED'.", log, name="7")
    assert "yesterday" not in "\n".join(failures.lines())


def test_words_of_a_training_whose_machine_is_taken_are_known_here() -> None:
    said = re.findall(r'attempt\.log\(f?"([^"]+)"\)\n\s+return TAKEN_AWAY', (ROOT / "scripts/train.py").read_text())
    assert len(said) == 2
    assert all(_SAVED.search(line) for line in said)
