"""`snakemake --profile slurm` on a real Slurm of this machine."""

import json
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir

import pytest
from filelock import FileLock

from tests.clusters import slurm
from tests.conftest import Project, copy_project, on_every_core

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not slurm.is_installed(),
        reason="needs root and Slurm: apt-get install -y --no-install-recommends slurm-wlm munge",
    ),
]

CPU, GPU = "mnist_mlp/node-cpu/jax/b128-tuned", "mnist_mlp/node-gpu/jax/b128-tuned"


@dataclass
class Cluster:
    project: Project
    slurm: slurm.Slurm
    plugins: Path

    def write(self, workload: str = "mnist_mlp", samples: float = 0.02, epochs: int = 2) -> None:
        study = (
            slurm.STUDY.replace("WORKLOAD", workload).replace("SAMPLES", str(samples)).replace("EPOCHS", str(epochs))
        )
        (self.project.path / "config" / "studies" / "small.yaml").write_text(study)

    def start(self, *arguments: str) -> subprocess.Popen:
        command = ["snakemake", "--profile", "slurm", "--latency-wait", "5", *arguments, "--config", "study=small"]
        environment = self.project.environment(PYTHONPATH=str(self.plugins / "slurm"))
        return subprocess.Popen(
            command, cwd=self.project.path, env=environment, text=True, preexec_fn=on_every_core,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip

    def wait_for_epoch(self, cell: str, number: int, process: subprocess.Popen) -> None:
        log = self.project.path / "results/small" / cell / "r1/train.log"
        end = time.monotonic() + 120
        while not (log.is_file() and f"epoch {number}/" in log.read_text()):
            assert time.monotonic() < end, "it never trained"
            assert process.poll() is None, "it ended"
            time.sleep(0.2)

    def job_on(self, partition: str) -> str:
        (found,) = [job for job, _, where in self.slurm.jobs() if where == partition]
        return found


@pytest.fixture(scope="module")
def service() -> Iterator[slurm.Slurm]:
    # One Slurm at a time: it has the ports. It is not below pytest's folder, into which munged's user may not look.
    with FileLock(Path(gettempdir()) / "epochs-slurm.lock"), TemporaryDirectory(prefix="slurm-") as folder:
        Path(folder).chmod(0o755)
        with slurm.running(Path(folder)) as started:
            yield started


@pytest.fixture
def cluster(service: slurm.Slurm, plugins: Path, tmp_path: Path) -> Cluster:
    project = copy_project(tmp_path / "project")
    with (project.path / "config" / "hardware.yaml").open("a") as catalogue:
        catalogue.write(slurm.MACHINES)
    made = Cluster(project, service, plugins)
    made.write()
    return made


def ended(process: subprocess.Popen, seconds: float = 300) -> str:
    said, _ = process.communicate(timeout=seconds)
    assert process.returncode == 0, said[-3000:]
    return said


def test_both_partitions_fill_one_report(cluster: Cluster) -> None:
    ended(cluster.start())
    for cell in (CPU, GPU):
        assert cluster.project.record(cell, "small")["status"] == "done"
    assert (cluster.project.path / "results/small/report.html").is_file()


def test_jobs_of_one_machine_go_as_an_array(cluster: Cluster) -> None:
    study = "config/studies/small.yaml"
    cluster.project.edit(study, "hardware: [node-cpu, node-gpu]", "hardware: [node-cpu]\nrepeats: 2\nunstable_above: 9")
    ended(cluster.start("--slurm-array-jobs", "train"))
    assert "ArrayTaskId=2" in cluster.slurm.say("scontrol", "show", "jobs")
    for repeat in (1, 2):
        run = cluster.project.path / "results/small" / CPU / f"r{repeat}" / "run.json"
        assert json.loads(run.read_text())["status"] == "done"


def test_training_that_fails_is_recorded_and_not_tried_again(cluster: Cluster) -> None:
    cluster.project.edit(
        "scripts/workloads/mnist_mlp.py", "def build(", "def build(*nothing):\n    1 / 0\n\n\ndef built("
    )
    ended(cluster.start())
    assert cluster.project.record(GPU, "small")["status"] == "failed"


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
