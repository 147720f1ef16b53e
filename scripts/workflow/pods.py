"""A call's own jobs on Kubernetes, through its public executor (plugin 0.5.1): what waits is named, what cannot be had
is ended, and what fails shows its log.

The plugin itself says nothing of a pod that waits, and ends with an error when it reads the log of one that has failed:
it asks for the log of the container before that one. So its check of jobs is replaced by `Watch.check`.
"""

import asyncio
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterable, MutableMapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from scripts.storage.errors import InputError
from scripts.storage.files import write_text
from scripts.workflow import kube, remedies
from scripts.workflow.internals import need

#: What others' jobs, or a new node, may mend: a job waits for that so long (s) while none of the call has a node.
PATIENCE_SECONDS = 1800.0

#: Reasons of a container that no waiting mends.
_HOPELESS = {
    "ImagePullBackOff",
    "InvalidImageName",
    "ErrImageNeverPull",
    "CreateContainerConfigError",
    "CreateContainerError",
    "RunContainerError",
}

#: Of one that is about to begin.
_BEGINS = {"ContainerCreating", "PodInitializing"}

#: What the executor calls the container of a job.
_CONTAINER = "snakemake"


@dataclass(frozen=True)
class State:
    """Where a job is: it waits, begins, runs, is done, or has failed; for what it waits or failed, and its pod."""

    phase: str
    why: str = ""
    pod: str = ""
    is_hopeless: bool = False


def _said(*words: str | None) -> str:
    return ": ".join(" ".join(word.split()) for word in words if word)


def _container(pod: Any) -> Any:
    """Return the state of a job's own container, None where its pod has none yet."""
    statuses = pod.status.container_statuses or []
    return next((one.state for one in statuses if one.name == _CONTAINER), None)


def _failed(pod: Any, job: Any) -> str:
    """Return why a pod, or a job that has none, has failed; empty where it has not."""
    ended = _container(pod).terminated if pod and _container(pod) else None
    if ended and ended.exit_code:
        return _said(f"{ended.reason or 'Error'}, exit code {ended.exit_code}", ended.message)
    if pod and pod.status.phase == "Failed":
        return _said(pod.status.reason or "the pod failed", pod.status.message)
    if job.status.failed:
        conditions = [one for one in job.status.conditions or [] if one.type == "Failed" and one.status == "True"]
        return _said(*((conditions[0].reason, conditions[0].message) if conditions else ("the job failed",)))
    return ""


def state_of(job: Any, pods: Sequence[Any], events: Sequence[Any]) -> State:
    """Return the state of a job by what the API says of it, its pods and what happened to both."""
    pod = pods[-1] if pods else None
    name = pod.metadata.name if pod else ""
    container = _container(pod) if pod else None
    if job.status.succeeded or (container and container.terminated and container.terminated.exit_code == 0):
        return State("done", pod=name)
    if why := _failed(pod, job):
        return State("failed", why, name)
    if pod is None:
        refused = [event.message for event in events if event.reason == "FailedCreate"]
        return State("waits", _said("FailedCreate", refused[-1]) if refused else "")
    if container and container.running:
        return State("runs", pod=name)
    if container and container.waiting and container.waiting.reason not in _BEGINS:
        reason = container.waiting.reason or ""
        # Its own message may say no more than that it is tried again.
        tried = [event.message for event in events if event.reason == "Failed" and "pull" in (event.message or "")]
        return State("waits", _said(reason, *(tried[-1:] or [container.waiting.message])), name, reason in _HOPELESS)
    for condition in pod.status.conditions or []:
        if condition.type == "PodScheduled" and condition.status == "False":
            return State("waits", _said(condition.reason, condition.message), name)
    return State("begins", pod=name)


@dataclass
class Watch:
    """The jobs of a call.

    Args:
        executor: the plugin's, whose clients are asked.
        run_of: names a job's run.
        reasons: filled with why jobs were ended that had no machine, by Kubernetes' names of them.
        waits: called for each run that has no machine yet.
    """

    executor: Any
    run_of: Callable[[Any], str]
    reasons: MutableMapping[str, str]
    waits: Callable[[str], None]
    say: Callable[[str], None] = lambda line: print(line, file=sys.stderr, flush=True)
    clock: Callable[[], float] = time.monotonic
    submitted: list[Any] = field(default_factory=list)
    _named: dict[str, str] = field(default_factory=dict)
    _since: dict[str, float] = field(default_factory=dict)
    _ran: float = 0.0

    async def check(self, active: Iterable[Any]) -> AsyncIterator[Any]:
        """Report what has ended of the jobs of a call, and yield the others."""
        for info in active:
            try:
                state = await asyncio.to_thread(self._ask, info.external_jobid)
            except kube.ERRORS as error:
                self._name(info, f"not known, asked again: {kube.words(error)}")
                yield info
                continue
            if self._goes_on(info, state):
                yield info

    def _ask(self, name: str) -> State:
        jobs, core, space = self.executor.batchapi, self.executor.kubeapi, self.executor.namespace
        options = {"_request_timeout": kube.SECONDS}
        try:
            job = jobs.read_namespaced_job_status(name, space, **options)
        except kube.ERRORS as error:
            if not kube.is_missing(error):
                raise
            return State("failed", "somebody deleted the job")
        pods = core.list_namespaced_pod(space, label_selector=f"job-name={name}", **options).items
        events = [
            event
            for one in (name, *(pod.metadata.name for pod in pods))
            for event in core.list_namespaced_event(space, field_selector=f"involvedObject.name={one}", **options).items
        ]
        return state_of(job, pods, events)

    def _goes_on(self, info: Any, state: State) -> bool:
        """Report a job that has ended, or that waits in vain; return whether it is to be asked for again."""
        name = info.external_jobid
        match state.phase:
            case "done":
                self.executor.report_job_success(info)
            case "failed":
                words, logs = self._log(name, state.pod)
                said = f"Kubernetes job {name}: {state.why}{words}\n"
                self.executor.report_job_error(info, msg=said, aux_logs=logs)
            case "waits" if self._is_in_vain(info, state):
                self.reasons[name] = f"Kubernetes job {name} waits: {state.why}"
                self.executor.report_job_error(info, msg=f"{self.reasons[name]}\n")
            case phase:
                if phase == "runs":
                    self._ran = self.clock()
                return True
        self._end(info)
        return False

    def _is_in_vain(self, info: Any, state: State) -> bool:
        self.waits(self.run_of(info.job))
        if not state.why:
            return False
        self._name(info, f"waits: {state.why}")
        since = max(self._since.setdefault(info.external_jobid, self.clock()), self._ran)
        return state.is_hopeless or self.clock() - since > PATIENCE_SECONDS

    def _name(self, info: Any, words: str) -> None:
        """Say something of a job, with what to do, unless it was said already."""
        known = remedies.find(words)
        kind = known[0] if known else words
        if self._named.get(info.external_jobid) != kind:
            self._named[info.external_jobid] = kind
            to_do = f": {known[0]}; {known[1]}" if known else ""
            self.say(f"{self.run_of(info.job)}: Kubernetes job {info.external_jobid}: {words}{to_do}")

    def _log(self, job: str, pod: str) -> tuple[str, list[str]]:
        """Keep the log of a job in a file, and return the file, or words that say why there is none."""
        if not pod:
            return "", []
        file = Path(self.executor.log_path) / f"{job}.log"
        try:
            text = self.executor.kubeapi.read_namespaced_pod_log(
                pod, self.executor.namespace, container=_CONTAINER, _request_timeout=kube.SECONDS
            )
        except kube.ERRORS as error:
            return f" (its log could not be read: {kube.words(error)})", []
        write_text(file, text)
        return "", [str(file)]

    def _end(self, info: Any) -> None:
        """Delete a job and its pods, which would keep their node."""
        if self.executor.workflow.executor_settings.omit_job_cleanup and info.external_jobid not in self.reasons:
            return
        try:
            self.executor.safe_delete_job(info.external_jobid)
        except kube.ERRORS as error:
            command = f"kubectl delete job {info.external_jobid} --namespace {self.executor.namespace}"
            self.say(f"NOT DELETED, it may still cost: {command} ({kube.words(error)})")

    def cancel(self) -> None:
        """End all jobs that run or wait."""
        running = self.executor.workflow.scheduler.running
        for info in self.submitted:
            if info.job in running:
                self._end(info)


def check_first(executor: Any) -> None:
    """Let an executor (the plugin's class) look, before it asks for anything, whether it may do all that it does."""
    begin = need(executor, "__post_init__", "what a cluster refuses is said before anything is submitted")

    def check_and_begin(self: Any) -> None:
        try:
            kube.check(self.workflow.executor_settings.namespace)
        except InputError as error:
            sys.exit(f"error: {error}")
        begin(self)

    executor.__post_init__ = check_and_begin


def steer(workflow: Any, watch: Callable[[Any], Watch]) -> None:
    """Let a watch, made for the executor of a call, look after its jobs; what the API refuses fails its job alone."""
    from snakemake_interface_executor_plugins.executors.base import SubmittedJobInfo  # type: ignore[import-untyped]

    why = "jobs of Kubernetes that wait are named"
    executor = need(need(workflow, "scheduler", why), "_executor", why)
    for name in ("kubeapi", "batchapi", "namespace", "log_path", "safe_delete_job"):
        need(executor, name, why)
    watched = watch(executor)
    submit, report_submission = executor.run_job, executor.report_job_submission

    def run_job(job: Any) -> None:
        try:
            submit(job)
        except Exception as error:  # it would end the call, and leave its other jobs
            said = f"Kubernetes: not submitted: {kube.words(error)}\n"
            executor.report_job_error(SubmittedJobInfo(job), msg=said)

    def report(info: Any, **options: Any) -> None:
        watched.submitted.append(info)
        report_submission(info, **options)

    executor.run_job, executor.report_job_submission = run_job, report
    executor.check_active_jobs = watched.check
    # The executor's own list is empty while it asks for the states of its jobs: Ctrl-C would leave them.
    executor.cancel_jobs = lambda active: watched.cancel()
