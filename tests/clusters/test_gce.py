"""`snakemake --profile gce-gpu` from an empty folder to the report, on an emulator that really trains."""

import re
import signal
import subprocess

import pytest
from google.cloud import batch_v1 as batch

from tests.clusters.conftest import IMAGE, Cloud, machines_boot
from tests.conftest import LIMIT_SECONDS, jobs, wait_for
from tests.reading import Read
from tests.test_workflow import OWN_NET

pytestmark = pytest.mark.slow

#: It is dearer than the other GPU machine.
DEARER = """
vm-dear:
  label: a dear GPU
  machine: {cores: 1}
  clusters: {gce-gpu: {machine_type: n1-standard-8, gpu: 1, gpu_model: nvidia-tesla-v100}}
  rent: {provider: gce, region: us-central1, items: {n1-standard-8: 1, nvidia-tesla-v100: 1}}
"""

GPU, CPU = "mnist_mlp/vm-gpu/jax/b128-tuned", "mnist_mlp/vm-cpu/jax/b128-tuned"


def machines(cloud: Cloud) -> list[str]:
    return [job.allocation_policy.instances[0].policy.machine_type for job in cloud.emulator.created]


def record(cloud: Cloud, cell: str) -> dict:
    return cloud.project.record(cell, "small")


@pytest.mark.nightly
def test_each_profile_trains_its_machines_and_both_fill_one_report(cloud: Cloud) -> None:
    done = cloud.snakemake("gce-gpu")
    assert machines(cloud) == ["n1-standard-4"], "the GPU machine alone"
    labels = cloud.emulator.created[0].allocation_policy.labels
    assert {"study": "small", "hardware": "vm-gpu", "framework": "jax"}.items() <= labels.items()
    assert record(cloud, GPU)["status"] == "done"
    assert record(cloud, GPU)["provenance"]["container"] == IMAGE
    if machines_boot():
        (attempt,) = record(cloud, GPU)["attempts"]
        assert attempt["boot_seconds"] < 60, "since the VM began, not since this machine did"
        assert attempt["wait_seconds"] < 120
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


@pytest.mark.nightly
def test_what_a_net_of_ones_own_imports_is_sent_with_it(cloud: Cloud) -> None:
    nets = cloud.project.path / "nets"
    nets.mkdir()
    beside = "import os, sys\nsys.path.insert(0, os.path.dirname(__file__))\nimport own_size\nimport numpy"
    (nets / "my_net.py").write_text(OWN_NET.replace("import numpy", beside, 1).replace("320", "own_size.NUMBERS"))
    subprocess.run(["git", "add", "nets"], cwd=cloud.project.path, check=True)
    (nets / "own_size.py").write_text("NUMBERS = 320\n")  # git does not know it
    cloud.edit("config/studies/small.yaml", "workloads: [mnist_mlp]", "workloads: [nets/my_net.py]")
    cloud.edit("config/studies/small.yaml", "data: synthetic\n", "")
    cloud.edit("config/studies/small.yaml", "samples: 0.02", "samples: 1")
    cloud.snakemake("gce-cpu", config=("trust=all",))
    run = record(cloud, "my_net/vm-cpu/jax/b16-tuned")
    assert (run["status"], run["train_samples"]) == ("done", 320)


def test_preempted_training_goes_on_where_it_was(cloud: Cloud) -> None:
    cloud.edit("config/studies/small.yaml", "{samples: 0.02, epochs: 2}", "{samples: 0.5, epochs: 12}")
    process = cloud.start("gce-gpu", "results/small/attempts.csv")
    wait_for(lambda: any("epoch 3/12" in cloud.emulator.log(name) for name in cloud.emulator.running()), process)
    (name,) = cloud.emulator.running()
    cloud.emulator.preempt(name)
    said, _ = process.communicate(timeout=LIMIT_SECONDS)
    assert process.returncode == 0, said[-3000:]
    run = record(cloud, GPU)
    assert run["status"] == "done"
    first, second = run["attempts"]
    assert (first["ended"], second["ended"]) == ("preempted", "done")
    assert first["useful_seconds"] > 0, "the second began where the first one ended"
    assert run["final"]["epochs"] == 12
    attempts = (cloud.project.path / "results/small/attempts.csv").read_text().splitlines()
    assert len(attempts) == 3


@pytest.mark.nightly
def test_jobs_that_a_killed_snakemake_left_are_ended_and_no_others(cloud: Cloud) -> None:
    cloud.edit("config/studies/small.yaml", "{samples: 0.02, epochs: 2}", "{samples: 0.5, epochs: 400}")
    process = cloud.start("gce-gpu")
    process.kill()
    process.communicate()
    (mine,) = cloud.emulator.running()
    others = []
    for old, new in (("study=small,", "study=small2,"), ("gs://bucket/epochs", "gs://bucket/other")):
        job = batch.Job(cloud.emulator.created[0])
        container = job.task_groups[0].task_spec.runnables[0].container
        assert old in container.commands[1]
        container.commands = ["-c", f"sleep 300; : {container.commands[1].replace(old, new)}"]
        others.append(cloud.emulator.submit(job, f"other-{len(others)}"))
    labels = {"study": "small", "snakemake-output": "0123"}
    cloud.emulator.left = [{"name": "vm-1", "labels": labels}, {"name": "vm-2", "labels": labels | {"study": "x"}}]
    stop = ("./epd", "stop", "small", "--profile", "gce-gpu")
    said = cloud.project.run(*stop, **cloud.variables).stdout
    assert re.findall(r"^ended: (\S+) \((\S+), RUNNING\)$", said, re.MULTILINE) == [(f"{GPU}/r1", mine)]
    assert cloud.emulator.deleted == [mine]
    assert sorted(cloud.emulator.running()) == sorted(others)
    assert re.findall(r"gcloud compute instances delete (\S+) --zone us-central1-a", said) == ["vm-1"]
    assert "study small: no job runs or waits on Google Batch" in cloud.project.run(*stop, **cloud.variables).stdout
    assert cloud.emulator.deleted == [mine]


@pytest.mark.nightly
def test_cell_without_quota_is_recorded_as_that(cloud: Cloud) -> None:
    cloud.emulator.refuse["nvidia-tesla-t4"] = "Quota 'NVIDIA_T4_GPUS' exceeded.  Limit: 0.0 in region us-central1."
    cloud.emulator.zones["nvidia-tesla-t4"] = ["europe-west4-b"]
    done = cloud.snakemake("gce-gpu", check=False)
    assert done.returncode == 1, "it is recorded, and not what was asked"
    assert "other regions: europe-west4" in done.stdout + done.stderr
    run = record(cloud, GPU)
    assert run["status"] == "quota"
    assert "NVIDIA_T4_GPUS" in run["reason"]
    assert "quota" in Read((cloud.project.path / "results/small/report.html").read_text()).text
    assert cloud.emulator.running() == []


@pytest.mark.nightly
def test_machine_that_is_not_to_be_had_and_one_that_never_answers_are_recorded(cloud: Cloud) -> None:
    cloud.emulator.refuse["nvidia-tesla-t4"] = (
        "ZONE_RESOURCE_POOL_EXHAUSTED: us-central1-a does not have enough resources"
    )
    cloud.emulator.silent.add("n1-standard-1")
    cloud.emulator.minute_seconds = 1.0
    cloud.snakemake("gce-gpu", f"results/small/{GPU}/r1/run.json", "--gcebatch-queue-timeout", "3", check=False)
    run = record(cloud, GPU)
    assert (run["status"], run["times"]["total_seconds"]) == ("no_capacity", 0)
    cloud.snakemake("gce-cpu", f"results/small/{CPU}/r1/run.json", "--set-resources", "train:runtime=5")
    assert record(cloud, CPU)["status"] == "timed_out"
    status = cloud.project.run("./epd", "status", "small").stdout
    assert "2 runs of 2 configurations: 1 timed out, 1 no capacity" in status
    assert cloud.emulator.running() == []


@pytest.mark.nightly
def test_what_fails_on_the_cheapest_machine_is_not_tried_on_a_dearer_one(cloud: Cloud) -> None:
    with (cloud.project.path / "config/hardware.yaml").open("a") as catalogue:
        catalogue.write(DEARER)
    cloud.edit("config/studies/small.yaml", "hardware: [vm-cpu, vm-gpu]", "hardware: [vm-dear, vm-cpu, vm-gpu]")
    mnist = "scripts/workloads/mnist_mlp.py"
    cloud.edit(mnist, "def build(", "def build(*nothing):\n    1 / 0\n\n\ndef built(")
    quoted = cloud.snakemake("gce-gpu", "-n")
    assert re.search(r"│ all +│ 2 +│", quoted.stderr), "both are in the quote"
    done = cloud.snakemake("gce-gpu")
    assert machines(cloud) == ["n1-standard-4"]
    assert "not tried on dearer machines" in done.stdout + done.stderr
    page = Read((cloud.project.path / "results/small/report.html").read_text()).text
    assert "2 of 3 configurations have no run." in page
    assert "MNIST · MLP, JAX, b128-tuned: none on a dear GPU, a CPU; it failed on a GPU" in page
    status = cloud.project.run("./epd", "status", "small").stdout
    assert "not tried, as" in status
    assert "ZeroDivisionError" in status
    cloud.edit(mnist, "def build(*nothing):\n    1 / 0\n\n\ndef built(", "def build(")
    done = cloud.snakemake("gce-gpu")
    assert machines(cloud) == ["n1-standard-4", "n1-standard-4", "n1-standard-8"], "mended, the dearer one follows"
    assert record(cloud, GPU.replace("vm-gpu", "vm-dear"))["status"] == "done"
    assert re.search(r"2 of 2 runs ended, 0 submitted; at most .* USD in this call, of about .* USD", done.stderr)
    cloud.edit("config/prices/current.csv", "tesla-t4,us-central1,spot,0.1654", "tesla-t4,us-central1,spot,0.3")
    for config in ((), ("budget_usd=100",)):
        again = cloud.snakemake("gce-gpu", "-n", config=config)
        assert "price" in again.stdout
        assert not re.search(r"^(train|copy) ", again.stdout, re.MULTILINE), "a price trains nothing again"
    cloud.edit(mnist, "def build(", "EDITED = True\n\n\ndef build(")
    done = cloud.snakemake("gce-gpu", config=("budget_usd=0.1",), check=False)
    assert "2 of 2 runs could exceed it" in " ".join((done.stdout + done.stderr).split()), (
        "the run that waits counts too"
    )
    assert len(machines(cloud)) == 3


@pytest.mark.nightly  # tests/first_hour asks what to do about it too
def test_what_google_refuses_is_on_the_last_screen_and_counts_as_no_end(cloud: Cloud) -> None:
    cloud.emulator.forbidden = "Batch API has not been used in project 123 before or it is disabled. Enable it first."
    done = cloud.snakemake("gce-gpu", check=False)
    said = done.stdout + done.stderr
    assert done.returncode != 0
    assert "Error in rule train" in said
    assert cloud.emulator.forbidden in " ".join(said.split())
    assert "0 of 1 runs ended, 1 refused, 0 submitted; at most 0.00 hours and 0.00 USD" in said


def test_nothing_is_submitted_that_could_pass_the_budget(cloud: Cloud) -> None:
    done = cloud.snakemake("gce-gpu", config=("budget_usd=0.1",), check=False)
    assert done.returncode != 0
    assert "error: budget_usd: 0.1: no run is sure to cost less" in done.stdout + done.stderr
    assert cloud.emulator.created == []


@pytest.mark.nightly
def test_second_call_is_refused_and_ctrl_c_leaves_no_machine(cloud: Cloud) -> None:
    # Longer than the second call takes.
    cloud.edit("config/studies/small.yaml", "{samples: 0.02, epochs: 2}", "{samples: 0.5, epochs: 400}")
    process = cloud.start("gce-cpu")
    second = cloud.snakemake("gce-gpu", check=False)
    assert second.returncode != 0
    assert "cannot be locked" in second.stdout + second.stderr
    process.send_signal(signal.SIGINT)
    said, _ = process.communicate(timeout=LIMIT_SECONDS)
    assert process.returncode != 0
    assert machines(cloud) == ["n1-standard-1"], "nothing for the second one"
    assert cloud.emulator.deleted == [job.name for job in cloud.emulator.created], said


@pytest.mark.represented_by("EPOCHS_BUCKET")
@pytest.mark.parametrize(
    ("name", "words"),
    [("EPOCHS_BUCKET", "EPOCHS_BUCKET"), ("SNAKEMAKE_GCEBATCH_PROJECT", "still to be set: SNAKEMAKE_GCEBATCH_PROJECT")],
)
def test_setting_that_is_missing_is_named_before_anything_is_submitted(cloud: Cloud, name: str, words: str) -> None:
    del cloud.variables[name]
    done = cloud.snakemake("gce-cpu", check=False)
    assert done.returncode != 0
    assert words in done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr
    assert cloud.emulator.created == []


@pytest.mark.nightly
def test_study_without_such_a_machine_says_which_it_has(cloud: Cloud) -> None:
    done = cloud.project.run(
        "snakemake", "--profile", "gce-gpu", "-n", "--config", "study=local", check=False, **cloud.variables
    )
    assert done.returncode != 0
    assert "none is reached by profile 'gce-gpu'" in done.stdout + done.stderr
