"""Each refusal by the words in which it comes: recorded from programs that ran here, or from the maker's documents."""

import re

import pytest
from google.api.error_reason_pb2 import ErrorReason
from google.auth._default import _CLOUD_SDK_MISSING_CREDENTIALS
from google.auth.exceptions import DefaultCredentialsError

from scripts.workflow import remedies

#: What Slurm 22.05 said when it was asked, by the word that says what to change.
SLURM = {
    "sbatch: error: Memory specification can not be satisfied sbatch: error: Batch job submission failed: Requested "
    "node configuration is not available": "mem_mb",
    "sbatch: error: Batch job submission failed: Invalid feature specification": "sinfo",
    "Slurm job 2 waits: PartitionConfig": "slurm_partition",
    "Slurm job 3 waits: Job's account not known, so it can't use this partition (vip allows physics)": "slurm_account",
    "Slurm job 9 waits: PartitionTimeLimit": "runtime",
    "Slurm job 10 waits: PartitionDown": "sinfo -R",
    "Slurm job 14 waits: JobHeldUser": "scontrol release",
    "Slurm job 15 waits: Nodes required for job are DOWN, DRAINED or reserved for jobs in higher priority "
    "partitions": "sinfo -R",
    "sbatch: error: invalid partition specified: gpus sbatch: error: Batch job submission failed: Invalid partition "
    "name specified": "sinfo -s",
    "sbatch: error: Batch job submission failed: Required partition not available (inactive or drain)": "sinfo -R",
    # Of its sources (slurm_errno.c), as they need an accounting database, and of the executor's plugin 2.8.0
    "sbatch: error: Batch job submission failed: Invalid qos specification": "set qos",
    "sbatch: error: Batch job submission failed: Invalid account or account/partition combination "
    "specified": "slurm_account",
    "The given account lab appears to be invalid. Available accounts: physics": "slurm_account",
    "sbatch: error: Batch job submission failed: Job violates accounting/QOS policy (job submit limit, user's size "
    "and/or time limits)": "--jobs",
    "sbatch: error: Batch job submission failed: Invalid generic resource (gres) specification": "gpu_model",
    "sbatch: error: Batch job submission failed: Requested time limit is invalid (missing or exceeds some "
    "limit)": "runtime",
    "sbatch: error: Batch job submission failed: Unable to contact slurm controller (connect failure)": "sinfo",
}

#: Of Google's documents (Batch: troubleshooting, as of 8 April 2026; Service Usage; IAM), of its client libraries and,
#: of what those do not word, as people quote them in public.
GOOGLE = {
    "403 Batch API has not been used in project 123 before or it is disabled. Enable it by visiting "
    "https://console.developers.google.com/apis/api/batch.googleapis.com/overview?project=123 then "
    "retry.": "gcloud services enable batch.googleapis.com",
    "403 Permission 'batch.jobs.create' denied on 'projects/p/locations/us-central1/jobs/j'": "roles",
    "400 caller does not have access to act as the specified service account: vms@p.iam": "iam.serviceAccountUser",
    "403 This API method requires billing to be enabled. Please enable billing on project #123": "billing",
    "No VM has agent reporting correctly within the time window 1080 seconds": "batch.agentReporter",
    "No VM has agent reporting correctly within time window 1080 seconds, VM state for instance v": "agentReporter",
    "Batch Error: code - CODE_GCE_QUOTA_EXCEEDED, description - error count is 4, latest message example: Instance "
    "'nf-1' creation failed: Quota 'N2_CPUS' exceeded.  Limit: 24.0 in region us-central1": "of N2_CPUS",
    "VM creation failed: Quota IN_USE_ADDRESSES exceeded. Limit: 8.0 in region us-central1": "of IN_USE_ADDRESSES",
    "Instance v creation failed: Constraint constraints/compute.vmExternalIpAccess violated": "no-external-ip",
    "no_external_ip_address field is invalid. VPC Service Controls is enabled for the project": "no-external-ip",
    "Constraint constraints/compute.trustedImageProjects violated for project p.": "exempt",
    "CONSUMER_INVALID: 403 Project p is not found": "gcloud projects list",
    f"Google Batch: no login: {DefaultCredentialsError(_CLOUD_SDK_MISSING_CREDENTIALS)}": "gcloud auth",
    "Reauthentication is needed. Please run `gcloud auth application-default login` to reauthenticate.": "gcloud auth",
    "('invalid_grant: Token has been expired or revoked.', {'error': 'invalid_grant'})": "gcloud auth",
    'denied: Unauthenticated request. Unauthenticated requests do not have permission "artifactregistry.repositories.'
    'downloadArtifacts" on resource "projects/p" (or it may not exist)': "roles/artifactregistry.reader",
    "Quota checking process decides to delay scheduling for the job j due to inadequate quotas [Quota: NVIDIA_T4_GPUS, "
    "limit: 0, usage: 0, wanted: 1.].": "of NVIDIA_T4_GPUS",
    "quota NVIDIA_T4_GPUS exceeded: VM in Managed Instance Group meets error: Batch Error: code - "
    "CODE_GCE_QUOTA_EXCEEDED, description - Quota 'NVIDIA_T4_GPUS' exceeded. Limit: 0.0": "of NVIDIA_T4_GPUS",
    "no such VM is free: Batch Error: code - CODE_GCE_ZONE_RESOURCE_POOL_EXHAUSTED, description - The zone 'z' does "
    "not have enough resources available to fulfill the request": "zones",
    "Google Batch: no login: gcloud auth application-default login (Your default credentials were not "
    "found.)": "gcloud auth",
    "404 The specified bucket does not exist.": "gcloud storage buckets create",
    "docker: Error response from daemon: manifest for us-docker.pkg.dev/p/r/epochs-jax-gpu not found: manifest "
    "unknown": "envs/images.sh",
    'denied: Permission "artifactregistry.repositories.downloadArtifacts" denied on '
    "resource": "roles/artifactregistry.reader",
    "docker: Error response from daemon: failed to create task for container: OCI runtime create failed: exec: "
    '"/bin/bash": stat /bin/bash: no such file or directory': "envs/images.sh",
    'docker: Error response from daemon: could not select device driver "" with capabilities: [[gpu]].': "gpu_model",
}

#: Of its sources (kubelet, scheduler, controllers, admission; its Python client) and documents.
KUBERNETES = {
    'Back-off pulling image "us-docker.pkg.dev/p/r/epochs-all": ImagePullBackOff': "envs/images.sh",
    "Kubernetes job j waits: InvalidImageName": "envs/images.sh",
    "0/3 nodes are available: 3 Insufficient nvidia.com/gpu.": "kubectl describe nodes",
    "0/2 nodes are available: 2 node(s) had untolerated taint {dedicated: others}.": "kubectl describe nodes",
    'pods "snakejob-1" is forbidden: exceeded quota: compute, requested: requests.nvidia.com/gpu=1': "resourcequota",
    'pods "snakejob-1" is forbidden: failed quota: compute: must specify limits.cpu for: snakemake': "scale: 0",
    'jobs.batch is forbidden: User "me" cannot create resource "jobs" in API group "batch"': "kubectl auth can-i",
    'namespaces "mine" not found': "kubectl create namespace",
    'pods "s" is forbidden: error looking up service account n/a: serviceaccount "a" not found': "kubectl create",
    'pods "s" is forbidden: violates PodSecurity "restricted:latest": privileged': "another namespace",
    "Kubernetes, namespace default: Unauthorized": "log in again",
    "Kubernetes: no login: Invalid kube-config file. No configuration found.": "get-credentials",
    "Kubernetes, namespace default: its API does not answer: timed out": "kubectl cluster-info",
    "Kubernetes job j: StartError, exit code 128: failed to create containerd task": "envs/images.sh",
    "Kubernetes job j: OOMKilled, exit code 137": "mem_mb",
    "Kubernetes job j: Evicted: Pod ephemeral local storage usage exceeds the total limit of containers": "disk_mb",
}

MACHINE = {
    "framework jax: jax is not installed; see envs/jax-gpu.lock": "make slurm",
    "ModuleNotFoundError: No module named 'keras'": "make slurm",
    "Lmod has detected the following error: The following module(s) are unknown: jax/1": "module avail",
    "not compiled (InvalidCxxCompiler)": "g++",
    "OSError: [Errno 28] No space left on device": "disk_mb",
}


@pytest.mark.parametrize(("words", "to_do"), [*SLURM.items(), *GOOGLE.items(), *KUBERNETES.items(), *MACHINE.items()])
def test_refusal_has_a_cause_and_what_to_do(words: str, to_do: str) -> None:
    found = remedies.find(words)
    assert found is not None
    assert to_do in found[1]


def test_what_nobody_knows_has_no_remedy() -> None:
    assert remedies.find("the model is broken: ValueError: shapes (3,) and (4,)") is None


def test_every_remedy_has_a_refusal_that_it_is_for() -> None:
    known = {remedies.find(words) for words in [*SLURM, *GOOGLE, *KUBERNETES, *MACHINE]}
    assert {cause for cause, _ in filter(None, known)} >= {one.cause for one in remedies.REMEDIES}


def test_codes_of_google_that_a_remedy_names_are_in_its_own_list() -> None:
    named = {
        word
        for one in remedies.REMEDIES
        for word in re.findall(r"[A-Z]+(?:_[A-Z]+)+", one.pattern)
        if not word.startswith(("CODE_", "ZONE_", "PERMISSION_"))
        and word not in ("ORG_POLICY_VIOLATED", "ORG_RESTRICTION")
    }
    assert named <= set(ErrorReason.keys())
