"""`snakemake --profile gce-gpu` from an empty folder to the report, on an emulator that really trains."""

import signal
import subprocess
import time

import pytest

from tests.clusters.conftest import IMAGE, Cloud
from tests.conftest import jobs
from tests.pages import Read

pytestmark = pytest.mark.slow

GPU, CPU = "mnist_mlp/vm-gpu/jax/b128-tuned", "mnist_mlp/vm-cpu/jax/b128-tuned"


def machines(cloud: Cloud) -> list[str]:
    return [job.allocation_policy.instances[0].policy.machine_type for job in cloud.emulator.created]


def record(cloud: Cloud, cell: str) -> dict:
    return cloud.project.record(cell, "small")


def test_each_profile_trains_its_machines_and_both_fill_one_report(cloud: Cloud) -> None:
    done = cloud.snakemake("gce-gpu")
    assert machines(cloud) == ["n1-standard-4"], "the GPU machine alone"
    labels = cloud.emulator.created[0].allocation_policy.labels
    assert {"study": "small", "hardware": "vm-gpu", "framework": "jax"}.items() <= labels.items()
    assert record(cloud, GPU)["status"] == "done"
    assert record(cloud, GPU)["provenance"]["container"] == IMAGE
    cloud.snakemake("gce-cpu")
    assert machines(cloud) == ["n1-standard-4", "n1-standard-1"]
    page = Read((cloud.project.path / "results/small/report.html").read_text())
    assert "a GPU" in page.text
    assert "a CPU" in page.text
    for profile in ("gce-gpu", "gce-cpu"):
        cloud.snakemake(profile)
    assert len(machines(cloud)) == 2, "what is there is not trained again"
    done = cloud.project.run("snakemake", "--profile", "local", "-R", "price", "--config", "study=small")
    assert len(machines(cloud)) == 2, done.stdout
    assert "train " not in " ".join(jobs(done.stdout + done.stderr)), "priced again without the bucket"


def test_preempted_training_goes_on_where_it_was(cloud: Cloud) -> None:
    cloud.project.edit("config/studies/small.yaml", "{samples: 0.02, epochs: 2}", "{samples: 0.5, epochs: 12}")
    subprocess.run(["git", "commit", "-qam", "longer"], cwd=cloud.project.path, check=True)
    command = ["snakemake", "--profile", "gce-gpu", "--seconds-between-status-checks", "1", "--config", "study=small"]
    process = subprocess.Popen(
        command, cwd=cloud.project.path, env=cloud.project.environment(**cloud.variables), text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    end = time.monotonic() + 120
    while not any("epoch 3/12" in cloud.emulator.log(name) for name in cloud.emulator.running()):
        assert time.monotonic() < end, "it never trained"
        assert process.poll() is None, "it ended"
        time.sleep(0.2)
    (name,) = cloud.emulator.running()
    cloud.emulator.preempt(name)
    said, _ = process.communicate(timeout=240)
    assert process.returncode == 0, said[-3000:]
    run = record(cloud, GPU)
    assert run["status"] == "done"
    first, second = run["attempts"]
    assert (first["ended"], second["ended"]) == ("preempted", "done")
    assert first["useful_seconds"] > 0, "the second began where the first one ended"
    assert run["final"]["epochs"] == 12
    attempts = (cloud.project.path / "results/small/attempts.csv").read_text().splitlines()
    assert len(attempts) == 3


def test_cell_without_quota_is_recorded_as_that(cloud: Cloud) -> None:
    cloud.emulator.refuse["nvidia-tesla-t4"] = "Quota 'NVIDIA_T4_GPUS' exceeded.  Limit: 0.0 in region us-central1."
    cloud.emulator.zones["nvidia-tesla-t4"] = ["europe-west4-b"]
    cloud.snakemake("gce-cpu")
    done = cloud.snakemake("gce-gpu")
    assert "others that have it: europe-west4-b" in done.stdout + done.stderr
    run = record(cloud, GPU)
    assert run["status"] == "quota"
    assert "NVIDIA_T4_GPUS" in run["reason"]
    assert "quota" in Read((cloud.project.path / "results/small/report.html").read_text()).text
    assert cloud.emulator.running() == []


def test_ctrl_c_leaves_no_machine(cloud: Cloud) -> None:
    command = ["snakemake", "--profile", "gce-cpu", "--config", "study=small"]
    process = subprocess.Popen(
        command, cwd=cloud.project.path, env=cloud.project.environment(**cloud.variables), text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    end = time.monotonic() + 120
    while not cloud.emulator.running():
        assert time.monotonic() < end, "it never began"
        assert process.poll() is None, "it ended"
        time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    said, _ = process.communicate(timeout=60)
    assert process.returncode != 0
    assert cloud.emulator.deleted == [job.name for job in cloud.emulator.created], said


@pytest.mark.parametrize(
    ("name", "words"),
    [("EPOCHS_BUCKET", "EPOCHS_BUCKET"), ("SNAKEMAKE_GCEBATCH_PROJECT", "--gcebatch-project")],
)
def test_setting_that_is_missing_is_told_before_anything_is_submitted(cloud: Cloud, name: str, words: str) -> None:
    del cloud.variables[name]
    done = cloud.snakemake("gce-cpu", check=False)
    assert done.returncode != 0
    assert words in done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr
    assert cloud.emulator.created == []


def test_study_without_such_a_machine_says_which_it_has(cloud: Cloud) -> None:
    done = cloud.project.run(
        "snakemake", "--profile", "gce-gpu", "-n", "--config", "study=local", check=False, **cloud.variables
    )
    assert done.returncode != 0
    assert "none is reached by profile 'gce-gpu'" in done.stdout + done.stderr
