"""Refusals of a real Slurm, and of one in whose place a command says what only an accounting database could."""

import signal
import subprocess
from pathlib import Path

import pytest

from tests.clusters import slurm
from tests.clusters.conftest import Cluster
from tests.conftest import LIMIT_SECONDS, wait_for
from tests.first_hour.conftest import Ended

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not slurm.is_installed(),
        reason="needs root and Slurm: apt-get install -y --no-install-recommends slurm-wlm munge",
    ),
]

#: Of one machine alone.
ONE = "hardware: [node-gpu]"

#: What is written beside `slurm_partition: gpu` of the machine, the cause that is named, and a word of the remedy.
REFUSED = {
    "node-too-small": ("mem_mb: 900000", "no node of the partition is as large as the job asks for", "mem_mb"),
    "no-such-card": ("gpu_model: a100", "no node of the partition is as large as the job asks for", "sinfo -o"),
    "no-such-feature": ("constraint: h100", "Invalid feature specification", "sinfo -o"),
    "more-cores-than-a-node": ("cores: 64", "PartitionConfig", "lower cores"),
    "held": ("slurm_extra: --hold", "JobHeldUser", "scontrol release"),
    "account-not-allowed": ("slurm_partition: vip", "Job's account not known", "slurm_account"),
    "module-not-there": ("modules: jax/1", "an environment module cannot be loaded", "module avail"),
}

#: What sbatch says where accounting is enforced: words of Slurm's own slurm_errno.c.
SAID = {
    "qos": ("Invalid qos specification", "this QOS does not exist", "set qos in"),
    "account": (
        "Invalid account or account/partition combination specified",
        "the account is not one of yours",
        "slurm_account",
    ),
    "limit": (
        "Job violates accounting/QOS policy (job submit limit, user's size and/or time limits)",
        "a limit of your account or QOS",
        "--jobs N",
    ),
}

#: Hides a package from the jobs, as on nodes that were set up for another version.
OLD = """
import os, sys
class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == "keras" and "SLURM_JOB_ID" in os.environ:
            raise ModuleNotFoundError("No module named 'keras'")
sys.meta_path.insert(0, Finder())
"""


@pytest.fixture
def on_gpu(cluster: Cluster) -> Cluster:
    cluster.project.edit("config/studies/small.yaml", "hardware: [node-cpu, node-gpu]", ONE)
    cluster.project.edit("config/studies/small.yaml", "base: {hardware: node-cpu", "base: {hardware: node-gpu")
    return cluster


def entry(cluster: Cluster, words: str) -> None:
    """Add words to the machine's entry, in place of those of the same key."""
    file = cluster.project.path / "config/hardware.local.yaml"
    before, _, ours = file.read_text().partition("node-gpu:")
    old = {
        "cores": "cores: 1",
        "gpu_model": "gpu_model: fake",
        "slurm_partition": "slurm_partition: gpu, gpu: 1, gpu_model: fake",
    }.get(words.partition(":")[0])
    ours = ours.replace(old, words) if old else ours.replace("slurm_partition: gpu", f"slurm_partition: gpu, {words}")
    file.write_text(f"{before}node-gpu:{ours}")


def call(cluster: Cluster, **variables: str) -> Ended:
    process = cluster.start(**variables)
    said, _ = process.communicate(timeout=LIMIT_SECONDS)
    return Ended(process.returncode, said)


def submitted(cluster: Cluster) -> int:
    """Return how many jobs Slurm has had from this folder."""
    jobs = cluster.slurm.say("scontrol", "show", "jobs")
    return jobs.count(f"WorkDir={cluster.project.path}\n")


@pytest.mark.represented_by("node-too-small", "held")
@pytest.mark.parametrize(("words", "cause", "to_do"), REFUSED.values(), ids=REFUSED)
def test_what_slurm_refuses(on_gpu: Cluster, words: str, cause: str, to_do: str) -> None:
    entry(on_gpu, words)
    call(on_gpu).is_refused(cause, to_do)
    assert submitted(on_gpu) <= 1, "it is not tried again"
    assert on_gpu.slurm.jobs() == []


@pytest.mark.nightly
@pytest.mark.parametrize(("words", "cause", "to_do"), SAID.values(), ids=SAID)
def test_what_accounting_refuses(on_gpu: Cluster, tmp_path: Path, words: str, cause: str, to_do: str) -> None:
    (tmp_path / "bin").mkdir()
    sbatch = tmp_path / "bin" / "sbatch"
    sbatch.write_text(f'#!/bin/sh\necho called >> {tmp_path}/calls\necho "sbatch: error: Batch job submission failed: '
                      f'{words}" >&2\nexit 1\n')  # fmt: skip
    sbatch.chmod(0o755)
    call(on_gpu, PATH=f"{sbatch.parent}:{on_gpu.project.environment()['PATH']}").is_refused(cause, to_do)
    assert (tmp_path / "calls").read_text() == "called\n", "it is not tried again"


@pytest.mark.nightly
def test_packages_of_the_nodes_that_are_not_those_of_the_locks(on_gpu: Cluster, tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(OLD)
    ended = call(on_gpu, PYTHONPATH=f"{tmp_path}:{on_gpu.plugins / 'slurm'}")
    ended.is_refused("No module named 'keras'", "make slurm")
    assert "log: " in ended.last_screen
    assert submitted(on_gpu) == 1, "it is not tried again"


def test_drained_node_is_named_and_sigterm_ends_the_call_and_its_job(on_gpu: Cluster) -> None:
    on_gpu.slurm.say("scontrol", "update", "nodename=gpu1", "state=drain", "reason=repair")
    try:
        process = on_gpu.start()
        assert process.stdout is not None
        said = ""
        while "sinfo -R says why" not in said:
            said += (line := process.stdout.readline())
            assert line, said
        assert "Nodes required for job are DOWN, DRAINED" in said
        process.send_signal(signal.SIGTERM)
        rest, _ = process.communicate(timeout=LIMIT_SECONDS)
        assert process.returncode != 0
        assert "0 of 1 runs ended, 1 submitted; at most 0.00 hours" in rest, "what waits costs nothing"
        assert on_gpu.slurm.jobs() == []
    finally:
        on_gpu.slurm.say("scontrol", "update", "nodename=gpu1", "state=resume")


@pytest.mark.nightly
def test_account_that_the_partition_does_not_allow_is_refused_before_anything_is_submitted(on_gpu: Cluster) -> None:
    entry(on_gpu, "slurm_partition: vip, slurm_account: lab")
    ended = call(on_gpu)
    assert ended.code != 0
    assert "node-gpu: slurm_account: lab: partition vip allows physics alone" in ended.said
    assert submitted(on_gpu) == 0


def killed(cluster: Cluster, cell: str) -> str:
    """Begin a call, kill it when the run of a cell trains, and return Slurm's name of its job.

    It trains for longer than the next call takes to begin.
    """
    cluster.write(samples=0.3, epochs=20)
    cluster.project.edit("config/studies/small.yaml", "hardware: [node-cpu, node-gpu]", ONE)
    cluster.project.edit("config/studies/small.yaml", "base: {hardware: node-cpu", "base: {hardware: node-gpu")
    process = cluster.start()
    cluster.wait_for_epoch(cell, 2, process)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    return cluster.job_on("gpu")


CELL = "mnist_mlp/node-gpu/jax/b128-tuned"


def test_killed_call_is_gone_on_with_by_the_same_command_and_its_job_is_adopted(cluster: Cluster) -> None:
    job = killed(cluster, CELL)
    ended = call(cluster)
    assert ended.code == 0, ended.said[-3000:]
    assert "the last call in this folder was killed" in ended.said
    assert f"Slurm job {job} runs already: it is waited for, and nothing is submitted" in ended.said
    assert submitted(cluster) == 1
    assert "1 of 1 runs ended, 0 submitted" in ended.said
    run = cluster.project.record(CELL, "small")
    assert [attempt["ended"] for attempt in run["attempts"]] == ["done"]
    again = call(cluster)
    assert again.code == 0
    assert submitted(cluster) == 1, "what was adopted is known"


@pytest.mark.nightly
def test_run_that_ended_while_no_call_looked_is_taken(cluster: Cluster) -> None:
    killed(cluster, CELL)
    wait_for(lambda: cluster.slurm.jobs() == [])
    for _ in range(2):
        ended = call(cluster)
        assert ended.code == 0, ended.said[-3000:]
        assert submitted(cluster) == 1


@pytest.mark.nightly
def test_job_of_a_killed_call_that_trains_by_other_code_is_ended(cluster: Cluster) -> None:
    job = killed(cluster, CELL)
    cluster.project.edit("scripts/workloads/mnist_mlp.py", "def build(", "EDITED = True\n\n\ndef build(")
    ended = call(cluster)
    assert ended.code == 0, ended.said[-3000:]
    assert f"Slurm job {job} trains it in another way: ended" in ended.said
    assert submitted(cluster) == 2
    done = subprocess.run(["scontrol", "show", "job", job], capture_output=True, text=True)
    assert "JobState=CANCELLED" in done.stdout
