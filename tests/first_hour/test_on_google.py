"""Refusals of Google Batch, as its documents word them, through an emulator that is sent what Google would be sent."""

import subprocess
from pathlib import Path

import pytest

from tests.clusters.conftest import Cloud
from tests.first_hour.conftest import Ended

pytestmark = pytest.mark.slow

#: What every call is answered with, a word of the cause, and one of the remedy.
FORBIDDEN = {
    "api-not-enabled": (
        "Batch API has not been used in project 123 before or it is disabled. Enable it by visiting "
        "https://console.developers.google.com/apis/api/batch.googleapis.com/overview?project=123 then retry.",
        "the API is not enabled in this project",
        "gcloud services enable batch.googleapis.com",
    ),
    "iam": (
        "Permission 'batch.jobs.create' denied on 'projects/our-project/locations/us-central1/jobs/train-1'",
        "your account, or that of the VMs, lacks a role",
        "docs/clusters.md (Google Batch)",
    ),
    "service-account": (
        "caller does not have access to act as the specified service account: vms@our-project.iam.gserviceaccount.com",
        "you may not use the service account of the VMs",
        "roles/iam.serviceAccountUser",
    ),
}

#: The codes by which Google answers programs why (google.rpc.ErrorInfo), whatever the words beside them.
CODES = {
    "SERVICE_DISABLED": ("the API is not enabled in this project", "gcloud services enable batch.googleapis.com"),
    "BILLING_DISABLED": ("the project has no billing account", "billing/linkedaccount"),
    "CONSUMER_INVALID": ("there is no such project", "gcloud projects list"),
    "IAM_PERMISSION_DENIED": ("your account, or that of the VMs, lacks a role", "docs/clusters.md (Google Batch)"),
    "ACCESS_TOKEN_EXPIRED": ("nobody is logged in", "gcloud auth application-default login"),
    "RESOURCE_QUOTA_EXCEEDED": ("the project's quota does not allow this machine", "iam-admin/quotas"),
    "LOCATION_ORG_POLICY_VIOLATED": ("a policy of your organisation forbids it", "administrator"),
}

#: With which words a VM is refused, and what the last screen says.
REFUSED = {
    "quota": (
        "Batch Error: code - CODE_GCE_QUOTA_EXCEEDED, description - Quota 'NVIDIA_T4_GPUS' exceeded. Limit: 0.0 in "
        "region us-central1.",
        "the project's quota does not allow this machine",
        "ask for more of NVIDIA_T4_GPUS: https://console.cloud.google.com/iam-admin/quotas",
    ),
    "no-capacity": (
        "Batch Error: code - CODE_GCE_ZONE_RESOURCE_POOL_EXHAUSTED, description - The zone 'us-central1-a' does "
        "not have enough resources available to fulfill the request.",
        "no such machine is free there now",
        "name other zones",
    ),
}

#: What becomes of a container: its exit code and log, and what the last screen says.
BROKEN = {
    "image-pull": (
        125,
        "docker: Error response from daemon: manifest for registry/epochs-jax not found: manifest unknown",
        "the image cannot be pulled",
        "envs/images.sh",
    ),
    "image-denied": (
        125,
        'denied: Permission "artifactregistry.repositories.downloadArtifacts" denied on resource',
        "the image cannot be pulled",
        "roles/artifactregistry.reader",
    ),
    "container-does-not-start": (
        127,
        'docker: Error response from daemon: OCI runtime create failed: exec: "/bin/bash": no such file or directory',
        "the container does not start",
        "envs/images.sh",
    ),
    "no-driver": (
        125,
        'docker: Error response from daemon: could not select device driver "" with capabilities: [[gpu]].',
        "the container finds no driver of NVIDIA",
        "gpu_model",
    ),
    "old-packages": (
        1,
        "error: framework jax: jax is not installed; see envs/jax-gpu.lock",
        "the packages there are not those of the locks",
        "envs/images.sh for images",
    ),
}

#: Profile, the type by which its machine is known to the emulator.
TYPES = {"gce-gpu": "nvidia-tesla-t4", "gce-cpu": "n1-standard-1"}


def call(cloud: Cloud, profile: str, *arguments: str) -> Ended:
    done: subprocess.CompletedProcess = cloud.snakemake(profile, *arguments, check=False)
    return Ended(done.returncode, done.stdout + done.stderr)


on_each_profile = pytest.mark.parametrize("profile", TYPES)


@pytest.mark.represented_by("api-not-enabled-gce-gpu")
@on_each_profile
@pytest.mark.parametrize(("words", "cause", "to_do"), FORBIDDEN.values(), ids=FORBIDDEN)
def test_what_google_forbids(cloud: Cloud, profile: str, words: str, cause: str, to_do: str) -> None:
    cloud.emulator.forbidden = words
    call(cloud, profile).is_refused(cause, to_do)
    assert cloud.emulator.created == []


@pytest.mark.nightly
@pytest.mark.parametrize(("code", "cause", "to_do"), [(code, *rest) for code, rest in CODES.items()], ids=CODES)
def test_what_google_forbids_is_known_by_its_code_in_any_words(cloud: Cloud, code: str, cause: str, to_do: str) -> None:
    cloud.emulator.forbidden, cloud.emulator.reason = "The request was not accepted.", code
    ended = call(cloud, "gce-cpu")
    ended.is_refused(cause, to_do)
    assert f"{code}: 403 The request was not accepted." in ended.last_screen


@pytest.mark.represented_by("quota-gce-gpu")
@on_each_profile
@pytest.mark.parametrize(("words", "cause", "to_do"), REFUSED.values(), ids=REFUSED)
def test_machine_that_is_not_to_be_had(cloud: Cloud, profile: str, words: str, cause: str, to_do: str) -> None:
    """The record of it is made and reported, and the call has not done what was asked."""
    cloud.emulator.refuse[TYPES[profile]] = words
    ended = call(cloud, profile, "--gcebatch-queue-timeout", "3")
    ended.is_refused(cause, to_do)
    assert "1 refused, 0 submitted; at most 0.00 hours and 0.00 USD" in ended.said
    assert (cloud.project.path / "results/small/report.html").is_file()
    assert cloud.emulator.running() == []


@pytest.mark.nightly
@on_each_profile
@pytest.mark.parametrize(("code", "line", "cause", "to_do"), BROKEN.values(), ids=BROKEN)
def test_container_that_fails(cloud: Cloud, profile: str, code: int, line: str, cause: str, to_do: str) -> None:
    cloud.emulator.broken[TYPES[profile]] = code, ["Pulling image", line]
    ended = call(cloud, profile)
    ended.is_refused(cause, to_do)
    assert line in ended.last_screen.partition("log: .snakemake/gcebatch/smk-train-")[2]
    assert len(cloud.emulator.created) == 1, "it is not tried again"


@pytest.mark.nightly
@on_each_profile
def test_machine_that_never_reports(cloud: Cloud, profile: str) -> None:
    words = "No VM has agent reporting correctly within the time window 1080 seconds, VM state for instance x is ..."
    cloud.emulator.mute[TYPES[profile]] = words
    call(cloud, profile).is_refused("its account may not report to Batch", "roles/batch.agentReporter")


@pytest.mark.nightly
def test_smoke_of_google_fails_when_a_gpu_is_refused_and_asks_again_when_called_again(cloud: Cloud) -> None:
    """What `make smoke-gce` calls, with machines that the emulator has."""
    makefile = (Path(cloud.project.path) / "Makefile").read_text()
    calls = [line.split() for line in makefile.splitlines() if "report smoke" in line]
    assert [words[words.index("--profile") + 1] for words in calls] == ["gce-cpu", "gce-gpu"]
    words, cause, to_do = REFUSED["quota"]
    cloud.emulator.refuse["nvidia-tesla-t4"] = words
    arguments = calls[1][calls[1].index("--") + 1 :]
    for tries in (1, 2):
        call(cloud, "gce-gpu", *arguments, "--gcebatch-queue-timeout", "3").is_refused(cause, to_do)
        assert len(cloud.emulator.created) == tries
