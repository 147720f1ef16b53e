"""A program of somebody's own, in a study that a cluster trains."""

from pathlib import Path

import pytest
import yaml

from tests.clusters import slurm
from tests.clusters.conftest import IMAGE, Cloud, Cluster
from tests.conftest import LIMIT_SECONDS, Project

pytestmark = pytest.mark.slow

COUNTS = """
import itertools
for step in itertools.count(1):
    sum(range(200_000))
    print(f"iter {step}: loss 1.0")
"""

CELL = "counts/{}/own/b1"


def written(project: Project, folder: Path, machine: str, **more: str) -> None:
    """Write a program into a folder that both machines see, and a study of it."""
    folder.mkdir()
    (folder / "counts.py").write_text(COUNTS)
    program = {"name": "counts", "command": "python counts.py", "folder": str(folder), "of": 1_000_000, "minutes": 0.02}
    study = {
        "title": "A program there",
        "workloads": [program | more],
        "hardware": [machine],
        "base": {"hardware": machine},
        "charts": ["relative_time"],
    }
    (project.path / "config" / "studies" / "small.yaml").write_text(yaml.safe_dump(study))


@pytest.mark.nightly
def test_google_batch_runs_it_in_its_own_image(cloud: Cloud, tmp_path: Path) -> None:
    del cloud.variables["SNAKEMAKE_GCEBATCH_CONTAINER"]
    written(cloud.project, tmp_path / "mine", "vm-cpu")
    refused = cloud.snakemake("gce-cpu", config=("trust=all",), check=False)
    assert "a command needs its own image: on Google Batch" in refused.stdout + refused.stderr
    study = cloud.project.path / "config" / "studies" / "small.yaml"
    study.write_text(study.read_text().replace("of: 1000000", f"of: 1000000\n  image: {IMAGE}"))
    cloud.snakemake("gce-cpu", config=("trust=all",))
    record = cloud.project.record(CELL.format("vm-cpu"), "small")
    assert record["status"] == "done"
    assert record["times"]["total_seconds"] > record["observed_seconds"]
    assert record["provenance"]["container"] == IMAGE
    assert cloud.emulator.created[0].task_groups[0].task_spec.max_run_duration.seconds <= 60 * (7 + 15 + 1)


@pytest.mark.skipif(not slurm.is_installed(), reason="needs root and Slurm")
def test_slurm_runs_it_in_its_folder(cluster: Cluster, tmp_path: Path) -> None:
    written(cluster.project, tmp_path / "mine", "node-cpu")
    process = cluster.start(config=("study=small", "trust=all"))
    said, _ = process.communicate(timeout=LIMIT_SECONDS)
    assert process.returncode == 0, said[-3000:]
    assert cluster.project.record(CELL.format("node-cpu"), "small")["status"] == "done"
    assert (cluster.project.path / "results/small/report.html").is_file()
