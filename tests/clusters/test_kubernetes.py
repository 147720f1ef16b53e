"""The profile for Kubernetes in docs/clusters.md, with the public plugin, up to the job that the API is sent."""

import json
import re
import subprocess
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import yaml

from tests.clusters.conftest import Cloud
from tests.conftest import ROOT

pytestmark = pytest.mark.slow

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


def documented() -> dict[str, str]:
    """Return the YAML blocks of the section by what their first line begins with."""
    section = (ROOT / "docs" / "clusters.md").read_text().split("## Another cluster")[1]
    blocks = re.findall(r"```yaml\n(.*?)```", section, re.DOTALL)
    return {block.partition(":")[0]: block for block in blocks}


@pytest.fixture
def site(cloud: Cloud) -> Cloud:
    blocks, path = documented(), cloud.project.path
    (path / "profiles/k8s").mkdir()
    (path / "profiles/k8s/config.yaml").write_text(blocks["executor"])
    (path / "profiles/k8s/study.yaml").write_text(blocks["study"])
    (path / "k8s").symlink_to("profiles/k8s")
    with (path / "config/hardware.yaml").open("a") as catalogue:
        catalogue.write(f"\n{blocks['k8s-l4x1']}")
    (path / "config/studies/mine.yaml").write_text(STUDY)
    subprocess.run(["git", "add", "-A"], cwd=path, check=True)
    cloud.variables["PYTHONPATH"] += f":{Path(cloud.variables['PYTHONPATH']).parent / 'k8s'}"
    return cloud


@pytest.fixture
def sent(site: Cloud, tmp_path: Path) -> Iterator[list[dict]]:
    """What an API server of Kubernetes is asked to make; of each job it then says that it failed."""
    made: list[dict] = []

    class Handler(BaseHTTPRequestHandler):
        def answer(self, content: dict) -> None:
            body = json.dumps(content).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.end_headers()
            self.wfile.write(body)

        def do_POST(self) -> None:
            made.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.answer(made[-1])

        def do_GET(self) -> None:
            if self.path.endswith("/status"):
                self.answer(made[-1] | {"status": {"failed": 1}})
            elif self.path.endswith("/log"):
                self.answer({})
            else:
                self.answer({"items": []})

        do_DELETE = do_GET

        def log_message(self, *words: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        (tmp_path / "kubeconfig").write_text(KUBECONFIG.replace("SERVER", f"http://127.0.0.1:{server.server_port}"))
        site.variables["KUBECONFIG"] = str(tmp_path / "kubeconfig")
        yield made
        server.shutdown()


@pytest.mark.nightly
def test_dry_run_has_the_cells_and_the_quote(site: Cloud) -> None:
    done = site.project.run("snakemake", "--profile", "k8s", "-n", **site.variables)
    assert re.search(r"^train +1$", done.stdout, re.MULTILINE)
    assert "k8s-l4x1" in done.stderr.partition("quote")[2]


def test_job_asks_for_the_machine_of_the_cell(site: Cloud, sent: list[dict]) -> None:
    done = site.project.run(
        "snakemake", "--profile", "k8s", "--seconds-between-status-checks", "1", check=False, **site.variables
    )
    assert done.returncode != 0, "the cluster fails every job"
    (job,) = [one for one in sent if "spec" in one]
    pod = job["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    assert container["image"] == yaml.safe_load(documented()["executor"])["container-image"]
    assert pod["nodeSelector"] == {"node.kubernetes.io/instance-type": "g2-standard-8"}
    for kind in ("requests", "limits"):
        assert container["resources"][kind]["nvidia.com/gpu"] == "1"
    limits = container["resources"]["limits"]
    assert (limits["cpu"], limits["memory"], limits["ephemeral-storage"]) == ("8000m", "24000M", "20000M")
    assert re.search(r"--target-jobs 'train:[^']*hardware=k8s-l4x1", container["args"][1])
    told = {variable["name"] for variable in container["env"]}
    assert {"EPOCHS_DATA_KINDS", "EPOCHS_COMMIT"} <= told
