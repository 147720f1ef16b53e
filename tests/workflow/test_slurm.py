"""What of a call waits on a Slurm, and what an earlier call has left there; Slurm is stood in for."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from scripts.storage.errors import InputError
from scripts.workflow import running, slurm

DRAINED = "Nodes required for job are DOWN, DRAINED or reserved for jobs in higher priority partitions"


class Cluster:
    """Answers as Slurm does; `waits` holds the reason of each job that is pending, "" for one that runs."""

    def __init__(self, **waits: str) -> None:
        self.waits = waits
        self.asked: list[tuple[str, ...]] = []
        self.now = 0.0

    def clock(self) -> float:
        """Return the time, which goes on while one looks."""
        self.now += 0.001
        return self.now

    def __call__(self, *command: str) -> str:
        self.asked.append(command)
        if command[0] == "squeue":
            states = {job: f"PENDING|{reason}" if reason else "RUNNING|None" for job, reason in self.waits.items()}
            return "".join(f"{job.removeprefix('j')}|{state}\n" for job, state in states.items())
        return "JobId=7\n StdOut=/x/7.log Power=\n" if command[:2] == ("scontrol", "show") else ""

    @property
    def ended(self) -> list[str]:
        return [command[1] for command in self.asked if command[0] == "scancel"]


def queue(cluster: Cluster, reasons: dict[str, str], waits: list[str], said: list[str]) -> slurm.Queue:
    made = slurm.Queue(reasons, waits.append, said.append, cluster, cluster.clock)
    made.runs |= {"1": "results/s/a/r1", "2": "results/s/b/r1"}
    return made


def test_job_that_waits_its_turn_is_left_alone() -> None:
    cluster, reasons, waits, said = Cluster(j1="Resources", j2="Priority", j3="JobHeldUser"), {}, [], []
    queue(cluster, reasons, waits, said).look()
    assert waits == ["results/s/a/r1", "results/s/b/r1"]
    assert (cluster.ended, reasons, said) == ([], {}, []), "the third one is another's"


def test_job_that_was_requeued_is_charged_for_the_node_that_it_had() -> None:
    cluster, waits = Cluster(j1="Priority"), []
    ours = queue(cluster, {}, waits, [])
    for reason in ("Priority", "", "BeginTime"):
        cluster.waits = {"j1": reason}
        ours.look()
    assert waits == ["results/s/a/r1"], "before it ran, and not after"


@pytest.mark.parametrize(
    "reason",
    ["JobHeldUser", "PartitionConfig", "Job's account not known, so it can't use this partition (vip allows physics)"],
)
def test_job_that_waits_in_vain_is_named_and_ended(reason: str) -> None:
    cluster, reasons, waits, said = Cluster(j1=reason), {}, [], []
    queue(cluster, reasons, waits, said).look()
    assert cluster.ended == ["1"]
    assert reasons == {"1": f"Slurm job 1 waits: {reason}"}
    assert len(said) == 1
    assert said[0].startswith(f"results/s/a/r1: Slurm job 1 waits: {reason}: ")


def test_drained_nodes_are_named_at_once_and_waited_for_half_an_hour() -> None:
    cluster, reasons, waits, said = Cluster(j1=DRAINED), {}, [], []
    ours = queue(cluster, reasons, waits, said)
    for cluster.now in (0.0, 900.0, 1799.0):
        ours.look()
    assert (len(said), cluster.ended) == (1, [])
    assert "sinfo -R" in said[0]
    cluster.waits = {"j1": "Resources"}
    ours.look()
    cluster.waits = {"j1": DRAINED}
    for cluster.now in (1900.0, 3701.0):
        ours.look()
    assert cluster.ended == ["1"], "half an hour since they were drained again"
    assert "DRAINED" in reasons["1"]


def test_controller_that_is_away_ends_nothing() -> None:
    def away(*command: str) -> str:
        raise InputError("squeue: connection refused")

    slurm.Queue({}, lambda run: None, ask=away).look()


PARAMETERS = SimpleNamespace(arguments=["--workload", "a"], claims="{}", code="0123")


def left(cluster: Cluster, said: list[str], mark: str, ended: list[str]) -> slurm.Left:
    job = running.Running("a/r1", "7", "RUNNING", lambda: ended.append("7"), mark)
    return slurm.Left({"results/s/a/r1": job}, cluster, said.append)


def test_job_of_a_killed_call_is_taken_over_by_its_name() -> None:
    cluster, said, ended = Cluster(), [], []
    ours = left(cluster, said, slurm.mark(PARAMETERS), ended)
    assert ours.take("results/s/a/r1", slurm.mark(PARAMETERS), "call-2") == ("7", Path("/x/7.log"))
    assert ("scontrol", "update", "JobId=7", "JobName=call-2") in cluster.asked
    assert "runs already: it is waited for, and nothing is submitted" in said[0]
    assert ours.take("results/s/b/r1", slurm.mark(PARAMETERS), "call-2") is None


def test_job_that_trains_by_other_code_is_ended() -> None:
    cluster, said, ended = Cluster(), [], []
    edited = SimpleNamespace(**vars(PARAMETERS) | {"code": "4567"})
    assert (
        left(cluster, said, slurm.mark(PARAMETERS), ended).take("results/s/a/r1", slurm.mark(edited), "call-2") is None
    )
    assert ended == ["7"]
    assert "in another way: ended" in said[0]


def test_mark_is_found_in_the_script_of_a_job() -> None:
    command = running.with_mark("python -m snakemake --target-jobs 'train:study=s'", "0123abcd")
    assert running._MARK.search(f"#!/bin/sh\n# by sbatch\n\n{command}")[1] == "0123abcd"
    assert running.trained_by(command) == {"study": "s"}
