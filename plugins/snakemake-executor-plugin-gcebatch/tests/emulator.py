"""Google Batch on this machine, for tests: each job really runs, as processes of its own in an empty folder.

What stands for the image is a virtual environment: the job gets its programs, the system's, and no variable of the
machine that submitted it. Where Linux lets it (namespaces), it is on a machine that has just booted and has no other
processes. Speaks gRPC (Batch) and HTTP (entries:list of Cloud Logging, the aggregated lists of Compute Engine). It
places no VMs, checks no permissions and bills nothing.
"""

import json
import re
import signal
import subprocess
import threading
import time
import uuid
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import grpc
import psutil
from google.cloud import batch_v1 as batch
from google.longrunning import operations_pb2
from google.protobuf import any_pb2, empty_pb2
from google.rpc import code_pb2, error_details_pb2, status_pb2
from grpc_status import rpc_status

State = batch.JobStatus.State

#: Seconds between the notice of a preemption and the end of the VM: 30 on Compute Engine.
GRACE_SECONDS = 10.0


def _boot() -> list[str]:
    """Return what lets a command be the first process of a machine that boots now; nothing where that cannot be."""
    up = int(time.clock_gettime(time.CLOCK_BOOTTIME))
    return ["unshare", "--fork", "--pid", "--mount-proc", "--time", f"--boottime=-{up}"] if machines_boot() else []


@cache
def machines_boot() -> bool:
    """Return whether each job here finds a machine that boots when its task starts."""
    asked = ["unshare", "--fork", "--pid", "--mount-proc", "--time", "--boottime=0", "true"]
    try:
        return subprocess.run(asked, stderr=subprocess.DEVNULL).returncode == 0
    except FileNotFoundError:
        return False


@dataclass
class _Job:
    message: batch.Job
    lines: list[str] = field(default_factory=list)
    process: subprocess.Popen | None = None
    preempted: bool = False
    late: bool = False


class Emulator:
    """A Batch service below `folder`; `images` says which environment's `bin` stands for which image.

    `refuse` holds for accelerator types or machine types the words with which Compute Engine refuses a VM;
    `silent` the types whose VMs start and never do anything, `broken` what becomes of the container on a type (exit
    code, lines of its log), `mute` the words with which a job ends whose VM never reports. `zones` says which zones
    have a type. While it is `away` nobody reaches it, its jobs go on, and `turned_away` counts who tried. While
    something is `forbidden` every call is refused in these words, with the `reason` (google.rpc.ErrorInfo) if there is
    one. A minute of the longest time that a job may run takes `minute_seconds`. `left` are VMs (name and
    labels) that no job has any more.
    """

    def __init__(self, folder: Path, images: Mapping[str, Path], variables: Mapping[str, str] | None = None) -> None:
        self.folder = folder
        self.images = images
        self.variables = dict(variables or {})
        self.refuse: dict[str, str] = {}
        self.silent: set[str] = set()
        self.broken: dict[str, tuple[int, list[str]]] = {}
        self.mute: dict[str, str] = {}
        self.zones: dict[str, list[str]] = {}
        self.left: list[dict] = []
        self.away = False
        self.turned_away = 0
        self.forbidden = self.reason = ""
        self.minute_seconds = 60.0
        self.created: list[batch.Job] = []
        self.deleted: list[str] = []
        self._jobs: dict[str, _Job] = {}
        self._guard = threading.Lock()

    def __enter__(self) -> "Emulator":
        self.folder.mkdir(parents=True, exist_ok=True)
        self._grpc = grpc.server(ThreadPoolExecutor(8))

        def method(function, *serializers):
            return grpc.unary_unary_rpc_method_handler(self._reached(function), *serializers)

        handlers = {
            "CreateJob": method(self._create, batch.CreateJobRequest.deserialize, batch.Job.serialize),
            "GetJob": method(self._get, batch.GetJobRequest.deserialize, batch.Job.serialize),
            "ListJobs": method(self._list, batch.ListJobsRequest.deserialize, batch.ListJobsResponse.serialize),
            "DeleteJob": method(
                self._delete, batch.DeleteJobRequest.deserialize, operations_pb2.Operation.SerializeToString
            ),
        }
        service = "google.cloud.batch.v1.BatchService"
        self._grpc.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(service, handlers),))
        port = self._grpc.add_insecure_port("127.0.0.1:0")
        self._grpc.start()
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        threading.Thread(target=self._http.serve_forever, daemon=True).start()
        self.environment = {
            "GCEBATCH_EMULATOR_GRPC": f"127.0.0.1:{port}",
            "GCEBATCH_EMULATOR_HTTP": f"http://127.0.0.1:{self._http.server_port}",
        }
        return self

    def __exit__(self, *error: object) -> None:
        for job in list(self._jobs.values()):
            self._kill(job)
        self._grpc.stop(0)
        self._http.shutdown()

    # What a test sees and does.

    def running(self) -> list[str]:
        """Return the names of the jobs that have a VM now."""
        return [name for name, job in list(self._jobs.items()) if job.message.status.state == State.RUNNING]

    def submit(self, job: batch.Job, job_id: str) -> str:
        """Create a job as a client does, and return its name when it has a VM."""
        parent = job.name.rsplit("/jobs/", 1)[0]
        name = self._create(batch.CreateJobRequest(parent=parent, job=job, job_id=job_id), None).name
        while name not in self.running():
            time.sleep(0.05)
        return name

    def preempt(self, name: str) -> None:
        """Reclaim the VM of a running job: SIGTERM to its first process, as docker does; after the grace its end."""
        job = self._jobs[name]
        process = job.process
        assert process is not None
        job.preempted = True
        first = psutil.Process(process.pid)
        (first.children()[0] if machines_boot() else first).terminate()
        threading.Timer(GRACE_SECONDS, lambda: self._end_machine(process)).start()

    def vms(self) -> list[dict]:
        """Return the VMs as Compute Engine lists them: those of the jobs that run, and those that are left."""
        jobs = [self._jobs[name].message for name in self.running()]
        return [
            {"name": job.uid, "labels": dict(job.allocation_policy.labels), "status": "RUNNING"} for job in jobs
        ] + self.left

    def log(self, name: str) -> str:
        return "\n".join(self._jobs[name].lines)

    # The service.

    def _reached(self, function):
        def answer(request, context: grpc.ServicerContext):
            if self.away:
                self.turned_away += 1
                context.abort(grpc.StatusCode.UNAVAILABLE, "the network is away")
            if self.forbidden:
                status = status_pb2.Status(code=code_pb2.PERMISSION_DENIED, message=self.forbidden)
                if self.reason:
                    status.details.add().Pack(error_details_pb2.ErrorInfo(reason=self.reason, domain="googleapis.com"))
                context.abort_with_status(rpc_status.to_status(status))
            return function(request, context)

        return answer

    def _create(self, request: batch.CreateJobRequest, context: grpc.ServicerContext) -> batch.Job:
        if not re.fullmatch(r"[a-z]([-a-z0-9]{0,61}[a-z0-9])?", request.job_id):
            context.abort(grpc.StatusCode.INVALID_ARGUMENT, f"job_id {request.job_id!r} is not RFC 1035")
        name = f"{request.parent}/jobs/{request.job_id}"
        if name in self._jobs:
            context.abort(grpc.StatusCode.ALREADY_EXISTS, f"{name} exists")
        message = batch.Job(request.job)
        message.name, message.uid, message.status.state = name, str(uuid.uuid4()), State.QUEUED
        for key, value in message.allocation_policy.labels.items():
            if not re.fullmatch(r"[a-z][a-z0-9_-]{0,62}", key) or not re.fullmatch(r"[a-z0-9_-]{0,63}", value):
                context.abort(grpc.StatusCode.INVALID_ARGUMENT, f"label {key}: {value!r}")
        job = _Job(message)
        with self._guard:
            self._jobs[name] = job
            self.created.append(message)
        threading.Thread(target=self._run, args=(job,), daemon=True).start()
        return message

    def _job(self, name: str, context: grpc.ServicerContext) -> _Job:
        if name not in self._jobs:
            context.abort(grpc.StatusCode.NOT_FOUND, f"{name} not found")
        return self._jobs[name]

    def _get(self, request: batch.GetJobRequest, context: grpc.ServicerContext) -> batch.Job:
        return self._job(request.name, context).message

    def _list(self, request: batch.ListJobsRequest, context: grpc.ServicerContext) -> batch.ListJobsResponse:
        return batch.ListJobsResponse(jobs=[job.message for job in list(self._jobs.values())])

    def _delete(self, request: batch.DeleteJobRequest, context: grpc.ServicerContext) -> operations_pb2.Operation:
        job = self._job(request.name, context)
        with self._guard:
            del self._jobs[request.name]
            self.deleted.append(request.name)
        self._kill(job)
        answer = any_pb2.Any()
        answer.Pack(empty_pb2.Empty())
        return operations_pb2.Operation(name="operations/delete", done=True, response=answer)

    # A job's life.

    def _event(self, job: _Job, kind: str, words: str, exit_code: int = 0) -> None:
        event = batch.StatusEvent(type_=kind, description=words, event_time=datetime.now(UTC))
        if exit_code:
            event.task_execution = batch.TaskExecution(exit_code=exit_code)
        job.message.status.status_events.append(event)

    def _moved(self, job: _Job, state: State) -> None:
        before, job.message.status.state = job.message.status.state, state
        words = f"Job state is set from {State(before).name} to {State(state).name} for job {job.message.name}."
        self._event(job, "STATUS_CHANGED", words)

    def _types(self, job: _Job) -> list[str]:
        policy = job.message.allocation_policy.instances[0].policy
        return [policy.machine_type, *(accelerator.type_ for accelerator in policy.accelerators)]

    def _run(self, job: _Job) -> None:
        self._moved(job, State.SCHEDULED)
        for kind in self._types(job):
            if kind in self.refuse:
                self._event(job, "OPERATIONAL_INFO", f"VM in Managed Instance Group meets error: {self.refuse[kind]}")
                return
            if kind in self.mute:
                self._event(job, "OPERATIONAL_INFO", self.mute[kind])
                self._moved(job, State.FAILED)
                return
        self._moved(job, State.RUNNING)
        task = job.message.task_groups[0].task_spec
        retried = {
            code
            for policy in task.lifecycle_policies
            if policy.action == batch.LifecyclePolicy.Action.RETRY_TASK
            for code in policy.action_condition.exit_codes
        }
        for attempt in range(task.max_retry_count + 1):
            code = self._attempt(job, task, attempt)
            if job.message.name not in self._jobs:
                return
            if code == 0:
                self._moved(job, State.SUCCEEDED)
                return
            where = f"zones/us-central1-a/instances/{1000 + attempt}"
            words = f"Task state is updated from RUNNING to FAILED on {where} with exit code {code}."
            self._event(job, "STATUS_CHANGED", words, code)
            if code not in retried:
                break
        self._moved(job, State.FAILED)

    def _attempt(self, job: _Job, task: batch.TaskSpec, attempt: int) -> int:
        """Run the container once, as a process in an empty folder; return its exit code, or Batch's own."""
        container = task.runnables[0].container
        folder = self.folder / job.message.name.rsplit("/", 1)[-1] / f"vm{attempt}"
        work = folder / "workdir"
        work.mkdir(parents=True)
        broken = [self.broken[kind] for kind in self._types(job) if kind in self.broken]
        if broken:
            job.lines += broken[0][1]
            return broken[0][0]
        command = [text.replace("/workdir", str(work)) for text in container.commands]
        if any(kind in self.silent for kind in self._types(job)):
            command = ["-c", "sleep 3600"]
        variables = {
            "PATH": f"{self.images[container.image_uri]}:/usr/bin:/bin",
            "HOME": str(folder),
            "LANG": "C.UTF-8",
            "BATCH_TASK_INDEX": "0",
            "BATCH_TASK_RETRY_ATTEMPT": str(attempt),
            **self.variables,
            **dict(task.runnables[0].environment.variables),
        }
        job.preempted = False
        job.process = process = subprocess.Popen(
            [*_boot(), container.entrypoint, *command], cwd=work, env=variables, text=True, start_new_session=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip
        if job.message.name not in self._jobs:  # deleted meanwhile
            self._kill(job)
        most_seconds = task.max_run_duration.total_seconds() / 60 * self.minute_seconds
        limit = threading.Timer(most_seconds, self._end_late, (job, process))
        limit.start()
        for line in process.stdout or ():
            job.lines.append(line.rstrip())
        code = process.wait()
        limit.cancel()
        if job.preempted and code == -signal.SIGKILL:
            return 50001
        if job.late:
            return 50005
        return code if code >= 0 else 128 - code

    def _end_late(self, job: _Job, process: subprocess.Popen) -> None:
        job.late = True
        self._end_machine(process)

    def _kill(self, job: _Job) -> None:
        if job.process:
            self._end_machine(job.process)

    @staticmethod
    def _end_machine(process: subprocess.Popen) -> None:
        if process.poll() is not None:
            return
        with suppress(psutil.NoSuchProcess):
            first = psutil.Process(process.pid)
            for one in [first, *first.children(recursive=True)]:
                with suppress(psutil.NoSuchProcess):
                    one.kill()

    # HTTP: the log, and who has what.

    def _handler(emulator) -> type[BaseHTTPRequestHandler]:
        class Handler(BaseHTTPRequestHandler):
            def _answer(self, content: dict) -> None:
                body = json.dumps(content).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.end_headers()
                self.wfile.write(body)

            def do_POST(self) -> None:
                asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                uid = re.search(r'job_uid="([^"]+)"', asked["filter"])[1]
                lines = [line for job in list(emulator._jobs.values()) if job.message.uid == uid for line in job.lines]
                entries = [
                    {
                        "logName": "projects/p/logs/batch_task_logs",
                        "resource": {"type": "generic_task"},
                        "insertId": str(number),
                        "textPayload": line,
                    }
                    for number, line in enumerate(lines)
                ]
                self._answer({"entries": entries[::-1]})

            def do_GET(self) -> None:
                kind = self.path.split("?")[0].rsplit("/", 1)[-1]
                if kind == "instances":
                    self._answer({"items": {"zones/us-central1-a": {kind: emulator.vms()}}})
                    return
                name = re.search(r"name%3D([\w-]+)", self.path)[1]
                items = {f"zones/{zone}": {kind: [{"name": name}]} for zone in emulator.zones.get(name, [])}
                self._answer({"items": items | {"zones/nowhere": {"warning": {}}}})

            def log_message(self, *words: object) -> None:
                pass

        return Handler
