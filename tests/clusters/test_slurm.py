"""`snakemake --profile slurm` on a real Slurm of this machine."""

import json
import re
import subprocess
from pathlib import Path

import pytest

from tests.clusters import slurm
from tests.clusters.conftest import Cluster
from tests.conftest import LIMIT_SECONDS, wait_for

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not slurm.is_installed(),
        reason="needs root and Slurm: apt-get install -y --no-install-recommends slurm-wlm munge",
    ),
]

#: All that somebody writes whose cluster has other partitions, an account, a time limit and modules.
MINE = """
slurm-cpu:
  label: our nodes
  machine: {cores: 1}
  clusters:
    slurm: {slurm_partition: short, slurm_account: lab, qos: normal, runtime: 30, mem_mb: 1000, modules: jax/1}
slurm-gpu:
  machine: {cores: 1, gpus: null}
  clusters:
    slurm: {slurm_partition: accel, slurm_account: lab, runtime: 30, mem_mb: 1000, gpu: null, gpu_model: null,
            gres: "gpu:fake:1"}
"""

#: Stands for the command `module` of a cluster, which a shell finds there.
MODULE = """
module() {
    echo "$@" >> MODULES
}
"""

CPU, GPU = "mnist_mlp/node-cpu/jax/b128-tuned", "mnist_mlp/node-gpu/jax/b128-tuned"


def ended(process: subprocess.Popen) -> str:
    said, _ = process.communicate(timeout=LIMIT_SECONDS)
    assert process.returncode == 0, said[-3000:]
    return said


def test_both_partitions_fill_one_report(cluster: Cluster) -> None:
    ended(cluster.start())
    for cell in (CPU, GPU):
        assert cluster.project.record(cell, "small")["status"] == "done"
    assert (cluster.project.path / "results/small/report.html").is_file()


@pytest.mark.nightly
def test_jobs_of_one_machine_go_as_an_array(cluster: Cluster) -> None:
    study = "config/studies/small.yaml"
    cluster.project.edit(study, "hardware: [node-cpu, node-gpu]", "hardware: [node-cpu]\nrepeats: 2\nunstable_above: 9")
    ended(cluster.start("--slurm-array-jobs", "train"))
    assert "ArrayTaskId=2" in cluster.slurm.say("scontrol", "show", "jobs")
    for repeat in (1, 2):
        run = cluster.project.path / "results/small" / CPU / f"r{repeat}" / "run.json"
        assert json.loads(run.read_text())["status"] == "done"


@pytest.mark.nightly
def test_training_that_fails_is_recorded_and_not_tried_again(cluster: Cluster) -> None:
    cluster.project.edit(
        "scripts/workloads/mnist_mlp.py", "def build(", "def build(*nothing):\n    1 / 0\n\n\ndef built("
    )
    ended(cluster.start())
    assert cluster.project.record(GPU, "small")["status"] == "failed"


@pytest.mark.represented_by("requeue")
@pytest.mark.parametrize("event", ["requeue", "scancel"])
def test_training_that_is_interrupted_goes_on_where_it_was(cluster: Cluster, event: str) -> None:
    cluster.write(samples=0.5, epochs=12)
    process = cluster.start(f"results/small/{GPU}/r1/run.json")
    cluster.wait_for_epoch(GPU, 3, process)
    job = cluster.job_on("gpu")
    cluster.slurm.say(*(["scontrol", "requeue", job] if event == "requeue" else ["scancel", job]))
    ended(process)
    run = cluster.project.record(GPU, "small")
    assert run["status"] == "done"
    assert [attempt["ended"] for attempt in run["attempts"]] == ["preempted", "done"]
    assert run["attempts"][0]["useful_seconds"] > 0


@pytest.mark.nightly
def test_node_that_is_lost_costs_what_was_not_saved(cluster: Cluster) -> None:
    cluster.write(samples=0.5, epochs=12)
    process = cluster.start(f"results/small/{GPU}/r1/run.json")
    cluster.wait_for_epoch(GPU, 3, process)
    cluster.slurm.lose("gpu1")
    cluster.slurm.bring_back("gpu1")
    ended(process)
    run = cluster.project.record(GPU, "small")
    assert run["status"] == "done"
    assert [attempt["ended"] for attempt in run["attempts"]] == ["lost", "done"]


@pytest.mark.nightly
def test_fresh_clone_runs_on_another_cluster_by_its_local_file_alone(cluster: Cluster, tmp_path: Path) -> None:
    path = cluster.project.path
    (path / "config" / "studies" / "small.yaml").unlink()
    (path / "config" / "hardware.local.yaml").write_text(MINE)
    (tmp_path / "bin").mkdir()
    # Without accounting nobody knows an account; the plugin asks for those that there are.
    (tmp_path / "bin" / "sacctmgr").write_text("#!/bin/sh\necho lab\n")
    (tmp_path / "bin" / "sacctmgr").chmod(0o755)
    (tmp_path / "init").write_text(MODULE.replace("MODULES", str(tmp_path / "modules")))
    small = ("data=synthetic", "workloads=[mnist_mlp]", "frameworks=[jax]")
    variables = {
        "PATH": f"{tmp_path / 'bin'}:{cluster.project.environment()['PATH']}",
        "BASH_ENV": str(tmp_path / "init"),
    }
    process = cluster.start(config=("study=slurm", "base={hardware: slurm-cpu, framework: jax}", *small), **variables)
    ended(process)
    for machine in ("slurm-cpu", "slurm-gpu"):
        assert cluster.project.record(f"mnist_mlp/{machine}/jax/b128", "slurm")["status"] == "done"
    assert "our nodes" in (path / "results/slurm/report.html").read_text()
    jobs = cluster.slurm.say("scontrol", "show", "jobs").split("\n\n")
    for partition in ("short", "accel"):
        (job,) = [job for job in jobs if f"Partition={partition} " in job]
        assert "Account=lab " in job
        assert "TimeLimit=00:30:00 " in job
    assert "gres:gpu:fake:1" in job
    assert (tmp_path / "modules").read_text() == "load jax/1\n", "in the job of the machine that names one"


def test_node_of_the_cluster_may_be_without_network(cluster: Cluster) -> None:
    """It is the one on which all tests of this file train."""
    interfaces = cluster.slurm.say("srun", "--partition=gpu", "cat", "/proc/net/dev")
    assert sorted(re.findall(r"^ *(\w+):", interfaces, re.MULTILINE)) == ["epochs1", "lo"]


def test_partition_that_is_not_there_is_named_with_those_that_are(cluster: Cluster) -> None:
    cluster.project.edit("config/hardware.local.yaml", "slurm_partition: gpu", "slurm_partition: gpus")
    said, _ = cluster.start().communicate(timeout=LIMIT_SECONDS)
    words = (
        "node-gpu: slurm_partition: 'gpus' is unknown: it is one of accel, cpu, gpu, short, vip; name yours in config/"
    )
    assert words in said
    assert cluster.slurm.jobs() == []


@pytest.mark.nightly
def test_jobs_that_a_killed_snakemake_left_are_ended_and_no_others(cluster: Cluster, tmp_path: Path) -> None:
    cluster.write(samples=0.5, epochs=400)
    process = cluster.start()
    wait_for(lambda: [state for _, state, _ in cluster.slurm.jobs()] == ["RUNNING"] * 2, process)
    process.kill()
    process.communicate()
    others = []
    for folder, study in ((cluster.project.path, "small2"), (tmp_path, "small")):
        target = f"train:study={study},workload=mnist_mlp,hardware=node-cpu,framework=jax,variant=b128,repeat=1"
        words = ["sbatch", "--parsable", "--partition=short", "--output=/dev/null", f"--chdir={folder}"]
        others.append(cluster.slurm.say(*words, f"--wrap=sleep 300; : --target-jobs '{target}'").strip())
    for expected in (2, 0):
        said = cluster.project.run("./epd", "stop", "small", "--profile", "slurm").stdout
        assert len([line for line in said.splitlines() if line.startswith("ended: mnist_mlp/node-")]) == expected, said
    assert "study small: no job runs or waits on this Slurm" in said
    wait_for(lambda: [job for job, _, _ in cluster.slurm.jobs()] == others)
    cluster.slurm.say("scancel", *others)
