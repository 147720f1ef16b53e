"""The profile for Kubernetes in docs/clusters.md, with the public plugin, on what stands for a Kubernetes."""

import re

import pytest
import yaml

from tests.clusters.conftest import Pods
from tests.clusters.kubernetes import documented
from tests.conftest import LIMIT_SECONDS, ROOT

pytestmark = pytest.mark.slow


@pytest.mark.nightly
def test_dry_run_has_the_cells_and_the_quote_and_needs_no_cluster(pods: Pods) -> None:
    del pods.variables["KUBECONFIG"]
    done = pods.project.run("snakemake", "--profile", "k8s", "-n", **pods.variables)
    assert re.search(r"^train +1$", done.stdout, re.MULTILINE)
    assert "k8s-l4x1" in done.stderr.partition("quote")[2]


@pytest.mark.nightly
def test_job_asks_for_the_machine_of_the_cell(pods: Pods) -> None:
    process = pods.start()
    process.communicate(timeout=LIMIT_SECONDS)
    assert process.returncode != 0, "the cluster fails every job"
    (job,) = pods.api.made
    pod = job["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    assert container["image"] == yaml.safe_load(documented(ROOT / "docs/clusters.md")["executor"])["container-image"]
    assert pod["nodeSelector"] == {"node.kubernetes.io/instance-type": "g2-standard-8"}
    for kind in ("requests", "limits"):
        assert container["resources"][kind]["nvidia.com/gpu"] == "1"
    limits = container["resources"]["limits"]
    assert (limits["cpu"], limits["memory"], limits["ephemeral-storage"]) == ("8000m", "24000M", "20000M")
    assert re.search(r"--target-jobs 'train:[^']*hardware=k8s-l4x1", container["args"][1])
    names = {variable["name"] for variable in container["env"]}
    assert {"EPOCHS_DATA_KINDS", "EPOCHS_COMMIT"} <= names


def test_job_that_the_api_runs_trains_and_is_reported(pods: Pods) -> None:
    """As on a machine without a GPU, which is asked for as if it had one."""
    pods.project.edit(
        "config/hardware.yaml",
        "{cores: 8, gpus: {model: L4, count: 1}}\n  clusters: {k8s:",
        "{cores: 1}\n  clusters: {k8s:",
    )
    pods.let_run()
    process = pods.start()
    said, _ = process.communicate(timeout=LIMIT_SECONDS)
    assert process.returncode == 0, said[-3000:]
    assert "1 of 1 runs ended, 0 submitted" in said
    assert pods.project.record("mnist_mlp/k8s-l4x1/jax/b128", "mine")["status"] == "done"
    assert (pods.project.path / "results/mine/report.html").is_file()
    assert pods.api.waiting_jobs() == []
