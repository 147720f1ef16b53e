"""What of a call waits, fails and ends on a Kubernetes, by what its API answers; the API is stood in for."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml
from kubernetes import client
from urllib3.exceptions import MaxRetryError

from scripts.workflow import kube, pods
from tests.clusters.kubernetes import Kubernetes, documented
from tests.conftest import ROOT

NO_GPU = "0/3 nodes are available: 3 Insufficient nvidia.com/gpu."


@pytest.fixture
def api() -> Iterator[Kubernetes]:
    with Kubernetes(job={"active": 1}) as made:
        made.made.append({"metadata": {"name": "j"}})
        yield made


class Executor:
    """What the plugin's executor is to a watch."""

    def __init__(self, api: Kubernetes, folder: Path) -> None:
        setting = client.Configuration(host=f"http://127.0.0.1:{api._server.server_port}")
        self.batchapi = client.BatchV1Api(client.ApiClient(setting))
        self.kubeapi = client.CoreV1Api(client.ApiClient(setting))
        self.namespace, self.log_path, self.reported, self.ended = "default", folder, [], []
        settings, scheduler = SimpleNamespace(omit_job_cleanup=False), SimpleNamespace(running={"job"})
        self.workflow = SimpleNamespace(executor_settings=settings, scheduler=scheduler)
        self.safe_delete_job = self.ended.append

    def report_job_success(self, info: SimpleNamespace) -> None:
        self.reported.append("done")

    def report_job_error(self, info: SimpleNamespace, msg: str, aux_logs: tuple = ()) -> None:
        self.reported.append(msg.strip())


class Made(pods.Watch):
    """A watch over one job, at a time that a test sets."""

    def __init__(self, executor: Executor) -> None:
        self.said, self.waited, self.now, self.info = [], [], 0.0, SimpleNamespace(external_jobid="j", job="job")
        super().__init__(
            executor, lambda job: "results/r1", {}, self.waited.append, self.said.append, lambda: self.now, [self.info]
        )

    def look(self, now: float = 0.0) -> bool:
        """Ask once; return whether the job goes on."""
        self.now = now

        async def ask() -> list:
            return [info async for info in self.check([self.info])]

        return asyncio.run(ask()) == [self.info]


@pytest.fixture
def watch(api: Kubernetes, tmp_path: Path) -> Made:
    return Made(Executor(api, tmp_path))


def test_pod_without_a_node_is_named_once_waited_for_half_an_hour_and_costs_nothing(
    api: Kubernetes, watch: Made
) -> None:
    api.unschedulable(NO_GPU)
    assert [watch.look(now) for now in (0.0, 900.0, 1799.0)] == [True, True, True]
    assert len(watch.said) == 1
    assert NO_GPU in watch.said[0]
    assert "kubectl describe nodes" in watch.said[0]
    assert watch.waited == ["results/r1"] * 3
    assert not watch.look(1801.0)
    assert watch.reasons == {"j": f"Kubernetes job j waits: Unschedulable: {NO_GPU}"}
    assert watch.executor.ended == ["j"]


def test_pod_waits_for_its_turn_while_others_of_the_call_run(api: Kubernetes, watch: Made) -> None:
    api.container(running={})
    watch.look(1700.0)
    api.unschedulable(NO_GPU)
    assert watch.look(1800.0)
    api.container(running={})
    watch.look(3500.0)
    api.unschedulable(NO_GPU)
    assert watch.look(3700.0)
    assert not watch.look(5400.0)


def test_pod_that_the_quota_refuses_is_explained_by_what_happened_to_its_job(api: Kubernetes, watch: Made) -> None:
    words = 'Error creating: pods "j-x" is forbidden: exceeded quota: gpus, requested: requests.nvidia.com/gpu=1'
    api.events = [("FailedCreate", words)]
    assert watch.look()
    assert "the namespace's quota does not allow the pod" in watch.said[0]


@pytest.mark.parametrize("reason", ["ImagePullBackOff", "InvalidImageName", "CreateContainerConfigError"])
def test_container_that_waits_in_vain_is_ended_at_once(api: Kubernetes, watch: Made, reason: str) -> None:
    api.container(waiting={"reason": reason, "message": "m"})
    assert not watch.look()
    assert watch.reasons == {"j": f"Kubernetes job j waits: {reason}: m"}
    assert watch.executor.ended == ["j"]


@pytest.mark.parametrize("reason", ["ContainerCreating", "ErrImagePull"])
def test_container_that_may_still_begin_is_waited_for(api: Kubernetes, watch: Made, reason: str) -> None:
    api.container(waiting={"reason": reason})
    assert watch.look()
    assert bool(watch.said) == (reason == "ErrImagePull")


def test_why_an_image_cannot_be_pulled_is_said_by_the_last_try(api: Kubernetes, watch: Made) -> None:
    api.container(waiting={"reason": "ImagePullBackOff", "message": 'Back-off pulling image "x"'})
    api.events = [("Failed", 'Failed to pull image "x": denied'), ("Failed", "Error: ErrImagePull")]
    assert not watch.look()
    assert watch.executor.reported == ['Kubernetes job j waits: ImagePullBackOff: Failed to pull image "x": denied']


def test_log_of_a_container_that_failed_is_kept(api: Kubernetes, watch: Made, tmp_path: Path) -> None:
    api.container(terminated={"reason": "OOMKilled", "exitCode": 137})
    api.log = "epoch 1/2\n"
    assert not watch.look()
    assert watch.executor.reported == ["Kubernetes job j: OOMKilled, exit code 137"]
    assert (tmp_path / "j.log").read_text() == "epoch 1/2\n"
    assert (watch.reasons, watch.executor.ended) == ({}, ["j"]), "it has had a node"


def test_pod_that_was_evicted_before_its_container_began_says_why(api: Kubernetes, watch: Made) -> None:
    api.pod = {"phase": "Failed", "reason": "Evicted", "message": "The node was low on resource: memory."}
    assert not watch.look()
    assert watch.executor.reported == ["Kubernetes job j: Evicted: The node was low on resource: memory."]


def test_job_that_somebody_deleted_has_failed(api: Kubernetes, watch: Made) -> None:
    api.refuse["GET", "jobs"] = 404, 'jobs.batch "j" not found'
    assert not watch.look()
    assert watch.executor.reported == ["Kubernetes job j: somebody deleted the job"]


def test_api_that_is_away_is_asked_again(api: Kubernetes, watch: Made) -> None:
    api.refuse["GET", "pods"] = 503, "the server is currently unable to handle the request"
    assert watch.look()
    assert watch.look()
    assert len(watch.said) == 1
    api.refuse.clear()
    api.job = {"succeeded": 1}
    assert not watch.look()
    assert watch.executor.reported == ["done"]


def test_job_ends_with_its_call_while_its_state_is_asked_for(watch: Made) -> None:
    watch.cancel()
    assert watch.executor.ended == ["j"]


def test_refusal_is_said_in_the_words_of_the_api() -> None:
    error = client.ApiException(status=403, reason="Forbidden")
    assert kube.words(error) == "403 Forbidden"
    error.body = '{"message": "jobs.batch is forbidden"}'
    assert kube.words(RuntimeError("Kubernetes request failed.", error)) == "jobs.batch is forbidden"
    error.body = "<html>"
    assert kube.words(error) == "403 Forbidden"
    assert "Max retries" in kube.words(MaxRetryError(None, "/", Exception("refused")))  # type: ignore[arg-type]


def test_role_of_the_documents_lets_do_what_is_done() -> None:
    rules = yaml.safe_load(documented(ROOT / "docs/clusters.md")["kind"])
    allowed = {
        (verb, group, resource)
        for rule in rules["rules"]
        for verb in rule["verbs"]
        for group in rule["apiGroups"]
        for resource in rule["resources"]
    }
    assert set(kube.DONE) <= allowed
