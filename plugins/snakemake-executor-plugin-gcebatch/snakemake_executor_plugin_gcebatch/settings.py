"""What can be set for the whole call, as `--gcebatch-...`, and what of it the jobs share."""

from dataclasses import dataclass, field, fields
from typing import Any, Optional

from snakemake_interface_common.exceptions import WorkflowError
from snakemake_interface_executor_plugins.settings import ExecutorSettingsBase

from snakemake_executor_plugin_gcebatch import spec


def _setting(default: Any, text: str, **more: Any) -> Any:
    return field(default=default, metadata={"help": text, **more})


# Optional, as Snakemake makes an argument's type of the field's and knows no `str | None`.
@dataclass
class ExecutorSettings(ExecutorSettingsBase):
    project: Optional[str] = _setting(None, "Google Cloud project that pays", env_var=True)
    region: Optional[str] = _setting(None, "Region of the jobs, such as us-central1", env_var=True)
    container: Optional[str] = _setting(
        None, "Container image with Snakemake, the storage plugin and the jobs' software; a rule may name its own as "
        "resource container", env_var=True,
    )  # fmt: skip
    zones: Optional[str] = _setting(None, "Zones that VMs may be in, comma-separated (default: all of the region)")
    machine_type: str = _setting("n2-standard-4", "Machine type of jobs that name none")
    spot: bool = _setting(False, "Use spot VMs; a rule may decide by its resource spot (0 or 1)")
    provisioning_model: Optional[str] = _setting(
        None, f"How VMs are had: {', '.join(spec.PROVISIONING)}; a rule may decide by its resource provisioning_model"
    )
    reservation: Optional[str] = _setting(
        None, "Reservation that VMs use, or NO_RESERVATION (default: any that fits); a rule may name its own"
    )
    driver_version: Optional[str] = _setting(
        None, "Version of NVIDIA's driver for rules with GPUs (default: Batch chooses)"
    )
    spot_retries: int = _setting(5, "How often a lost VM is replaced, 0 to 10")
    boot_disk_gb: int = _setting(50, "Size of the boot disk; a rule may ask for more by disk_mb")
    boot_disk_type: Optional[str] = _setting(
        None, "Type of the boot disk (default: hyperdisk-balanced for C4 and N4, which start from no other, else "
        "Batch's); a rule may name its own",
    )  # fmt: skip
    queue_timeout: int = _setting(1800, "Seconds without any VM after which a job that waits for one is given up")
    service_account: Optional[str] = _setting(None, "E-mail address of the VMs' service account", env_var=True)
    network: Optional[str] = _setting(None, "Network of the VMs: a name, or projects/HOST/global/networks/NAME")
    subnetwork: Optional[str] = _setting(
        None, "Subnetwork of the VMs: a name, or projects/HOST/regions/REGION/subnetworks/NAME"
    )
    no_external_ip: bool = _setting(False, "Give the VMs no address outside the network")
    labels: str = _setting("", "Labels of jobs and VMs, key=value,key=value: bills can be split by them")
    record_endings: Optional[str] = _setting(
        None,
        "Run a job that got no VM, lost all of them or ran out of time once more, here, so that it may record that: it "
        "finds how it ended (JSON) in the variable of this name",
    )


def site(settings: ExecutorSettings, storage_provider: str | None) -> spec.Site:
    """Return what the jobs share. Raises WorkflowError with a line for each setting that is missing or wrong."""
    about = {field.name: field.metadata["help"] for field in fields(settings)}
    wrong = [
        f"--gcebatch-{name} (or SNAKEMAKE_GCEBATCH_{name.upper()}) is missing: {about[name]}"
        for name in ("project", "region")
        if not getattr(settings, name)
    ]
    if not 0 <= settings.spot_retries <= 10:
        wrong.append(f"--gcebatch-spot-retries {settings.spot_retries}: 0 to 10 is allowed")
    if settings.provisioning_model not in (None, *spec.PROVISIONING):
        wrong.append(
            f"--gcebatch-provisioning-model {settings.provisioning_model!r}: one of {', '.join(spec.PROVISIONING)} "
            "is allowed"
        )
    if not storage_provider:
        wrong.append(
            "--default-storage-provider is missing: jobs and this machine share no files but those of a bucket"
        )
    try:
        labels = spec.labels_of(settings.labels)
    except ValueError as error:
        labels = {}
        wrong.append(f"--gcebatch-labels {error}")
    if wrong:
        raise WorkflowError("Google Batch:\n" + "\n".join(wrong))
    return spec.Site(
        project=str(settings.project),
        region=str(settings.region),
        spot_retries=settings.spot_retries,
        service_account=settings.service_account,
        network=settings.network,
        subnetwork=settings.subnetwork,
        external_ip=not settings.no_external_ip,
        labels=labels,
    )
