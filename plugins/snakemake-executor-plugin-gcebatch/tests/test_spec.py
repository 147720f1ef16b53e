import re
import signal
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from google.cloud import batch_v1 as batch
from snakemake_executor_plugin_gcebatch import spec

SITE = spec.Site("our-project", "us-central1", labels={"team": "vision"})
CPU = spec.Machine("n2-standard-4", "image@sha256:1", runtime_minutes=90, threads=4, memory_mib=8000)
T4 = spec.Machine(
    "n1-standard-8",
    "image",
    gpus=2,
    gpu_model="nvidia-tesla-t4",
    provisioning="SPOT",
    zones=("us-central1-a",),
)
A100 = spec.Machine("a2-highgpu-1g", "image", gpus=1)


def made(machine: spec.Machine, site: spec.Site = SITE) -> tuple[batch.Job, batch.TaskSpec, batch.AllocationPolicy]:
    job = spec.job("python -m snakemake", machine, site, {"TOKEN": "a b"}, {"snakemake-rule": "train"})
    return job, job.task_groups[0].task_spec, job.allocation_policy


def test_one_container_runs_the_command_in_the_image() -> None:
    job, task, _ = made(CPU)
    (runnable,) = task.runnables
    assert runnable.container.image_uri == "image@sha256:1"
    assert "\n(mkdir -p /workdir && cd /workdir && python -m snakemake) &\n" in runnable.container.commands[1]
    assert dict(runnable.environment.variables) == {"CONTAINER_IMAGE": "image@sha256:1", "TOKEN": "a b"}
    assert task.max_run_duration.total_seconds() == 5400
    assert (task.compute_resource.cpu_milli, task.compute_resource.memory_mib) == (4000, 8000)
    assert job.task_groups[0].task_count == 1


@pytest.mark.parametrize(("code", "waits"), [(0, ""), (1, "waits\n")])
def test_what_ends_well_after_the_notice_of_a_preemption_does_not_wait(tmp_path: Path, code: int, waits: str) -> None:
    command = f"trap 'exit {code}' TERM; sleep 1; echo begun; sleep 60 & wait"  # begun when the shell listens
    shell = spec.job(command, CPU, SITE, {}, {}).task_groups[0].task_spec.runnables[0].container.commands[1]
    assert "sleep 120" in shell
    shell = shell.replace("/workdir", str(tmp_path)).replace("sleep 120", "echo waits")
    with subprocess.Popen(["bash", "-c", shell], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        assert process.stdout.readline() == "begun\n"
        process.send_signal(signal.SIGTERM)
        assert process.stdout.read() == waits
    assert process.returncode == code


def test_machine_without_gpus_asks_for_none() -> None:
    _, task, allocation = made(CPU)
    (instance,) = allocation.instances
    assert not instance.install_gpu_drivers
    assert not instance.policy.accelerators
    assert instance.policy.provisioning_model.name == "STANDARD"
    assert "--privileged" not in task.runnables[0].container.options
    assert not allocation.location.allowed_locations


def test_gpus_come_by_type_and_number_with_their_driver() -> None:
    _, task, allocation = made(T4)
    (instance,) = allocation.instances
    (accelerator,) = instance.policy.accelerators
    assert (accelerator.type_, accelerator.count) == ("nvidia-tesla-t4", 2)
    assert instance.install_gpu_drivers
    assert instance.policy.provisioning_model.name == "SPOT"
    assert allocation.location.allowed_locations == ["zones/us-central1-a"]
    assert "--privileged" in task.runnables[0].container.options
    assert "/var/lib/nvidia/lib64:/usr/local/nvidia/lib64" in task.runnables[0].container.volumes


def test_machine_type_with_gpus_built_in_names_no_accelerator() -> None:
    _, task, allocation = made(A100)
    assert allocation.instances[0].install_gpu_drivers
    assert not allocation.instances[0].policy.accelerators
    assert "--privileged" in task.runnables[0].container.options


def test_only_lost_vms_are_replaced() -> None:
    _, task, _ = made(T4)
    (policy,) = task.lifecycle_policies
    assert policy.action.name == "RETRY_TASK"
    assert list(policy.action_condition.exit_codes) == [50001, 50002, 50003, 50004, 50006]
    assert task.max_retry_count == 5


def test_labels_are_on_the_vms_too() -> None:
    job, _, allocation = made(CPU)
    assert dict(job.labels) == dict(allocation.labels) == {"team": "vision", "snakemake-rule": "train"}


def test_vm_may_have_no_address_outside() -> None:
    _, _, allocation = made(CPU, spec.Site("p", "r", external_ip=False))
    (interface,) = allocation.network.network_interfaces
    assert (interface.network, interface.no_external_ip_address) == ("", True)


@pytest.mark.parametrize(
    ("network", "subnetwork", "in_full"),
    [
        ("n", "s", ("global/networks/n", "regions/r/subnetworks/s")),
        ("projects/host/global/networks/n", None, ("projects/host/global/networks/n", "")),
        (None, "projects/host/regions/r/subnetworks/s", ("", "projects/host/regions/r/subnetworks/s")),
    ],
)
def test_networks_are_named_in_full(network: str | None, subnetwork: str | None, in_full: tuple[str, str]) -> None:
    _, _, allocation = made(CPU, spec.Site("p", "r", network=network, subnetwork=subnetwork))
    (interface,) = allocation.network.network_interfaces
    assert (interface.network, interface.subnetwork) == in_full


@pytest.mark.parametrize(
    ("machine_type", "given", "disk"),
    [
        ("n2-standard-4", None, ""),
        ("c3-standard-8", None, ""),
        ("c4-standard-8", None, "hyperdisk-balanced"),
        ("n4d-standard-8", None, "hyperdisk-balanced"),
        ("c4-standard-8", "hyperdisk-extreme", "hyperdisk-extreme"),
        ("n2-standard-4", "pd-ssd", "pd-ssd"),
    ],
)
def test_boot_disk_is_of_a_type_that_the_machine_starts_from(machine_type: str, given: str | None, disk: str) -> None:
    _, _, allocation = made(replace(CPU, machine_type=machine_type, boot_disk_type=given))
    assert allocation.instances[0].policy.boot_disk.type_ == disk


def test_vm_is_had_with_a_flexible_start_or_from_a_reservation() -> None:
    _, _, allocation = made(replace(T4, provisioning="FLEX_START", reservation="NO_RESERVATION"))
    policy = allocation.instances[0].policy
    assert (policy.provisioning_model.name, policy.reservation) == ("FLEX_START", "NO_RESERVATION")
    bound = "projects/p/reservations/r"
    _, _, allocation = made(replace(T4, provisioning="RESERVATION_BOUND", reservation=bound))
    policy = allocation.instances[0].policy
    assert (policy.provisioning_model.name, policy.reservation) == ("RESERVATION_BOUND", bound)


def test_driver_is_of_the_version_that_is_asked_for() -> None:
    _, _, allocation = made(replace(T4, driver_version="580.82.07"))
    assert allocation.instances[0].policy.accelerators[0].driver_version == "580.82.07"
    assert made(T4)[2].instances[0].policy.accelerators[0].driver_version == ""


@pytest.mark.parametrize(
    ("machine_type", "model"),
    [
        ("g2-standard-4", "nvidia-l4"),
        ("a2-highgpu-1g", "nvidia-tesla-a100"),
        ("a2-ultragpu-1g", "nvidia-a100-80gb"),
        ("a3-highgpu-1g", "nvidia-h100-80gb"),
    ],
)
def test_driver_of_built_in_gpus_is_asked_for_their_type(machine_type: str, model: str) -> None:
    machine = replace(T4, machine_type=machine_type, gpu_model=None)
    assert not made(machine)[2].instances[0].policy.accelerators, "they come with the machine"
    (asked,) = made(replace(machine, driver_version="580.82.07"))[2].instances[0].policy.accelerators
    assert (asked.type_, asked.count, asked.driver_version) == (model, T4.gpus, "580.82.07")


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"provisioning": "spot"}, "'spot': one of STANDARD, SPOT, FLEX_START, RESERVATION_BOUND"),
        ({"provisioning": "RESERVATION_BOUND"}, "needs a reservation"),
        ({"provisioning": "FLEX_START", "reservation": "r"}, "'r': none is used by provisioning_model FLEX_START"),
        ({"driver_version": "580.82.07"}, "needs gpu and gpu_model"),
    ],
)
def test_what_cannot_be_had_together_is_said(given: dict, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        replace(CPU, **given)


def test_docker_waits_as_long_as_compute_engine() -> None:
    options = made(CPU)[1].runnables[0].container.options
    assert "--stop-timeout=30" in options
    assert "--init" not in options


@pytest.mark.parametrize("rule", ["train", "Train_2", "9lives", "-", "x" * 99])
def test_ids_are_what_batch_takes(rule: str) -> None:
    made_id = spec.job_id(rule, spec.digest("a"), 1_790_000_000)
    assert re.fullmatch(r"[a-z]([-a-z0-9]{0,61}[a-z0-9])?", made_id)


def test_labels_are_read() -> None:
    assert spec.labels_of("") == {}
    assert spec.labels_of("study=full, team=vision_1") == {"study": "full", "team": "vision_1"}


@pytest.mark.parametrize("text", ["study", "Study=full", "study=Full", "study=a b", f"a={'x' * 64}"])
def test_what_is_no_label_is_named(text: str) -> None:
    with pytest.raises(ValueError, match="is no label"):
        spec.labels_of(text)


def test_what_a_workflow_names_becomes_labels() -> None:
    assert spec.as_labels("study=My study,hardware=gce-T4") == {"study": "my-study", "hardware": "gce-t4"}
    assert spec.as_labels("2nd=b,_3=c") == {"key-2nd": "b", "key-3": "c"}, "a key begins with a letter"


@pytest.mark.parametrize(("text", "label"), [("imdb/cpu1 T4", "imdb-cpu1-t4"), ("-a-", "a"), ("a" * 70, "a" * 63)])
def test_any_text_becomes_a_label(text: str, label: str) -> None:
    assert spec.label(text) == label
