"""Snakemake jobs on Google Batch: one container on one VM for each job.

Resources of a rule that count: `machine_type`, `gpu` (how many), `gpu_model` (Google's name of an accelerator type),
`spot` or `provisioning_model`, `reservation`, `driver_version`, `zones` (comma-separated), `runtime` (minutes),
`mem_mb`, `disk_mb`, `boot_disk_type`, `container`, `labels` (`key=value,key=value`).
"""

import hashlib
import json
import os
import shlex
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from google.api_core import exceptions as google
from google.api_core.retry import Retry, if_exception_type
from google.auth.exceptions import GoogleAuthError
from google.cloud import batch_v1 as batch
from snakemake_interface_common.exceptions import WorkflowError
from snakemake_interface_executor_plugins.executors.base import SubmittedJobInfo
from snakemake_interface_executor_plugins.executors.remote import RemoteExecutor
from snakemake_interface_executor_plugins.jobs import JobExecutorInterface
from snakemake_interface_executor_plugins.settings import CommonSettings

from snakemake_executor_plugin_gcebatch import account, clients, ending, spec
from snakemake_executor_plugin_gcebatch.settings import ExecutorSettings, site

__all__ = ["Executor", "ExecutorSettings", "common_settings"]

account.let_storage_begin()

#: A connection that is lost while jobs are submitted: tried again for five minutes, under the same id.
_WHILE_AWAY = Retry(predicate=if_exception_type(google.ServiceUnavailable), maximum=10.0, timeout=300.0)

#: Lines of a failed job's log that are shown; all that were fetched are in a file.
_SHOWN_LINES, _FETCHED_LINES = 20, 1000


common_settings = CommonSettings(
    non_local_exec=True,
    implies_no_shared_fs=True,
    job_deploy_sources=True,
    pass_default_storage_provider_args=True,
    pass_default_resources_args=True,
    # They are part of the Batch job, where they need no quoting.
    pass_envvar_declarations_to_cmd=False,
    # The image has the storage plugin, pinned together with Snakemake.
    auto_deploy_default_storage_provider=False,
    init_seconds_before_status_checks=5,
)


@dataclass
class _Submitted:
    """What is known of a Batch job that was submitted or found; `name` is its full resource name."""

    info: SubmittedJobInfo
    name: str
    machine: spec.Machine
    since: float
    events: int = 0
    had_vm: bool = False
    here: subprocess.Popen | None = None


class Executor(RemoteExecutor):
    def __post_init__(self) -> None:
        settings: ExecutorSettings = self.workflow.executor_settings
        self._settings = settings
        self._site = site(settings, self.workflow.storage_settings.default_storage_provider)
        # Snakemake's own list is empty while the status of its jobs is asked for: Ctrl-C then would forget them.
        self._submitted: dict[str, _Submitted] = {}
        self._guard = threading.Lock()
        self._found: dict[str, batch.Job] | None = None
        self._sources: str | None = None
        self._cancelled = False
        # When one of the jobs last had a VM: others then wait for their turn, as a quota lets them.
        self._had_vm = 0.0
        try:
            self._client = clients.batch_client()
        except GoogleAuthError as error:
            raise WorkflowError(f"Google Batch: no login: gcloud auth application-default login ({error})") from error

    def get_python_executable(self) -> str:
        return "python"

    def machine(self, job: JobExecutorInterface) -> spec.Machine:
        """Return the VM that a job asks for. Raises WorkflowError without an image, or for what cannot be had."""
        asked, settings = job.resources, self._settings
        image = asked.get("container") or settings.container
        if not image:
            raise WorkflowError(
                f"Google Batch: rule {job.name} has no image: set --gcebatch-container or resource container"
            )
        zones = asked.get("zones") or settings.zones or ""
        disk_gb = -(-int(asked.get("disk_mb") or 0) // 1000)
        gpu_model = asked.get("gpu_model") or None
        gpus = int(asked.get("gpu") or 0)
        try:
            return spec.Machine(
                machine_type=asked.get("machine_type") or settings.machine_type,
                image=image,
                gpus=gpus,
                gpu_model=gpu_model,
                provisioning=self._provisioning(asked),
                reservation=asked.get("reservation") or settings.reservation,
                driver_version=asked.get("driver_version") or (settings.driver_version if gpus else None),
                zones=tuple(zone.strip() for zone in zones.split(",") if zone.strip()),
                runtime_minutes=int(asked.get("runtime") or 1440),
                boot_disk_gb=max(settings.boot_disk_gb, disk_gb),
                boot_disk_type=asked.get("boot_disk_type") or settings.boot_disk_type,
                memory_mib=int(asked.get("mem_mib") or 0) or None,
                threads=job.threads,
            )
        except ValueError as error:
            raise WorkflowError(f"Google Batch: rule {job.name}: {error}") from error

    def _provisioning(self, asked: Any) -> str:
        """Return how a job's VM is had: what its rule says counts before what the call says."""
        if model := asked.get("provisioning_model"):
            return str(model)
        if asked.get("spot") is not None:
            return "SPOT" if int(asked.get("spot")) else "STANDARD"
        return self._settings.provisioning_model or ("SPOT" if self._settings.spot else "STANDARD")

    # Submitting.

    def run_job(self, job: JobExecutorInterface) -> None:
        try:
            info = self._submit(job)
        except (google.GoogleAPICallError, google.RetryError, GoogleAuthError, WorkflowError) as error:
            self.report_job_error(SubmittedJobInfo(job), msg=f"Google Batch: not submitted: {_line(error)}. ")
            return
        self.report_job_submission(info)
        if self._cancelled:  # Ctrl-C came while Batch was asked
            self.cancel_jobs([info])

    def _submit(self, job: JobExecutorInterface) -> SubmittedJobInfo:
        """Let Batch run a job, or find that it does already."""
        machine = self.machine(job)
        command = self.format_job_exec(job)
        key = spec.digest(str(self.workflow.storage_settings.default_storage_prefix), *sorted(map(str, job.output)))
        work = self._work(job, command, machine)
        there = self._running(key, work)
        # An id is taken for ever: each turn has its own.
        job_id = spec.job_id(job.name, key, int(time.time()))
        name = there.name if there else f"{self._site.parent}/jobs/{job_id}"
        info = SubmittedJobInfo(job, external_jobid=name)
        # Before Batch is asked: Ctrl-C while it answers must find it.
        with self._guard:
            self._submitted[name] = _Submitted(info, name, machine, time.monotonic())
        if there:
            return info
        labels = {
            **spec.as_labels(str(job.resources.get("labels") or "")),
            "snakemake-rule": spec.label(job.name),
            "snakemake-output": key,
            "snakemake-work": work,
        }
        request = spec.job(command, machine, self._site, self.envvars(), labels)
        try:
            self._client.create_job(parent=self._site.parent, job=request, job_id=job_id, retry=_WHILE_AWAY)
        except google.AlreadyExists:
            pass  # ours: the answer to an earlier try was lost
        except Exception:
            self._delete(name)  # an answer that was lost is no refusal
            self._forget(self._submitted[name])
            raise
        self.logger.info(f"job {job.jobid} is {_short(name)} on {_words(machine)}")
        return info

    def _work(self, job: JobExecutorInterface, command: str, machine: spec.Machine) -> str:
        """Return a digest of what a job does: the same for the same sources, whichever process submits it, and when."""
        archive = self.workflow.source_archive
        passing = {archive.query, archive.checksum, "--attempt", str(job.attempt)}
        words = sorted(word for word in shlex.split(command) if word not in passing)
        if self._sources is None:
            files = sorted({str(path) for path in self.workflow.dag.get_sources()})
            self._sources = spec.digest(
                *(
                    f"{path} {hashlib.sha256(Path(path).read_bytes()).hexdigest()}"
                    for path in files
                    if Path(path).is_file()
                )
            )
        return spec.digest(*words, repr(machine), self._sources)

    def _running(self, key: str, work: str) -> batch.Job | None:
        """Return the Batch job that makes these files already: this workflow was here before, or runs elsewhere.

        One that makes them in another way is deleted: it would write over what is to come.
        """
        if self._found is None:
            self._found = {
                job.labels["snakemake-output"]: job
                for job in self._client.list_jobs(parent=self._site.parent, retry=_WHILE_AWAY)
                if "snakemake-output" in job.labels and job.status.state.name in ending.ACTIVE
            }
        there = self._found.pop(key, None)
        if there is None:
            return None
        if there.labels.get("snakemake-work") == work:
            self.logger.info(f"{_short(there.name)} runs already: it is waited for, and nothing is submitted")
            return there
        self.logger.info(f"{_short(there.name)} makes the same files in another way: deleted")
        self._delete(there.name)
        return None

    # Watching.

    async def check_active_jobs(self, active_jobs: list[SubmittedJobInfo]) -> AsyncIterator[SubmittedJobInfo]:
        for info in active_jobs:
            submitted = self._submitted.get(info.external_jobid or "")
            if submitted is None:
                continue
            if submitted.here:
                if self._ended_here(submitted):
                    yield info
                continue
            async with self.status_rate_limiter:
                try:
                    job = self._client.get_job(name=submitted.name)
                except google.NotFound:
                    self._given_up(submitted, ending.Ending(ending.DELETED, "somebody deleted the Batch job"), None)
                    continue
                except (google.GoogleAPICallError, google.RetryError, GoogleAuthError) as error:
                    # The job runs on without us; when the connection is back its state is.
                    self.logger.warning(f"{_short(submitted.name)}: no answer, asked again: {_line(error)}")
                    yield info
                    continue
            if self._is_active(submitted, job):
                yield info

    def _is_active(self, submitted: _Submitted, job: batch.Job) -> bool:
        """Log what is new of a job, report it if it has ended, and say whether it is still to be watched."""
        events = list(job.status.status_events)
        for event in events[submitted.events :]:
            self.logger.info(f"{_short(submitted.name)}: {event.description}")
        submitted.events = len(events)
        state = job.status.state.name
        if state == "SUCCEEDED":
            self._forget(submitted)
            self.report_job_success(submitted.info)
            return False
        if state not in ending.ACTIVE:
            return self._given_up(submitted, ending.failure(state, events), job)
        if state == "RUNNING":
            self._had_vm, submitted.had_vm = time.monotonic(), True
            return True
        if not submitted.had_vm:
            # Prints nothing: for who counts what machines cost.
            self.logger.info("", extra={"waited": submitted.info.job.jobid})
        waits = ending.waiting(events)
        late = time.monotonic() - max(submitted.since, self._had_vm) > self._settings.queue_timeout
        if not late and not (waits and waits.hopeless):
            return True
        self._delete(submitted.name)
        why = waits or ending.Ending(ending.NO_CAPACITY, f"no VM within {self._settings.queue_timeout} s")
        return self._given_up(submitted, why, job)

    def _given_up(self, submitted: _Submitted, ended: ending.Ending, job: batch.Job | None) -> bool:
        """Report a job that has no result, or let it record that here; return whether it is still to be watched."""
        words = f"{_short(submitted.name)} on {_words(submitted.machine)}: {ended.status}: {ended.reason}"
        had_machine, logs = ended.status not in (ending.QUOTA, ending.NO_CAPACITY), []
        if not had_machine:
            words += self._alternatives(submitted.machine)
        elif job is not None:
            said, logs = self._log(job)
            words += said
        if self._cancelled:
            self._forget(submitted)
            return False
        if self._settings.record_endings and ended.status not in (ending.FAILED, ending.DELETED):
            about = {} if had_machine else {"refused": submitted.info.job.jobid}
            self.logger.error(words, extra=about)
            submitted.here = self._start_here(submitted.info.job, ended)
            return True
        self._forget(submitted)
        self.report_job_error(submitted.info, msg=f"{words}\n", aux_logs=logs)
        return False

    def _start_here(self, job: JobExecutorInterface, ended: ending.Ending) -> subprocess.Popen:
        """Run a job in a folder of its own, as a VM would, with how it ended there in its environment."""
        folder = tempfile.mkdtemp(prefix="gcebatch-", dir=self.tmpdir)
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        how_it_ended = {str(self._settings.record_endings): json.dumps(ended.as_dict())}
        variables = os.environ | dict(self.envvars()) | {"PATH": path} | how_it_ended
        with open(Path(folder) / "out.log", "w") as log:
            return subprocess.Popen(
                ["bash", "-c", self.format_job_exec(job)],
                cwd=folder,
                env=variables,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def _ended_here(self, submitted: _Submitted) -> bool:
        """Report a job that was run here when it has ended; say whether it is still to be watched."""
        assert submitted.here is not None
        code = submitted.here.poll()
        if code is None:
            return True
        self._forget(submitted)
        if code == 0:
            self.report_job_success(submitted.info)
        else:
            self.report_job_error(submitted.info, msg=f"recording how it ended failed with exit code {code}. ")
        return False

    def _alternatives(self, machine: spec.Machine) -> str:
        """Return a sentence with the other zones that have such machines, as far as Google says."""
        try:
            zones = clients.zones_with(self._site.project, machine.gpu_model, machine.machine_type)
        except Exception as error:
            return f" (which other zones have it could not be asked: {_line(error)})"
        tried = machine.zones or [zone for zone in zones if zone.startswith(f"{self._site.region}-")]
        others = [zone for zone in zones if zone not in tried]
        # A job's zones are all in its region: of other regions it is the region that can be chosen.
        here = [zone for zone in others if zone.startswith(f"{self._site.region}-")]
        regions = sorted({zone.rpartition("-")[0] for zone in others} - {self._site.region})
        return (
            f"; tried: {', '.join(tried) or 'none'}; other zones of {self._site.region} that have it: "
            f"{', '.join(here) or 'none'}; other regions: {', '.join(regions) or 'none'}"
        )

    def _log(self, job: batch.Job) -> tuple[str, list[str]]:
        """Fetch the log of a job, keep it in a file, and return its last lines, and the file if there is one."""
        file = Path(".snakemake", "gcebatch", f"{_short(job.name)}.log")
        try:
            lines = clients.log_lines(self._site.project, job.uid, _FETCHED_LINES)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text("\n".join(lines) + "\n")
        except Exception as error:
            return f" (its log could not be fetched: {_line(error)})", []
        if not lines:
            return " (its log is empty)", []
        shown = "\n".join(f"  {line}" for line in lines[-_SHOWN_LINES:])
        return f"; the end of its log, {file}:\n{shown}", [str(file)]

    # Ending.

    def cancel_jobs(self, active_jobs: list[SubmittedJobInfo]) -> None:
        """Delete every job that was submitted, and its VM with it; those of `active_jobs` are only part of them."""
        self._cancelled = True
        with self._guard:
            submitted = list(self._submitted.values())
        for one in submitted:
            if one.here:
                with suppress(ProcessLookupError):
                    os.killpg(one.here.pid, signal.SIGKILL)
            else:
                self._delete(one.name)
            self._forget(one)

    def shutdown(self) -> None:
        """End; what still runs is deleted first: Snakemake ends so when something unforeseen has happened."""
        if self._submitted:
            self.cancel_jobs([])
        super().shutdown()

    def _forget(self, submitted: _Submitted) -> None:
        with self._guard:
            self._submitted.pop(submitted.name, None)

    def _delete(self, name: str) -> None:
        """Delete a job; Batch then deletes its VM. Tried three times, as what is not deleted is paid for."""
        for attempt in range(3):
            try:
                self._client.delete_job(name=name)
            except google.NotFound:
                return
            except (google.GoogleAPICallError, google.RetryError, GoogleAuthError) as error:
                self.logger.warning(f"{_short(name)} could not be deleted: {_line(error)}")
                time.sleep(2**attempt)
            else:
                self.logger.info(f"{_short(name)}: deleted")
                return
        self.logger.error(f"NOT DELETED, it may still cost: gcloud batch jobs delete {name}")


def _short(name: str) -> str:
    return name.rsplit("/", 1)[-1]


def _words(machine: spec.Machine) -> str:
    gpus = f" with {machine.gpus} {machine.gpu_model or 'GPU'}" if machine.gpus else ""
    how = "" if machine.provisioning == "STANDARD" else f"{machine.provisioning.lower().replace('_', '-')} "
    return f"{how}{machine.machine_type}{gpus}"


def _line(error: BaseException) -> str:
    """Return an error in a line; of Google's refusals first the code by which programs know it, where there is one."""
    said = str(error)
    if isinstance(error, google.GoogleAPICallError):  # as text it has its details twice
        reason, about = error.reason, dict(error.metadata or {})
        what = about.get("permission") or about.get("service")
        code = f"{reason}{f' ({what})' if what else ''}: " if reason else ""
        said = f"{code}{error.code} {error.message}"
    # They end with what to do.
    return " ".join(said.split())[:600]
