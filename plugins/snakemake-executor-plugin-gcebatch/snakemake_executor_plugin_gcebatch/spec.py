"""From a Snakemake job's resources to a Google Batch job. Pure: nothing here speaks to Google.

Reference: https://cloud.google.com/batch/docs/reference/rest/v1/projects.locations.jobs
"""

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta

from google.cloud import batch_v1 as batch

#: Exit codes by which Batch says that the VM failed and not the job: preempted, no longer answering, rebooted, stuck,
#: recreated. https://cloud.google.com/batch/docs/troubleshooting#reserved-exit-codes
VM_LOST = (50001, 50002, 50003, 50004, 50006)

#: The task ran longer than its `max_run_duration`.
TIMED_OUT = 50005

#: Compute Engine's notice of a preemption: docker's own patience ends after 10 s.
_STOP = "--stop-timeout=30"

#: Docker warns the first process alone that its VM is preempted: this shell, which is no `--init` (whose program is not
#: in every Container-Optimized OS) and passes it to all processes of the command, so that they can save themselves.
#: What has done so waits for the end of its VM: Batch would take an exit code for a failure, other than 0.
_SHELL = """\
set -m
(mkdir -p /workdir && cd /workdir && {command}) &
job=$!
trap 'warned=1; kill -TERM -- "-$job"' TERM
until wait "$job"; ! kill -0 "$job" 2> /dev/null; do :; done
wait "$job"
code=$?
[ -z "$warned" ] || [ "$code" -eq 0 ] || sleep 120
exit $code
"""

#: Where Batch's installation of the driver puts it on a Container-Optimized OS.
_DRIVER_VOLUMES = (
    "/var/lib/nvidia/lib64:/usr/local/nvidia/lib64",
    "/var/lib/nvidia/bin:/usr/local/nvidia/bin",
)
_DRIVER_OPTIONS = "--privileged --shm-size=8g -e LD_LIBRARY_PATH=/usr/local/nvidia/lib64"

#: How a VM is had, in the words of Google Batch.
PROVISIONING = ("STANDARD", "SPOT", "FLEX_START", "RESERVATION_BOUND")

#: Google's name of the GPUs that are built into a machine type, by how that begins: a driver is asked for by it.
#: https://cloud.google.com/compute/docs/gpus
_BUILT_IN = {
    "g2-": "nvidia-l4",
    "a2-highgpu-": "nvidia-tesla-a100",
    "a2-megagpu-": "nvidia-tesla-a100",
    "a2-ultragpu-": "nvidia-a100-80gb",
    "a3-highgpu-": "nvidia-h100-80gb",
    "a3-edgegpu-": "nvidia-h100-80gb",
    "a3-megagpu-": "nvidia-h100-mega-80gb",
    "a3-ultragpu-": "nvidia-h200-141gb",
}

#: Machine types that start from no other disk than a Hyperdisk.
#: https://cloud.google.com/compute/docs/disks/hyperdisks
_HYPERDISK_ONLY = re.compile(r"(c4|c4a|c4d|n4|n4a|n4d)-")


@dataclass(frozen=True)
class Machine:
    """The VM that a job asks for.

    `gpu_model` is Google's name of an accelerator type (`nvidia-tesla-t4`), None on a machine type that has its
    GPUs built in (`a2-highgpu-1g`, `g2-standard-4`). `provisioning` is one of PROVISIONING. `reservation` is one that
    is to be used, or NO_RESERVATION; without, any that fits. `driver_version` is NVIDIA's; without, Batch chooses.
    `runtime_minutes` is the time after which Batch ends the job. Raises ValueError for what cannot be had together.
    """

    machine_type: str
    image: str
    gpus: int = 0
    gpu_model: str | None = None
    provisioning: str = "STANDARD"
    reservation: str | None = None
    driver_version: str | None = None
    zones: Sequence[str] = ()
    runtime_minutes: int = 1440
    boot_disk_gb: int = 50
    boot_disk_type: str | None = None
    memory_mib: int | None = None
    threads: int = 1

    def __post_init__(self) -> None:
        if self.provisioning not in PROVISIONING:
            raise ValueError(f"provisioning_model {self.provisioning!r}: one of {', '.join(PROVISIONING)} is allowed")
        named = self.reservation not in (None, "NO_RESERVATION")
        if self.provisioning == "RESERVATION_BOUND" and not named:
            raise ValueError("provisioning_model RESERVATION_BOUND needs a reservation by its name")
        if self.provisioning in ("SPOT", "FLEX_START") and named:
            raise ValueError(
                f"reservation {self.reservation!r}: none is used by provisioning_model {self.provisioning}"
            )
        if self.driver_version and not (self.gpus and self.accelerator):
            raise ValueError(f"driver_version {self.driver_version!r} needs gpu and gpu_model: the type that it is for")

    @property
    def accelerator(self) -> str | None:
        """Google's name of the GPUs' type: as asked for, or that of a machine type that has them built in."""
        built_in = (model for prefix, model in _BUILT_IN.items() if self.machine_type.startswith(prefix))
        return self.gpu_model or next(built_in, None)


@dataclass(frozen=True)
class Site:
    """What all jobs of a workflow share."""

    project: str
    region: str
    spot_retries: int = 5
    service_account: str | None = None
    network: str | None = None
    subnetwork: str | None = None
    external_ip: bool = True
    labels: Mapping[str, str] = field(default_factory=dict)

    @property
    def parent(self) -> str:
        return f"projects/{self.project}/locations/{self.region}"


def label(text: str, most: int = 63) -> str:
    """Return `text` as the value of a label: small letters, digits, - and _; cut at `most`."""
    return re.sub(r"[^a-z0-9_-]+", "-", text.lower()).strip("-_")[:most].rstrip("-_")


def digest(*texts: str) -> str:
    """Return 16 hexadecimal digits that stand for the texts."""
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()[:16]


def job_id(rule: str, key: str, turn: int) -> str:
    """Return an id for a Batch job: RFC 1035, at most 63 characters, the same for the same job and turn."""
    name = re.sub(r"[^a-z0-9]+", "-", rule.lower()).strip("-")[:30].rstrip("-")
    return f"smk-{name or 'job'}-{key}-{turn}"


def labels_of(text: str) -> dict[str, str]:
    """Return the labels of `key=value,key=value`. Raises ValueError for what is none."""
    pairs = [pair.strip() for pair in text.split(",") if pair.strip()]
    found = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals or not re.fullmatch(r"[a-z][a-z0-9_-]{0,62}", key) or value != label(value):
            raise ValueError(f"{pair!r} is no label: key=value of small letters, digits, - and _, at most 63 each")
        found[key] = value
    return found


def as_labels(text: str) -> dict[str, str]:
    """Return the labels nearest to `key=value,key=value`, whatever the keys and values are."""
    pairs = [pair.partition("=") for pair in text.split(",") if pair.strip()]
    return {_label_key(key): label(value) for key, _, value in pairs}


def _label_key(text: str) -> str:
    """Return `text` as the key of a label, which begins with a letter."""
    key = label(text)
    return key if key[:1].isalpha() else label(f"key-{key}")


def job(
    command: str, machine: Machine, site: Site, variables: Mapping[str, str], labels: Mapping[str, str]
) -> batch.Job:
    """Return the Batch job that runs `command` in the image on a VM of its own; CONTAINER_IMAGE says which.

    The VM carries the labels, too: bills are by VM. A VM that is lost is replaced, at most `spot_retries` times;
    a command that fails is not tried again.
    """
    options = _STOP
    if machine.gpus:
        options += f" {_DRIVER_OPTIONS}"
    environment = batch.Environment(variables={"CONTAINER_IMAGE": machine.image} | dict(variables))
    container = batch.Runnable.Container(
        image_uri=machine.image,
        entrypoint="/bin/bash",
        commands=["-c", _SHELL.format(command=command)],
        options=options,
        volumes=_DRIVER_VOLUMES if machine.gpus else (),
    )
    all_labels = {**site.labels, **labels}
    task = batch.TaskSpec(
        runnables=[batch.Runnable(container=container, environment=environment)],
        max_run_duration=timedelta(minutes=machine.runtime_minutes),
        max_retry_count=site.spot_retries,
        lifecycle_policies=[
            batch.LifecyclePolicy(
                action=batch.LifecyclePolicy.Action.RETRY_TASK,
                action_condition=batch.LifecyclePolicy.ActionCondition(exit_codes=VM_LOST),
            )
        ],
        compute_resource=_whole_machine(machine),
    )
    return batch.Job(
        task_groups=[batch.TaskGroup(task_spec=task, task_count=1)],
        allocation_policy=_allocation(machine, site, all_labels),
        labels=all_labels,
        logs_policy=batch.LogsPolicy(destination=batch.LogsPolicy.Destination.CLOUD_LOGGING),
    )


def _whole_machine(machine: Machine) -> batch.ComputeResource:
    """Return what a task must find: Batch places by it, and the VM's type is given anyway."""
    return batch.ComputeResource(cpu_milli=1000 * machine.threads, memory_mib=machine.memory_mib or 1024)


def _disk_type(machine: Machine) -> str | None:
    """Return the type of the boot disk; None where Batch chooses."""
    needed = "hyperdisk-balanced" if _HYPERDISK_ONLY.match(machine.machine_type) else None
    return machine.boot_disk_type or needed


def _in_full(name: str | None, place: str) -> str | None:
    """Return the resource name of a network that is given by its name alone; that of another project as it is."""
    return f"{place}/{name}" if name and "/" not in name else name


def _allocation(machine: Machine, site: Site, labels: Mapping[str, str]) -> batch.AllocationPolicy:
    policy = batch.AllocationPolicy
    disk = policy.Disk(image="batch-cos", size_gb=machine.boot_disk_gb, type_=_disk_type(machine))
    vm = policy.InstancePolicy(
        machine_type=machine.machine_type,
        provisioning_model=policy.ProvisioningModel[machine.provisioning],
        reservation=machine.reservation,
        boot_disk=disk,
    )
    # Built-in GPUs are not asked for, unless their driver is.
    if machine.gpus and (machine.gpu_model or machine.driver_version):
        vm.accelerators = [
            policy.Accelerator(type_=machine.accelerator, count=machine.gpus, driver_version=machine.driver_version)
        ]
    allocation = policy(
        instances=[policy.InstancePolicyOrTemplate(policy=vm, install_gpu_drivers=bool(machine.gpus))],
        labels=dict(labels),
    )
    if machine.zones:
        allocation.location = policy.LocationPolicy(allowed_locations=[f"zones/{zone}" for zone in machine.zones])
    if site.service_account:
        allocation.service_account = batch.ServiceAccount(email=site.service_account)
    if site.network or site.subnetwork or not site.external_ip:
        interface = policy.NetworkInterface(
            network=_in_full(site.network, "global/networks"),
            subnetwork=_in_full(site.subnetwork, f"regions/{site.region}/subnetworks"),
            no_external_ip_address=not site.external_ip,
        )
        allocation.network = policy.NetworkPolicy(network_interfaces=[interface])
    return allocation
