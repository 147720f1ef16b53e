"""Refusals of Kubernetes, as its sources and documents word them: the real plugin, and what stands for an API."""

import re
import signal
from pathlib import Path

import pytest

from tests.clusters.conftest import Pods
from tests.conftest import LIMIT_SECONDS
from tests.first_hour.conftest import Ended

pytestmark = pytest.mark.slow

RBAC = 'secrets is forbidden: User "me" cannot create resource "secrets" in API group "" in the namespace "default"'

#: What the API answers, by method and resource, a word of the cause, and one of the remedy; nothing is then submitted.
BEFORE = {
    "no-such-namespace": (
        ("POST", "secrets"), (404, 'namespaces "default" not found'), "no such namespace", "kubectl create namespace"
    ),
    "logged-out": (("POST", "secrets"), (401, "Unauthorized"), "or it has ended", "log in again"),
    "forbidden": (("POST", "secrets"), (403, RBAC), "your account may not do", "kubectl auth can-i --list"),
}  # fmt: skip

#: With which words the API refuses a job.
REFUSED = {
    "quota-of-jobs": (
        'jobs.batch "snakejob-1" is forbidden: exceeded quota: few, requested: count/jobs.batch=1, used: '
        "count/jobs.batch=5, limited: count/jobs.batch=5",
        "the namespace's quota does not allow the pod",
        "kubectl describe resourcequota",
    ),
    "webhook": (
        'admission webhook "policy.example.com" denied the request: images must be signed',
        "a rule of the cluster forbids such a pod",
        "ask who runs the cluster",
    ),
}

#: In what its container waits, and for what.
IN_VAIN = {
    "image-not-there": (
        "ImagePullBackOff",
        'Back-off pulling image "us-docker.pkg.dev/p/r/epochs-all": ErrImagePull: rpc error: code = NotFound desc = '
        'failed to pull and unpack image "us-docker.pkg.dev/p/r/epochs-all:latest": not found',
        "the image cannot be pulled",
        "envs/images.sh",
    ),
    "image-name": ("InvalidImageName", 'Failed to apply default image tag "$X"', "the image cannot be pulled", "push"),
    "no-secret": ("CreateContainerConfigError", 'secret "s" not found', "the container does not start", "the log says"),
}

#: What its container ended with: reason, exit code and message, and its log.
ENDED = {
    "container-does-not-start": (
        "StartError",
        128,
        'failed to create containerd task: OCI runtime create failed: exec: "/bin/sh": no such file or directory',
        "",
        "the container does not start",
        "the machine's own architecture",
    ),
    "out-of-memory": ("OOMKilled", 137, "", "epoch 1/2", "more memory than it asked for", "mem_mb"),
    "old-packages": (
        "Error",
        1,
        "",
        "Storing output in storage.\nerror: framework jax: jax is not installed; see envs/jax-gpu.lock",
        "the packages there are not those of the locks",
        "envs/images.sh for images",
    ),
}

NO_GPU = "0/3 nodes are available: 3 Insufficient nvidia.com/gpu."
TAINT = "0/2 nodes are available: 2 node(s) had untolerated taint {dedicated: others}."
QUOTA = (
    'Error creating: pods "snakejob-1-x" is forbidden: exceeded quota: gpus, requested: requests.nvidia.com/gpu=1, '
    "used: requests.nvidia.com/gpu=2, limited: requests.nvidia.com/gpu=2"
)
ACCOUNT = (
    'Error creating: pods "snakejob-1-" is forbidden: error looking up service account default/an-account: '
    'serviceaccount "an-account" not found'
)


def call(pods: Pods) -> Ended:
    process = pods.start()
    said, _ = process.communicate(timeout=LIMIT_SECONDS)
    return Ended(process.returncode, said)


def is_one_line(ended: Ended, *words: str) -> None:
    """Check that a call was refused before it began, in a line with cause and remedy."""
    assert ended.code not in (0, None)
    assert "Traceback" not in ended.said
    (line,) = [line for line in ended.said.splitlines() if line.startswith("error: ")]
    assert all(word in line for word in words), line


@pytest.mark.nightly
@pytest.mark.parametrize(("of", "answer", "cause", "to_do"), BEFORE.values(), ids=BEFORE)
def test_what_the_cluster_forbids_is_said_before_anything_is_submitted(
    pods: Pods, of: tuple[str, str], answer: tuple[int, str], cause: str, to_do: str
) -> None:
    pods.api.refuse[of] = answer
    is_one_line(call(pods), cause, to_do)
    assert pods.api.made == []


@pytest.mark.nightly
def test_rights_that_an_account_lacks_are_named_all_at_once(pods: Pods) -> None:
    pods.api.denied = {("create", "jobs"), ("get", "pods/log")}
    is_one_line(call(pods), "User may not create jobs, get pods/log", "kubectl auth can-i --list")
    assert pods.api.made == []


@pytest.mark.nightly
def test_cluster_that_is_not_there_and_a_login_that_is_not(pods: Pods, tmp_path: Path) -> None:
    file = Path(pods.variables["KUBECONFIG"])
    there = file.read_text()
    file.write_text(there.replace("current-context: here", "current-context: gone"))
    is_one_line(call(pods), "there is no login to a cluster", "get-credentials")
    file.unlink()
    is_one_line(call(pods), "there is no login to a cluster", "get-credentials")
    file.write_text(re.sub(r"http://[\d.:]+", "http://127.0.0.1:9", there))
    is_one_line(call(pods), "the cluster does not answer", "kubectl cluster-info")


@pytest.mark.nightly
def test_executor_that_is_not_installed(pods: Pods) -> None:
    """Snakemake's own line: nothing of this project has begun."""
    path = [one for one in pods.variables["PYTHONPATH"].split(":") if not one.endswith("/k8s")]
    pods.variables["PYTHONPATH"] = ":".join(path)
    ended = call(pods)
    assert ended.code not in (0, None)
    assert "invalid choice: 'kubernetes'" in ended.said


@pytest.mark.nightly
@pytest.mark.parametrize(("words", "cause", "to_do"), REFUSED.values(), ids=REFUSED)
def test_job_that_the_api_refuses(pods: Pods, words: str, cause: str, to_do: str) -> None:
    pods.api.refuse["POST", "jobs"] = 403, words
    ended = call(pods)
    ended.is_refused(cause, to_do)
    assert "1 refused, 0 submitted; at most 0.00 hours" in ended.said


@pytest.mark.nightly
@pytest.mark.parametrize(("reason", "words", "cause", "to_do"), IN_VAIN.values(), ids=IN_VAIN)
def test_container_that_waits_in_vain_is_ended(pods: Pods, reason: str, words: str, cause: str, to_do: str) -> None:
    pods.api.container(waiting={"reason": reason, "message": words})
    ended = call(pods)
    ended.is_refused(cause, to_do)
    assert "1 refused, 0 submitted; at most 0.00 hours" in ended.said
    assert pods.api.waiting_jobs() == []


@pytest.mark.nightly
@pytest.mark.parametrize(("reason", "code", "words", "log", "cause", "to_do"), ENDED.values(), ids=ENDED)
def test_container_that_fails(pods: Pods, reason: str, code: int, words: str, log: str, cause: str, to_do: str) -> None:
    pods.api.container(terminated={"reason": reason, "exitCode": code, "message": words})
    pods.api.log = log
    ended = call(pods)
    ended.is_refused(cause, to_do)
    assert log.splitlines()[-1:] == [] or log.splitlines()[-1] in ended.last_screen.partition("log: ")[2]
    assert len(pods.api.made) == 1, "it is not tried again"
    assert pods.api.waiting_jobs() == []


@pytest.mark.represented_by("no-gpu")
@pytest.mark.parametrize(
    ("words", "cause"),
    [
        (NO_GPU, "no node of the cluster has what the job asks for"),
        (TAINT, "no node of the cluster has what the job asks for"),
        (QUOTA, "the namespace's quota does not allow the pod"),
        (ACCOUNT, "there is no such service account"),
    ],
    ids=["no-gpu", "taint", "quota", "service-account"],
)
def test_pod_that_waits_is_named_and_sigterm_ends_the_call_and_its_job(pods: Pods, words: str, cause: str) -> None:
    if "Error creating" in words:
        pods.api.events, pods.api.job = [("FailedCreate", words)], {}
    else:
        pods.api.unschedulable(words)
    process = pods.start()
    assert process.stdout is not None
    said = ""
    while cause not in said:
        said += (line := process.stdout.readline())
        assert line, said
    assert words in said
    process.send_signal(signal.SIGTERM)
    rest, _ = process.communicate(timeout=LIMIT_SECONDS)
    assert process.returncode != 0
    assert "0 of 1 runs ended, 1 submitted; at most 0.0" in rest
    assert pods.api.waiting_jobs() == []
