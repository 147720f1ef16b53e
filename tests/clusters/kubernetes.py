"""What stands for the API of a Kubernetes: it keeps jobs, and says of their pods what a test wants.

Its words are those of Kubernetes' sources and documents. It has no scheduler and no nodes; where a test wants it, the
container of a job really runs, as a process of its own in an empty folder.
"""

import base64
import json
import re
import subprocess
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

STUDY = """
title: On Kubernetes
data: synthetic
workloads: [mnist_mlp]
hardware: [k8s-l4x1]
frameworks: [jax]
scale: {samples: 0.02, epochs: 2}
base: {hardware: k8s-l4x1, framework: jax}
charts: [relative_time]
"""

KUBECONFIG = """
apiVersion: v1
kind: Config
current-context: here
clusters: [{name: here, cluster: {server: "SERVER"}}]
contexts: [{name: here, context: {cluster: here, user: me}}]
users: [{name: me, user: {token: none}}]
"""


def documented(document: Path) -> dict[str, str]:
    """Return the YAML blocks of the section about another cluster by what their first line begins with."""
    section = document.read_text().split("## Another cluster")[1]
    blocks = re.findall(r"```yaml\n(.*?)```", section, re.DOTALL)
    return {block.partition(":")[0]: block for block in blocks}


def set_up(project: Path) -> None:
    """Do to a clone what the documents say, and give it a study."""
    blocks = documented(project / "docs/clusters.md")
    (project / "profiles/k8s").mkdir()
    (project / "profiles/k8s/config.yaml").write_text(blocks["executor"])
    (project / "profiles/k8s/study.yaml").write_text(blocks["study"])
    (project / "k8s").symlink_to("profiles/k8s")
    with (project / "config/hardware.yaml").open("a") as catalogue:
        catalogue.write(f"\n{blocks['k8s-l4x1']}")
    (project / "config/studies/mine.yaml").write_text(STUDY)
    subprocess.run(["git", "add", "-A"], cwd=project, check=True)


@dataclass
class Kubernetes:
    """An API.

    Attributes:
        refuse: by (method, resource) the code and words with which it is answered.
        denied: (verb, resource) that an account may not do.
        job: the status of each job.
        pod: the status of each job's pod, None while it has none.
        events: (reason, message) of what has happened to each job.
        log: what each container has written.
        programs: of what stands for the image, where containers run; `variables` of their machine.
        folder: where they do.
    """

    refuse: dict[tuple[str, str], tuple[int, str]] = field(default_factory=dict)
    denied: set[tuple[str, str]] = field(default_factory=set)
    job: dict = field(default_factory=lambda: {"failed": 1})
    pod: dict | None = None
    events: list[tuple[str, str]] = field(default_factory=list)
    log: str = ""
    programs: Path | None = None
    variables: dict[str, str] = field(default_factory=dict)
    folder: Path = Path()
    made: list[dict] = field(default_factory=list)
    deleted: list[str] = field(default_factory=list)
    _secrets: dict[str, str] = field(default_factory=dict)
    _running: subprocess.Popen | None = None

    def __enter__(self) -> "Kubernetes":
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *error: object) -> None:
        if self._running:
            self._running.kill()
        self._server.shutdown()
        self._server.server_close()

    def write_login(self, file: Path) -> None:
        """Write the configuration by which a client finds it."""
        file.write_text(KUBECONFIG.replace("SERVER", f"http://127.0.0.1:{self._server.server_port}"))

    def waiting_jobs(self) -> list[str]:
        """Return the jobs that are there."""
        return [name for one in self.made if (name := one["metadata"]["name"]) not in self.deleted]

    def container(self, **state: dict) -> None:
        """Let the container of each job be in a state: waiting, running or terminated, with its details."""
        phase = "Running" if "running" in state else "Failed" if "terminated" in state else "Pending"
        status = {"name": "snakemake", "state": state, "ready": False, "restartCount": 0, "image": "i", "imageID": ""}
        self.pod = {"phase": phase, "containerStatuses": [status]}
        self.job = {"failed": 1} if "terminated" in state else {"active": 1}

    def unschedulable(self, words: str) -> None:
        """Let no node take the pod of a job."""
        condition = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": words}
        self.pod, self.job = {"phase": "Pending", "conditions": [condition]}, {"active": 1}

    def _run(self, job: dict) -> None:
        """Run the container of a job."""
        (container,) = job["spec"]["template"]["spec"]["containers"]
        variables = {one["name"]: self._secrets[one["valueFrom"]["secretKeyRef"]["key"]] for one in container["env"]}
        work = self.folder / job["metadata"]["name"]
        work.mkdir(parents=True)
        path = {"PATH": f"{self.programs}:/usr/bin:/bin", "HOME": str(work), "LANG": "C.UTF-8"}
        with (work.with_suffix(".log")).open("w") as log:
            self._running = subprocess.Popen(
                [*container["command"], *container["args"]], cwd=work, env=path | self.variables | variables,
                stdout=log, stderr=log,
            )  # fmt: skip

    def _look(self, name: str) -> None:
        """Note how the container is that runs."""
        if self._running:
            code = self._running.poll()
            self.log = (self.folder / name).with_suffix(".log").read_text()
            self.container(**({"running": {}} if code is None else {"terminated": {"exitCode": code}}))
            self.job = {"active": 1} if code is None else {"failed": 1} if code else {"succeeded": 1}

    def answer(self, method: str, path: str, query: dict[str, list[str]], body: dict) -> tuple[int, dict | str]:
        """Return the code and content of an answer."""
        resource, _, name = re.sub(r"^/apis?(/batch)?/v1/namespaces/[^/]+/", "", path).partition("/")
        if (method, resource) in self.refuse:
            code, words = self.refuse[method, resource]
            return code, {"kind": "Status", "status": "Failure", "message": words, "code": code}
        if path.endswith("/selfsubjectaccessreviews"):
            asked = body["spec"]["resourceAttributes"]
            what = "/".join(filter(None, (asked["resource"], asked.get("subresource"))))
            return 201, body | {"status": {"allowed": (asked["verb"], what) not in self.denied}}
        if method == "POST":
            if resource == "jobs":
                self.made.append(body)
                if self.programs:
                    self._run(body)
            if resource == "secrets":
                data = body.get("data") or {}
                self._secrets |= {key: base64.b64decode(value).decode() for key, value in data.items()}
            return 201, body
        if method == "DELETE":
            self.deleted.append(name)
            return 200, {"kind": "Status", "status": "Success"}
        return self._get(resource, name, query)

    def _get(self, resource: str, name: str, query: dict[str, list[str]]) -> tuple[int, dict | str]:
        if resource == "jobs":
            self._look(name.removesuffix("/status"))
            (job,) = [one for one in self.made if one["metadata"]["name"] == name.removesuffix("/status")]
            return 200, job | {"status": self.job}
        if resource == "events":
            about = query["fieldSelector"][0].removeprefix("involvedObject.name=")
            reported = [{"reason": reason, "message": words} for reason, words in self.events]
            common = {"metadata": {}, "involvedObject": {"name": about}}
            return 200, {"items": [one | common for one in reported] if not about.endswith("-pod") else []}
        if resource == "pods" and name.endswith("/log"):
            if "previous" in query:
                words = f'previous terminated container "snakemake" in pod "{name}" not found'
                return 400, {"kind": "Status", "status": "Failure", "message": words, "code": 400}
            return 200, self.log
        job = query["labelSelector"][0].removeprefix("job-name=")
        there = {"metadata": {"name": f"{job}-pod"}, "spec": {"containers": []}, "status": self.pod}
        return 200, {"items": [there] if self.pod else []}


def _handler(api: Kubernetes) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def answer(self) -> None:
            url = urlsplit(self.path)
            length = int(self.headers.get("Content-Length") or 0)
            body = json.loads(self.rfile.read(length)) if length else {}
            code, content = api.answer(self.command, url.path, parse_qs(url.query), body)
            is_text = isinstance(content, str)
            self.send_response(code)
            self.send_header("Content-Type", "text/plain" if is_text else "application/json")
            self.end_headers()
            self.wfile.write((content if is_text else json.dumps(content)).encode())

        do_GET = do_POST = do_DELETE = answer

        def log_message(self, *words: object) -> None:
            pass

    return Handler
